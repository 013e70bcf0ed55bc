"""cumsum-to-sum: what comes before each position, summed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse, run_pass
from tests.passes.lowering_models import written

PASS = "cumsum-to-sum"


def body(axis: int, exclusive: int = 0, reverse: int = 0) -> str:
    return (
        f"@k = Constant <value = int64 {{{axis}}}> ()\n"
        f"@y = CumSum <exclusive = {exclusive}, reverse = {reverse}> (x, @k)"
    )


@given(st.lists(st.integers(-(2**30), 2**30), max_size=8), st.integers(0, 1), st.integers(0, 1))
def test_any_integers(values: list[int], exclusive: int, reverse: int) -> None:
    text = written(body(0, exclusive, reverse), f"int64[{len(values)}] x", f"int64[{len(values)}]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values, np.int64)}])


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 63, 64, 65])
@pytest.mark.parametrize(("exclusive", "reverse"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_vectors_of_integers(kind: str, size: int, exclusive: int, reverse: int) -> None:
    text = written(body(0, exclusive, reverse), f"{kind}[{size}] x", f"{kind}[{size}]")
    # Sums beyond the type wrap around, whatever their order (ReduceSum of onnxruntime does not).
    high = np.iinfo(kind).max
    values = np.resize(np.array([high, 5, -3, high - 1, -high], kind), size)
    done = assert_rewrite(PASS, text, feeds=[{"x": values}])
    assert "ReduceSum" not in {node.op_type for node in done.after.graph.node}


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("exclusive", "reverse"), [(0, 0), (1, 1)])
def test_sums_of_integers_beyond_2_to_the_53_are_whole(
    kind: str, axis: int, exclusive: int, reverse: int
) -> None:
    text = written(body(axis, exclusive, reverse), f"{kind}[2, 5, 3] x", f"{kind}[2, 5, 3]")
    high = np.iinfo(kind).max
    values = np.resize(np.array([high // 2, 1, 3, 2**24 + 1, high, -high, 1], kind), (2, 5, 3))
    done = run_pass(PASS, text)
    wanted = np.flip(values, axis) if reverse else values
    wanted = np.cumsum(wanted, axis, dtype=kind) - (wanted if exclusive else 0)
    wanted = np.flip(wanted, axis) if reverse else wanted
    np.testing.assert_array_equal(outputs_of(done.after, {"x": values})["y"], wanted)


@pytest.mark.parametrize("options", [{"opset": 10}, {"opset": 9}, {"target": "trt7.0"}])
def test_sums_beyond_2_to_the_53_for_opsets_without_cumsum(options: dict[str, Any]) -> None:
    proto = parse(written(body(1), "int64[N, 3] x", "int64[N, 3]", opset=11))
    result: Any = graphfix.run(proto, **options, verify="off").model
    assert "CumSum" not in {node.op_type for node in result.to_proto().graph.node}
    x = np.array([[2**53, 1, 1], [2**62, 3, -1]])
    np.testing.assert_array_equal(outputs_of(result.to_proto(), {"x": x})["y"], np.cumsum(x, 1))


def test_lengths_that_end_in_a_shape() -> None:
    text = written(
        "@k = Constant <value = int64 {0}> ()\n@s = CumSum (x, @k)\n"
        "@l = Constant <value = int64 {2}> ()\n@n = Gather (@s, @l)\n"
        "@z = Constant <value = int64 {1}> ()\n@y = Range (@k, @n, @z)",
        "int64[3] x",
        "int64[?]",
    )
    result: Any = graphfix.run(parse(text), target="trt8", verify="full")
    assert result.exit_code == 0
    assert not [f for f in result.report.findings_after if f.blocks]
    y = outputs_of(result.model.to_proto(), {"x": np.array([1, 0, 3])})["y"]
    np.testing.assert_array_equal(y, np.arange(4))


@pytest.mark.parametrize("kind", ["float", "float16", "int32", "int64"])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize(("exclusive", "reverse"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_an_axis_of_any_size(axis: int, exclusive: int, reverse: int, kind: str) -> None:
    shape, opset = f"{kind}[A, B, C]", 14 if kind == "float16" else 11
    text = written(body(axis, exclusive, reverse), f"{shape} x", shape, opset=opset)
    dtype = np.dtype("float32" if kind == "float" else kind)
    shapes = [(2, 3, 4), (1, 9, 2), (5, 1, 0), (17, 2, 1)]
    feeds = [
        {"x": (np.arange(np.prod(shape)).reshape(shape) - 7).astype(dtype)} for shape in shapes
    ]
    done = assert_rewrite(PASS, text, feeds=feeds)  # small integers: floats are exact too
    assert "ReduceSum" not in {node.op_type for node in done.after.graph.node}
    for feed in feeds:
        wanted = np.flip(feed["x"], axis) if reverse else feed["x"]
        wanted = np.cumsum(wanted, axis, dtype=dtype) - (wanted if exclusive else 0)
        wanted = np.flip(wanted, axis) if reverse else wanted
        np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("place", ["main", "branch"])
def test_infinities_and_sums_that_wrap_around_along_an_axis_of_any_size(place: str) -> None:
    feed: dict[str, Any] = {"c": np.array(True)} if place == "branch" else {}
    feed["x"] = np.array([[1, np.inf, 2], [np.inf, 1, -np.inf], [np.nan, 1, 0]], np.float32)
    text = written(body(1), "float[N, M] x", "float[N, M]", place=place)
    assert_rewrite(PASS, text, feeds=[feed], no_small_sides="covered by another test")
    feed["x"] = np.array([[2**62, 2**62, 2**62, 5], [2**53, 1, 1, 1]])
    text = written(body(1), "int64[N, M] x", "int64[N, M]", place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], no_small_sides="covered by another test")
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], np.cumsum(feed["x"], 1))
