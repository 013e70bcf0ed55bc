"""What an older opset has as an attribute, computed at run time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto

from graphfix import run
from graphfix.opset.stepping import StepBlocked, move_to
from graphfix.testing import outputs_of
from tests.opset.conversion import (
    assert_converts,
    check,
    converted,
    loaded,
    model_of,
    operators,
    reasons,
)
from tests.sessions import session_of

RNG = np.random.default_rng(11)
F = RNG.uniform(0.5, 2.0, size=(2, 3, 4)).astype(np.float32)
REDUCE = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSumSquare",
)  # fmt: skip


def text(header: str, body: str, opset: int = 18) -> ModelProto:
    return model_of(f'<ir_version: 8, opset_import: ["" : 18]>\ng {header}\n{{ {body} }}', opset)


@pytest.mark.parametrize("op", REDUCE)
@settings(max_examples=8, deadline=None)
@given(
    axes=st.lists(st.integers(0, 2), max_size=3, unique=True),
    back=st.booleans(),
    keep=st.integers(0, 1),
    noop=st.integers(0, 1),
)
def test_reduce(op: str, axes: list[int], back: bool, keep: int, noop: int) -> None:
    if op in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare") and noop and not axes:
        noop = 0  # onnxruntime leaves the input as it is, the text of the operator does not
    reduced = len(axes) if axes or noop else 3
    shape = "a,b,c" if keep else ",".join("abc"[: 3 - reduced])
    proto = text(
        f"(float[2,3,4] x, int64[n] v) => (float{f'[{shape}]' if shape else ''} y)",
        f"y = {op}<keepdims = {keep}, noop_with_empty_axes = {noop}>(x, v)",
    )
    given_axes = np.array([axis - 3 if back else axis for axis in axes], dtype=np.int64)
    feed = {"x": F, "v": given_axes}
    result = assert_converts(proto, 17, feed, rtol=1e-5, atol=1e-6)
    assert "If" in operators(result)


def test_reduce_over_no_axes_does_what_it_does_to_each_element() -> None:
    header = "(float[2,3,4] x, int64[0] a) => (float[2,3,4] y)"
    x = np.where(F > 1, F, -F)
    for op, wanted in (("ReduceL1", np.abs(x)), ("ReduceL2", np.abs(x)), ("ReduceSumSquare", x**2)):
        result = converted(text(header, f"y = {op}<noop_with_empty_axes = 1>(x, a)"), 17)
        check(result)
        given_ = outputs_of(result, {"x": x, "a": np.zeros(0, np.int64)})["y"]
        np.testing.assert_allclose(given_, wanted, rtol=1e-6)


@pytest.mark.parametrize("size", [6, 7])
def test_equal_parts_of_an_unknown_size(size: int) -> None:
    proto = text("(float[2,n] x) => (float[2,a] y, float[2,b] z)",
                 "y, z = Split<axis = -1, num_outputs = 2>(x)")  # fmt: skip
    assert_converts(proto, 13, {"x": RNG.normal(size=(2, size)).astype(np.float32)})


@settings(max_examples=10, deadline=None)
@given(
    axes=st.lists(st.sampled_from([0, 1, -1]), min_size=1, max_size=3, unique=True),
    data=st.data(),
)
def test_pads_of_axes(axes: list[int], data: st.DataObject) -> None:
    count = 2 * len(axes)
    pads = data.draw(st.lists(st.integers(-1, 3), min_size=count, max_size=count))
    proto = text("(float[2,3,4] x, int64[p] p, int64[n] a) => (float[i,j,k] y)",
                 "v = Constant<value = float {1.5}>() y = Pad(x, p, v, a)")  # fmt: skip
    feed = {"x": F, "p": np.array(pads, np.int64), "a": np.array(axes, np.int64)}
    assert_converts(proto, 13, feed)


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_wrapping_pads(data: st.DataObject) -> None:
    pads = data.draw(st.lists(st.integers(0, 2), min_size=6, max_size=6))
    proto = text('(float[2,3,4] x, int64[6] p) => (float[i,j,k] y)', 'y = Pad<mode = "wrap">(x, p)',
                 19)  # fmt: skip
    assert_converts(proto, 13, {"x": F, "p": np.array(pads, np.int64)})


def test_wrapping_pads_cut_before_they_wrap() -> None:
    proto = text('(float[n,m] x, int64[2] p) => (float[i,j] y)',
                 'a = Constant<value = int64[1] {-1}>() y = Pad<mode = "wrap">(x, p, , a)',
                 19)  # fmt: skip
    session = session_of(converted(proto, 13))
    for size in (1, 2, 3, 5):
        x = np.arange(2 * size, dtype=np.float32).reshape(2, size)
        for before in range(-3, 7):
            for after in range(-3, 7):
                left = x[:, max(-before, 0) : size - max(-after, 0)]
                if not left.shape[1] or max(-before, 0) >= size - max(-after, 0):
                    continue  # onnxruntime refuses to wrap nothing
                wanted = np.pad(
                    left, np.array([(0, 0), (max(before, 0), max(after, 0))]), mode="wrap"
                )
                (given_,) = session.run(None, {"x": x, "p": np.array([before, after])})
                np.testing.assert_array_equal(given_, wanted)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
def test_negative_computed_pads_of_chosen_axes_cut(mode: str) -> None:
    proto = text('(float[n,m] x, int64[2] p, int64[1] a) => (float[i,j] y)',
                 f'y = Pad<mode = "{mode}">(x, p, , a)', 19)  # fmt: skip
    session = session_of(converted(proto, 11))
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    columns: dict[tuple[int, int], dict[str, list[int | None]]] = {
        (-1, 1): {"constant": [1, 2, 3, None], "reflect": [1, 2, 3, 2], "edge": [1, 2, 3, 3]},
        (1, -2): {"constant": [None, 0, 1], "reflect": [1, 0, 1], "edge": [0, 0, 1]},
        (-1, -2): {"constant": [1], "reflect": [1], "edge": [1]},
    }
    for pads, picked in columns.items():
        (given_,) = session.run(None, {"x": x, "p": np.array(pads), "a": np.array([-1])})
        wanted = [[0 if at is None else row[at] for at in picked[mode]] for row in x]
        np.testing.assert_array_equal(given_, wanted)


@pytest.mark.parametrize("axis", [0, 1, -2, -1])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_cumulative_products(axis: int, exclusive: int, reverse: int) -> None:
    attributes = f"exclusive = {exclusive}, reverse = {reverse}"
    proto = text("(float[2,n,4] x, int64 a) => (float[2,n,4] y)",
                 f"y = CumProd<{attributes}>(x, a)", 26)  # fmt: skip
    result = converted(proto, 13)
    check(result)
    x = np.flip(F, axis) if reverse else F
    if exclusive:
        ones = np.ones_like(np.take(x, [0], axis))
        x = np.concatenate([ones, np.delete(x, -1, axis)], axis)
    wanted = np.cumprod(x, axis)
    wanted = np.flip(wanted, axis) if reverse else wanted
    given_ = outputs_of(result, {"x": F, "a": np.array(axis)})["y"]
    np.testing.assert_allclose(given_, wanted, rtol=1e-6)


def cumulated(x: np.ndarray, axis: int, exclusive: bool, reverse: bool) -> np.ndarray:
    x = np.flip(x, axis) if reverse else x
    wanted = np.cumprod(x, axis, dtype=x.dtype)
    if exclusive and x.shape[axis]:
        ones = np.ones_like(np.take(x, [0], axis))
        wanted = np.concatenate([ones, np.delete(wanted, -1, axis)], axis)
    return np.flip(wanted, axis) if reverse else wanted


@pytest.mark.parametrize("kind", ["int32", "int64", "uint64"])
@pytest.mark.parametrize(("exclusive", "reverse"), [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("dims", ["n,m", "2,45"])
def test_products_of_integers_are_whole_at_3_to_the_34_and_wrap_around(
    kind: str, exclusive: int, reverse: int, dims: str
) -> None:
    proto = text(f"({kind}[{dims}] x, int64 a) => ({kind}[{dims}] y)",
                 f"y = CumProd<exclusive = {exclusive}, reverse = {reverse}>(x, a)",
                 26)  # fmt: skip
    session = session_of(converted(proto, 13 if kind != "uint64" else 25))
    for shape in ((2, 45), (2, 0), (0, 3), (2, 1))[: 1 if dims == "2,45" else None]:
        x = np.full(shape, 3, kind)
        x[1:] = 5
        for axis in (0, -1):
            (given_,) = session.run(None, {"x": x, "a": np.array(axis)})
            np.testing.assert_array_equal(
                given_, cumulated(x, axis, bool(exclusive), bool(reverse))
            )


def test_products_of_integers_down_to_opset_9() -> None:
    body = "a = Constant<value = int64 {1}>() y = CumProd(x, a)"
    result = converted(text("(int64[n,m] x) => (int64[n,m] y)", body, 26), 9)
    check(result)
    x = np.full((2, 40), 3)
    np.testing.assert_array_equal(outputs_of(result, {"x": x})["y"], np.cumprod(x, 1))


@pytest.mark.parametrize(
    ("op", "wanted"), [("ReduceL1", 4), ("ReduceL2", 2), ("ReduceSumSquare", 4)]
)
def test_integers_are_reduced_at_once_as_the_function_body_does(op: str, wanted: int) -> None:
    # One axis after the other cut off: the root of 2 is 1, and so is that of 1 and 1.
    proto = text("(int32[2,2] x, int64[n] a) => (int32[i,j] y)", f"y = {op}(x, a)")
    feed = {"x": np.array([[1, -1], [-1, 1]], np.int32), "a": np.array([0, 1])}
    np.testing.assert_array_equal(outputs_of(converted(proto, 17), feed)["y"], [[wanted]])


def test_products_of_integers_are_not_computed_axis_by_axis() -> None:
    proto = text("(int64[2,3] x, int64[n] a) => (int64[i,j] y)", "y = ReduceProd(x, a)")
    assert reasons(proto, 17) == [
        "ReduceProd: axes must be a constant; it is computed at run time, and ReduceProd of "
        "int64 taken one axis after the other is not exact"
    ]


def test_the_largest_integers_are_found_axis_by_axis() -> None:
    proto = text("(int64[2,3] x, int64[n] a) => (int64[i,j] y)", "y = ReduceMax(x, a)")
    x = np.array([[2**53 + 1, 2**53, -(2**63)], [2**63 - 1, 2**63 - 2, 0]])
    given_ = outputs_of(converted(proto, 17), {"x": x, "a": np.array([1])})["y"]
    np.testing.assert_array_equal(given_, x.max(1, keepdims=True))


@pytest.mark.parametrize("axis", [-3, -2, 1, 2])
def test_transform_along_a_computed_axis(axis: int) -> None:
    proto = text("(float[2,3,4,1] x, int64 a) => (float[p,q,r,s] y)", "y = DFT(x, , a)", 20)
    assert_converts(proto, 17, {"x": F[..., None], "a": np.array(axis)}, rtol=1e-4, atol=1e-4)


def test_what_can_be_folded_becomes_an_attribute() -> None:
    proto = text(
        "(float[2,3,4] x) => (float[2,1,4] y)",
        "one = Constant<value = int64[1] {1}>() zero = Constant<value = int64[1] {0}>() "
        "a = Add(one, zero) y = ReduceMax(x, a)",
    )
    model, workspace = loaded(proto)
    with pytest.raises(StepBlocked):
        move_to(model, workspace, 17, at_run_time=False)
    result = run(proto, opset=17, verify="off")
    assert result.exit_code == 0
    assert [node.op_type for node in result.model.to_proto().graph.node] == ["ReduceMax"]


def test_what_need_not_be_folded_is_left_alone() -> None:
    proto = text(
        "(float[2,3,4] x) => (float[2,3,4] y, int64[1] b)",
        "one = Constant<value = int64[1] {1}>() b = Add(one, one) y = Relu(x)",
    )
    result = run(proto, opset=17, verify="off")
    kinds = [node.op_type for node in result.model.to_proto().graph.node]
    assert kinds == ["Constant", "Add", "Relu"]


def test_folding_comes_before_replacements() -> None:
    proto = text(
        "(float[1,1,4,4] x) => (float[1,1,8,8] y)",
        "one = Constant<value = float[2] {1.0, 1.0}>() two = Add(one, one) "
        'y = Resize<axes = [2, 3], mode = "linear">(x, , two)',
    )
    result = run(proto, opset=17, verify="off")
    assert [node.op_type for node in result.model.to_proto().graph.node] == ["Resize"]
    assert_converts(proto, 17, {"x": RNG.normal(size=(1, 1, 4, 4)).astype(np.float32)})
