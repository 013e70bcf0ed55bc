from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from graphfix.report import Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from passes.aten.aten_adaptive_avg_pool2d import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-adaptive-avg-pool2d"
CLOSE: dict[str, Any] = {"rtol": 2e-6, "atol": 2e-6}


def pooled(x: Array, output: Sequence[int]) -> Array:
    """Return the means of PyTorch's windows, one axis after the other."""
    result: Array = x.astype(np.float64)
    for position, count in enumerate(output):
        axis = x.ndim - len(output) + position
        size = x.shape[axis]
        parts: list[Array] = []
        for i in range(count):
            start, end = int(np.floor(i * size / count)), int(np.ceil((i + 1) * size / count))
            parts.append(np.asarray(result.take(range(start, end), axis).mean(axis=axis)))
        result = np.asarray(np.stack(parts, axis=axis))
    return result.astype(x.dtype)


def ints(*values: int) -> Array:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 18, 21])
@pytest.mark.parametrize(
    ("output", "ops"),
    [
        ((1, 1), ["GlobalAveragePool"]),
        ((2, 3), ["AveragePool"]),
        ((3, 5), ["MatMul", "MatMul"]),
        ((4, 9), ["MatMul"]),
        ((9, 14), ["MatMul", "MatMul"]),
    ],
)
def test_every_kind_of_window(opset: int, output: tuple[int, int], ops: list[str]) -> None:
    x = array_of(2, 3, 4, 6)
    model = aten_model("adaptive_avg_pool2d", [2, 3, 4, 6], [ints(*output)], opset=opset)
    if output == (4, 9):
        ops = ["MatMul"]
    becomes(PASS, model, {"x": x}, pooled(x, output), ops=ops, **CLOSE)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("operator", ["adaptive_avg_pool2d", "_adaptive_avg_pool2d"])
def test_every_layout(layout: str, operator: str) -> None:
    x = array_of(1, 2, 7, 11)
    model = aten_model(operator, [1, 2, 7, 11], [ints(3, 5)], layout=layout)
    becomes(PASS, model, {"x": x}, pooled(x, (3, 5)), **CLOSE)
    if layout in ("default", "aten"):
        model = aten_model(
            operator, [1, 2, 7, 11], layout=layout, attributes={"output_size": [3, 5]}
        )
        becomes(PASS, model, {"x": x}, pooled(x, (3, 5)), **CLOSE)


@pytest.mark.parametrize("collect", ["SequenceConstruct", "Concat", "ListConstruct"])
def test_lists_are_read_through_the_nodes_that_make_them(collect: str) -> None:
    x = array_of(1, 2, 7, 11)
    model = aten_model("adaptive_avg_pool2d", [1, 2, 7, 11], ["size"])
    call = model.graph.node.pop()
    entries: list[str] = []
    for name, value in (("a", 3), ("b", 5)):
        shape = [1] if collect == "Concat" else []
        value_proto = helper.make_tensor(name, TensorProto.INT64, shape, [value])
        model.graph.node.append(helper.make_node("Constant", [], [name], value=value_proto))
        entries.append(name)
    domain = "prim" if collect == "ListConstruct" else ""
    attributes: dict[str, Any] = {"axis": 0} if collect == "Concat" else {}
    model.graph.node.append(
        helper.make_node(collect, entries, ["size"], domain=domain, **attributes)
    )
    model.graph.node.append(call)
    done = becomes(PASS, model, {"x": x}, pooled(x, (3, 5)), **CLOSE)
    assert done.ops == ["MatMul", "MatMul"]


def test_none_keeps_an_axis_even_of_unknown_size() -> None:
    x = array_of(1, 2, 7, 11)
    cases: list[tuple[list[int | str], int]] = [
        ([1, 2, 7, 11], 5),
        (["N", 2, "H", 11], 5),
        (["N", 2, "H", 11], 11),
    ]
    for shape, count in cases:
        model = aten_model("adaptive_avg_pool2d", shape, ["size"])
        call = model.graph.node.pop()
        value = helper.make_tensor("b", TensorProto.INT64, [], [count])
        model.graph.node.append(helper.make_node("Constant", [], ["b"], value=value))
        model.graph.node.append(helper.make_node("Constant", [], ["none"], domain="prim"))
        list_of = helper.make_node("ListConstruct", ["none", "b"], ["size"], domain="prim")
        model.graph.node.extend([list_of, call])
        ops = ["Identity"] if count == 11 else ["MatMul"]
        becomes(PASS, model, {"x": x}, pooled(x, (7, count)), ops=ops, **CLOSE)


@pytest.mark.parametrize(
    ("operator", "shape", "output"),
    [
        ("adaptive_avg_pool1d", (2, 3, 10), (4,)),
        ("adaptive_avg_pool1d", (3, 10), (5,)),
        ("adaptive_avg_pool1d", (3, 10), (1,)),
        ("adaptive_avg_pool2d", (3, 7, 11), (3, 5)),
        ("adaptive_avg_pool3d", (1, 2, 5, 7, 8), (2, 3, 3)),
        ("adaptive_avg_pool3d", (2, 4, 6, 8), (2, 3, 4)),
    ],
)
def test_other_ranks(operator: str, shape: tuple[int, ...], output: tuple[int, ...]) -> None:
    x = array_of(*shape)
    model = aten_model(operator, shape, [ints(*output)])
    becomes(PASS, model, {"x": x}, pooled(x, output), **CLOSE)


def test_one_number_stands_for_all_axes() -> None:
    x = array_of(1, 2, 7, 11)
    model = aten_model("adaptive_avg_pool2d", [1, 2, 7, 11], [np.array(3)])
    becomes(PASS, model, {"x": x}, pooled(x, (3, 3)), **CLOSE)


def test_dynamic_sizes() -> None:
    x = array_of(2, 3, 5, 7)
    model = aten_model("adaptive_avg_pool2d", ["N", 3, "H", "W"], [ints(1, 1)])
    becomes(PASS, model, {"x": x}, pooled(x, (1, 1)), ops=["GlobalAveragePool"], **CLOSE)
    model = aten_model("adaptive_avg_pool2d", ["N", "C", "H", 7], [ints(1, 3)])
    becomes(PASS, model, {"x": x}, pooled(x, (1, 3)), ops=["MatMul", "ReduceMean"], **CLOSE)
    model = aten_model("adaptive_avg_pool2d", ["N", "C", "H", 7], [ints(2, 3)], opset=10)
    assert_refused(PASS, model, "the opset must be at least 11 for Range; it is 10")


@pytest.mark.parametrize("size", [(1, 1), (3, 7), (5, 7), (12, 4), (13, 11)])
def test_windows_of_open_axes_are_laid_at_run_time(size: tuple[int, int]) -> None:
    x = array_of(2, 3, *size)
    model = aten_model("adaptive_avg_pool2d", ["N", "C", "H", "W"], [ints(5, 4)])
    becomes(PASS, model, {"x": x}, pooled(x, (5, 4)), **CLOSE)
    line = x.reshape(-1, *size[1:])
    model = aten_model("adaptive_avg_pool1d", ["C", "L"], [ints(3)])
    becomes(PASS, model, {"x": line}, pooled(line, (3,)), **CLOSE)


@pytest.mark.parametrize(
    ("kind", "dtype", "tolerance"),
    [(TensorProto.DOUBLE, np.float64, 1e-12), (TensorProto.FLOAT16, np.float16, 1e-3)],
)
def test_other_types(kind: int, dtype: Any, tolerance: float) -> None:
    x = array_of(2, 3, 5, 7, dtype=dtype)
    model = aten_model("adaptive_avg_pool2d", [2, 3, 5, 7], [ints(3, 4)], dtype=kind)
    becomes(PASS, model, {"x": x}, pooled(x, (3, 4)), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("output", [(1, 1), (2, 3), (3, 4), (4, 6)])
def test_against_the_numpy_model(output: tuple[int, int]) -> None:
    for attributes, arguments in (({}, [ints(*output)]), ({"output_size": list(output)}, [])):
        model = aten_model(
            "adaptive_avg_pool2d", [2, 3, 4, 6], arguments, attributes=attributes, layout="default"
        )
        assert_rewrite(
            PASS,
            model,
            feeds=[{"x": array_of(2, 3, 4, 6)}],
            evaluators={("", "ATen.adaptive_avg_pool2d"): evaluate},
            **CLOSE,
        )


def test_in_a_branch() -> None:
    x = array_of(1, 2, 7, 11)
    model = in_branch(aten_model("adaptive_avg_pool2d", [1, 2, 7, 11], [ints(3, 5)]))
    done = run_pass(PASS, model)
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(True)})["y"]
    np.testing.assert_allclose(y, pooled(x, (3, 5)), **CLOSE)


@given(
    size=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    output=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    opset=st.sampled_from([7, 9, 11, 13, 18]),
)
def test_any_window(size: tuple[int, int], output: tuple[int, int], opset: int) -> None:
    x = array_of(1, 2, *size)
    model = aten_model("adaptive_avg_pool2d", [1, 2, *size], [ints(*output)], opset=opset)
    becomes(PASS, model, {"x": x}, pooled(x, output), **CLOSE)


def test_complex_sizes_are_refused() -> None:
    sizes = np.array([2, 3], np.complex64)
    assert_refused(PASS, aten_model("adaptive_avg_pool2d", [1, 2, 6, 6], [sizes]), "are complex")
