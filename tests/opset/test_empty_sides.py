"""Opset steps of models in which a free size turns out to be 0 or 1."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto

from graphfix.testing import assert_same
from tests.opset.conversion import check, converted, model_of, operators
from tests.sessions import session_of

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(5)
SHAPES = list(itertools.product((0, 1, 3), (0, 2), (0, 1, 5)))


def floats(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def model(opset: int, header: str, body: str) -> ModelProto:
    text = f'<ir_version: 8, opset_import: ["" : {min(opset, 21)}]>\ng {header}\n{{ {body} }}'
    return model_of(text, opset)


def expected(op: str, x: Array, axis: int) -> Any:
    """Work out what the operators of opset 12 do: all axes from `axis` on are one."""
    flat = x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:]))
    if not flat.size:
        return x
    if op == "Hardmax":
        return np.eye(flat.shape[1], dtype=np.float32)[flat.argmax(1)].reshape(x.shape)
    away = flat - flat.max(1, keepdims=True)
    total = np.exp(away).sum(1, keepdims=True)
    result = away - np.log(total) if op == "LogSoftmax" else np.exp(away) / total
    return result.reshape(x.shape)


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("axis", [0, 1, -2])
@pytest.mark.parametrize("dims", ["a,b,c", "a,2,5", "a,0,5"])
def test_softmax_over_several_axes_of_size_0(op: str, axis: int, dims: str) -> None:
    proto = model(12, f"(float[{dims}] x) => (float[{dims}] y)", f"y = {op}<axis = {axis}>(x)")
    result = converted(proto, 13)
    check(result)
    session = session_of(result)
    fixed = [int(size) if size.isdigit() else None for size in dims.split(",")]
    for shape in SHAPES:
        if any(size not in (None, given) for size, given in zip(fixed, shape, strict=True)):
            continue
        x = floats(*shape)
        (given_,) = session.run(None, {"x": x})
        np.testing.assert_allclose(given_, expected(op, x, axis % 3), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_elements_below_11_with_sides_of_0(axis: int) -> None:
    proto = model(
        11,
        "(float[a,b,c] x, int64[d,e,f] i) => (float[d,e,f] y)",
        f"y = GatherElements<axis = {axis}>(x, i)",
    )
    result = converted(proto, 10)
    check(result)
    session = session_of(result)
    ran = 0
    for shape, wanted in itertools.product(SHAPES, SHAPES):
        inside = all(
            size <= full for at, (size, full) in enumerate(zip(wanted, shape, strict=True))
            if at != axis % 3
        )  # fmt: skip
        if not inside or (0 not in wanted and not shape[axis]):
            continue
        x, index = floats(*shape), RNG.integers(-shape[axis], max(shape[axis], 1), size=wanted)
        index = np.minimum(index, shape[axis] - 1)
        box = tuple(slice(None) if at == axis % 3 else slice(n) for at, n in enumerate(wanted))
        expected_ = np.take_along_axis(x[box], index, axis) if index.size else floats(*wanted)
        np.testing.assert_array_equal(session.run(None, {"x": x, "i": index})[0], expected_)
        ran += 1
    assert ran > 100


# name, source, target, header, body
CASES: list[tuple[str, int, int, str, str]] = [
    (
        "layer-normalization", 17, 9,
        "(float[a,b,4] x, float[4] s, float[4] d) => (float[a,b,4] y)",
        "y = LayerNormalization(x, s, d)",
    ),
    (
        "rms-normalization", 23, 13, "(float[a,b,4] x, float[4] s) => (float[a,b,4] y)",
        "y = RMSNormalization(x, s)",
    ),
    (
        "grid-sample", 16, 13, "(float[a,2,3,4] x, float[a,b,c,2] g) => (float[n,p,q,r] y)",
        "y = GridSample(x, g)",
    ),
    (
        "rotary-embedding", 23, 17,
        "(float[a,2,b,4] x, float[a,b,2] c, float[a,b,2] s) => (float[p,q,r,t] y)",
        "y = RotaryEmbedding(x, c, s)",
    ),
    (
        "softmax-cross-entropy", 13, 11,
        "(float[a,4,b] x, int64[a,b] l) => (float[p,q] y, float[r,s,t] z)",
        'y, z = SoftmaxCrossEntropyLoss<reduction = "none">(x, l)',
    ),
    (
        "equal-of-texts", 19, 18, "(string[a,b] x, string[a,b] z) => (bool[p,q] y)",
        "y = Equal(x, z)",
    ),
    (
        "reduce-over-computed-axes", 18, 13, "(float[a,b,4] x) => (float[p,q] y)",
        "i = Shape<start = 2>(x) j = Sub(i, i) y = ReduceMax<keepdims = 0>(x, j)",
    ),
    (
        "reshape-to-0", 15, 13, "(float[a,b,4] x) => (float[p,q] y)",
        "s = Shape<end = 2>(x) f = Constant<value = int64[2] {1, 4}>() t = Mul(s, f) "
        "y = Reshape<allowzero = 1>(x, t)",
    ),
    (
        "center-crop-pad", 18, 13, "(float[a,b,4] x) => (float[p,3,2] y)",
        "s = Constant<value = int64[2] {3, 2}>() y = CenterCropPad<axes = [1, 2]>(x, s)",
    ),
    (
        "rotary-embedding-of-heads-in-one-axis", 23, 13,
        "(float[a,b,16] x, float[5,2] c, float[5,2] s, int64[a,b] i) => (float[p,q,r] y)",
        "y = RotaryEmbedding<num_heads = 4>(x, c, s, i)",
    ),
    (
        "tensor-scatter", 24, 9,
        "(float[a,6,c] x, float[a,b,c] u) => (float[p,q,r] y)", "y = TensorScatter(x, u)",
    ),
    (
        "batch-normalization-in-training", 15, 13,
        "(float[a,2,b] x, float[2] s) => (float[p,2,q] y, float[2] m, float[2] v)",
        "y, m, v = BatchNormalization<training_mode = 1>(x, s, s, s, s)",
    ),
    (
        "split-in-two", 18, 13, "(float[a,b] x) => (float[p,q] y, float[r,s] z)",
        "y, z = Split<axis = 1, num_outputs = 2>(x)",
    ),
]  # fmt: skip


def inputs_of(proto: ModelProto, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Make inputs whose free dimensions have these sizes."""
    feed: dict[str, Any] = {}
    for info in proto.graph.input:
        dims = info.type.tensor_type.shape.dim
        shape = [sizes[dim.dim_param] if dim.dim_param else dim.dim_value for dim in dims]
        match info.type.tensor_type.elem_type:
            case TensorProto.INT64:
                feed[info.name] = RNG.integers(0, 4, size=shape)
            case TensorProto.STRING:
                feed[info.name] = np.full(shape, "u", dtype=object)
            case _:
                feed[info.name] = floats(*shape)
    return feed


def sizes_of(proto: ModelProto) -> list[dict[str, int]]:
    """Return odd sizes for the free letters, then each at 0 and at 1, then all at 0."""
    dims = [dim for info in proto.graph.input for dim in info.type.tensor_type.shape.dim]
    letters = sorted({dim.dim_param for dim in dims} - {""})
    whole: dict[str, int] = dict(zip(letters, (2, 3, 5), strict=False))
    small = [{**whole, letter: size} for letter in letters for size in (0, 1)]
    return [whole, *small, dict.fromkeys(letters, 0)]


@pytest.mark.parametrize(("name", "source", "target", "header", "body"), CASES)
def test_a_free_size_of_0_or_1(name: str, source: int, target: int, header: str, body: str) -> None:
    proto = model(source, header, body)
    result = converted(proto, target)
    check(result)
    before, after = session_of(proto), session_of(result)
    names = [output.name for output in proto.graph.output]
    ran: list[dict[str, int]] = []
    for sizes in sizes_of(proto):
        feed = inputs_of(proto, sizes)
        try:
            wanted = before.run(None, feed)
        except Exception:  # the original does not run at this size
            continue
        given_ = after.run(None, feed)
        assert_same(
            dict(zip(names, wanted, strict=True)),
            dict(zip(names, given_, strict=True)),
            rtol=1e-5,
            atol=1e-6,
        )
        ran.append(sizes)
    assert any(0 in sizes.values() for sizes in ran), name


def test_a_known_shape_takes_the_short_form() -> None:
    proto = model(12, "(float[a,4,5] x) => (float[a,4,5] y)", "y = Softmax<axis = 1>(x)")
    assert operators(converted(proto, 13)) == ["Reshape", "Softmax", "Reshape"]
