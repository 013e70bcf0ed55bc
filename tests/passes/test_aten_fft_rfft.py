from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper

from graphfix.report import Accuracy, Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from passes.aten.aten_fft_rfft import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, numpy_dtype
from tests.passes.resize_models import in_branch

PASS = "aten-fft-rfft"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}


def model_of(
    shape: list[int | str] | None,
    length: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    layout: str = "inputs",
    opset: int = 13,
    dtype: int = TensorProto.FLOAT,
    reader: str = "view_as_real",
) -> ModelProto:
    """Return a model with fft_rfft and what reads it; the norm as PyTorch writes it."""
    rank = len(shape or [0])
    real = TensorProto.DOUBLE if dtype == TensorProto.DOUBLE else TensorProto.FLOAT
    pairs = reader == "view_as_real"
    model = aten_model(
        "fft_rfft",
        shape,
        [None if length is None else np.array(length), np.array(axis), norm and "norm"],
        layout=layout,
        opset=opset,
        dtype=dtype,
        outputs={"y": (real, rank + pairs)},
    )
    first = model.graph.node[0]
    first.output[0] = "c"
    second = onnx.NodeProto()
    second.CopyFrom(first)
    second.name = "reader"
    second.input[:], second.output[:] = ["c"], ["y"]
    if layout == "named":
        second.op_type = reader
    for attribute in second.attribute:
        if attribute.name == "operator":
            attribute.s = reader.encode()
    model.graph.node.append(second)
    if norm:
        model.graph.node.insert(0, helper.make_node("Constant", [], ["norm"], value=norm))
    return model


def pairs_of(x: Array, length: int | None = None, axis: int = -1, norm: Any = None) -> Array:
    c = np.fft.rfft(x.astype(np.float64), n=length, axis=axis, norm=norm)
    kind = np.float64 if x.dtype == np.float64 else np.float32
    return np.stack([c.real, c.imag], axis=-1).astype(kind)


def check(model: ModelProto, x: Array, expected: Array, **close: Any) -> list[str]:
    """Assert that both nodes are gone and what is computed; return the operators."""
    done = run_pass(PASS, model)
    applied = done.with_status(Status.APPLIED)
    assert [site.accuracy for o in applied for site in o.sites] == [Accuracy.EXACT]
    ops = [op for op in done.ops if op != "Constant"]
    assert not {"ATen", "fft_rfft", "view_as_real"} & set(ops)
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    again = run_pass(PASS, done.after)
    assert [outcome.status for outcome in again.outcomes] == [Status.NOT_NEEDED]
    y = outputs_of(done.after, {"x": x})["y"]
    assert y.dtype == expected.dtype
    np.testing.assert_allclose(y, expected, **close)
    return ops


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = array_of(2, 16)
    model = model_of([2, 16], layout=layout, opset=opset)
    assert check(model, x, pairs_of(x), **CLOSE) == ["MatMul", "Reshape"]


@pytest.mark.parametrize("length", [None, 1, 2, 5, 7, 8, 13])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_lengths_and_axes(length: int | None, axis: int) -> None:
    x = array_of(7, 8, 7)
    model = model_of([7, 8, 7], length, axis)
    check(model, x, pairs_of(x, length, axis), **CLOSE)


def test_other_axes_may_be_dynamic() -> None:
    x = array_of(2, 6, 3)
    check(model_of(["N", 6, "W"], axis=1), x, pairs_of(x, axis=1), **CLOSE)
    check(model_of(["N", "H", 3]), x, pairs_of(x), **CLOSE)
    assert_refused(PASS, model_of(["N", "H", 3], axis=1), "size of axis 1")


def test_one_signal() -> None:
    x = array_of(9)
    check(model_of([9]), x, pairs_of(x), **CLOSE)


@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
def test_norms_as_attribute(norm: str) -> None:
    x = array_of(2, 10)
    model = aten_model(
        "fft_rfft",
        [2, 10],
        layout="default",
        attributes={"n": 12, "dim": 1, "norm": norm},
        outputs={"c": (TensorProto.COMPLEX64, None)},
    )
    model.graph.node.append(helper.make_node("ATen", ["c"], ["y"], operator="view_as_real"))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 7, 2]))
    check(model, x, pairs_of(x, 12, 1, norm), **CLOSE)


@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
def test_norms_as_pytorch_writes_them(norm: str) -> None:
    model = model_of([2, 16], norm=norm)
    done = run_pass(PASS, model)
    assert done.with_status(Status.APPLIED), done.outcomes
    kept = [node for node in done.after.graph.node if node.op_type != "Constant"]
    # The checker and onnxruntime do not take a string for a constant.
    del done.after.graph.node[:]
    done.after.graph.node.extend(kept)
    x = array_of(2, 16)
    y = outputs_of(done.after, {"x": x})["y"]
    np.testing.assert_allclose(y, pairs_of(x, norm=norm), **CLOSE)


@pytest.mark.parametrize(
    ("kind", "tolerance"), [(TensorProto.DOUBLE, 1e-12), (TensorProto.FLOAT16, 2e-3)]
)
def test_other_types(kind: int, tolerance: float) -> None:
    x = array_of(2, 12, dtype=numpy_dtype(kind))
    expected = pairs_of(x)
    model = model_of([2, 12], dtype=kind)
    check(model, x, expected, rtol=tolerance, atol=tolerance)


def test_long_transforms_lose_nothing() -> None:
    x = array_of(1, 1024, dtype=np.float64)
    model = model_of([1, 1024], dtype=TensorProto.DOUBLE)
    check(model, x, pairs_of(x), atol=1e-10)


def test_against_the_numpy_model() -> None:
    domain = "org.pytorch.aten"
    evaluators = {(domain, "ATen.fft_rfft"): evaluate, (domain, "ATen.view_as_real"): evaluate}
    model = model_of([2, 6], 8)
    assert_rewrite(PASS, model, feeds=[{"x": array_of(2, 6)}], evaluators=evaluators, **CLOSE)


def test_in_a_branch() -> None:
    model = model_of([2, 6])
    x = array_of(2, 6)
    inside = in_branch(model)
    done = run_pass(PASS, inside)
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, pairs_of(x), **CLOSE)


def test_other_uses_of_complex_numbers_are_refused() -> None:
    assert_refused(PASS, model_of([2, 6], reader="abs"), "used by abs")
    model = model_of([2, 6])
    model.graph.output.append(helper.make_tensor_value_info("c", TensorProto.COMPLEX64, [2, 4]))
    done = run_pass(PASS, model)
    # The pairs are computed without them, and they stay.
    assert done.with_status(Status.APPLIED)
    assert any("are an output" in reason for reason in done.reasons)
    alone = aten_model(
        "view_as_real", [2, 6], dtype=TensorProto.COMPLEX64, outputs={"y": (TensorProto.FLOAT, 3)}
    )
    assert_refused(PASS, alone, "the complex numbers must come from fft_rfft; they do not")


def test_refusals() -> None:
    assert_refused(PASS, model_of(None), "the rank of x must be known and have axis -1")
    assert_refused(PASS, model_of([4], axis=1), "the rank of x must be known and have axis 1")
    assert_refused(
        PASS, model_of([4], 0), "the length of the transform must be at least 1; it is 0"
    )
    assert_refused(
        PASS,
        model_of([4], norm="odd"),
        "the norm must be one of '', 'backward', 'forward', 'ortho'; it is 'odd'",
    )
    assert_refused(PASS, model_of([4], dtype=TensorProto.INT64), "int64")
    assert_refused(PASS, model_of([1 << 13]), "elements")


@given(
    size=st.integers(1, 12),
    length=st.none() | st.integers(1, 14),
    opset=st.sampled_from([7, 11, 13, 18]),
    first=st.booleans(),
)
def test_any_transform(size: int, length: int | None, opset: int, first: bool) -> None:
    shape = (size, 3) if first else (3, size)
    x = array_of(*shape)
    model = model_of(list(shape), length, 0 if first else 1, opset=opset)
    check(model, x, pairs_of(x, length, 0 if first else 1), **CLOSE)
