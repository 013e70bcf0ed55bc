"""slice-bounds-to-int32: what int32 cannot hold, as a bound that cuts the same."""

from itertools import product

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.api import check, run
from graphfix.testing import assert_refused, assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "slice-bounds-to-int32"
MAX, MIN = 2**63 - 1, -(2**63)
LIMIT = 2**31 - 1
X = np.arange(12, dtype=np.float32).reshape(2, 6)


def by_input(starts: int, ends: int, step: int = 1) -> str:
    return "\n".join(
        [
            *(
                f"@{name} = Constant <value = int64[1] {{{number}}}> ()"
                for name, number in (("s", starts), ("e", ends), ("a", 1), ("t", step))
            ),
            "@y = Slice (x, @s, @e, @a, @t)",
        ]
    )


def bounds(model: onnx.ModelProto) -> list[int]:
    """Return the int64 numbers of a model that int32 does not hold."""
    held = [onnx.numpy_helper.to_array(t) for t in model.graph.initializer]
    for node in model.graph.node:
        for attribute in node.attribute:
            held.append(np.array(list(attribute.ints), np.int64))
            if attribute.name == "value":
                held.append(onnx.numpy_helper.to_array(attribute.t))
    return [int(n) for array in held for n in array.flatten() if abs(int(n)) > LIMIT + 1]


@pytest.mark.parametrize(
    ("starts", "ends"), list(product((2, -2, MIN), (MAX, MAX - 1, -1, MIN + 1)))
)
@pytest.mark.parametrize("opset", [7, 9])
def test_as_attributes(opset: int, starts: int, ends: int) -> None:
    text = written(
        f"@y = Slice <axes = [1], starts = [{starts}], ends = [{ends}]> (x)",
        "float[N, 6] x",
        "float[N, M]",
        opset=opset,
    )
    if (starts, ends) in ((2, -1), (-2, -1)):
        assert_refused(PASS, text, "a bound must be beyond int32; none is")
        return
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], after=["Slice"])
    assert bounds(done.after) == []
    wanted = X[:, max(starts, -7) : max(min(ends, 7), -7)]
    np.testing.assert_array_equal(outputs_of(done.after, {"x": X})["y"], wanted)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [10, 13, 18])
def test_as_inputs(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(by_input(2, MAX), "float[N, H] x", "float[N, M]", opset=opset, place=place)
    feeds = [{"x": X}, {"x": X[:, :1]}]
    if place == "branch":
        feeds = [{**feed, "c": np.array(c)} for feed in feeds for c in (True, False)]
    done = assert_rewrite(PASS, text, feeds=feeds)
    assert place != "main" or bounds(done.after) == []


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([0, 3, -2, 9, MAX, MIN]),
    st.sampled_from([MAX, MIN, MIN + 1, 2**31, -(2**31) - 1]),
    st.sampled_from([1, 2, 5, -1, -2]),
    st.integers(1, 7),
)
def test_every_cut_is_the_same(starts: int, ends: int, step: int, size: int) -> None:
    text = written(by_input(starts, ends, step), "int32[N, H] x", "int32[N, M]")
    if step < 0 and (starts == MIN or ends > 0):
        assert_refused(PASS, text, "a negative step must go the way of its bounds")
        return
    x = np.arange(2 * size, dtype=np.int32).reshape(2, size)
    done = assert_rewrite(PASS, text, feeds=[{"x": x}])
    if step > 0:  # backwards, ONNX clamps a start before the first element and numpy does not
        wanted = x[:, slice(starts, ends, step)]
        np.testing.assert_array_equal(outputs_of(done.after, {"x": x})["y"], wanted)
    assert bounds(done.after) == []


@pytest.mark.parametrize("target", ["trt5.1", "trt6"])
def test_a_run_for_the_engine(target: str) -> None:
    text = written(
        f"@y = Slice <axes = [1], starts = [2], ends = [{MAX}]> (x)",
        "float[1, 6] x",
        "float[1, 4]",
        opset=9,
    )
    model = onnx.parser.parse_model(text)
    assert [f.feature for f in check(model, target)] == ["form:Slice.beyond-int32"]
    result = run(model, target, verify="full")
    assert result.exit_code == 0
    assert result.report.findings_after == ()
