"""uint64-through-int64: sums, products, comparisons and parts of uint64, against numpy."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.api import run
from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, parse, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "uint64-through-int64"
ARITHMETIC: dict[str, Any] = {"Add": np.add, "Mul": np.multiply, "Sub": np.subtract}
COMPARING: dict[str, Any] = {
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
}
EDGES = np.array([0, 1, 2, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1], np.uint64)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", ARITHMETIC)
def test_arithmetic_wraps_around(op: str, place: str) -> None:
    ends = ("uint64[N, 1] a, uint64[K] b", "uint64[N, K]")
    feed: dict[str, Any] = {"a": EDGES[:, None], "b": EDGES}
    if place == "branch":
        feed["c"] = np.array(True)
    text = written(f"@y = {op} (a, b)", *ends, opset=14, place=place)
    done = assert_rewrite(PASS, text, feeds=[feed])
    expected = ARITHMETIC[op](EDGES[:, None], EDGES)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], expected)


@pytest.mark.parametrize("op", COMPARING)
def test_comparisons_keep_the_order(op: str) -> None:
    opset = 16 if op.endswith("OrEqual") else 13
    text = written(f"@y = {op} (a, b)", "uint64[N, 1] a, uint64[K] b", "bool[N, K]", opset=opset)
    feed = {"a": EDGES[:, None], "b": EDGES}
    done = assert_rewrite(PASS, text, feeds=[feed])
    expected = COMPARING[op](EDGES[:, None], EDGES)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], expected)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.sampled_from([*ARITHMETIC]))
def test_any_numbers(a: int, b: int, op: str) -> None:
    text = written(f"@y = {op} (a, b)", "uint64[1] a, uint64[1] b", "uint64[1]", opset=14)
    feed = {"a": np.array([a], np.uint64), "b": np.array([b], np.uint64)}
    given_ = outputs_of(run_pass(PASS, text).after, feed)["y"].tolist()
    exact = {"Add": a + b, "Mul": a * b, "Sub": a - b}[op]
    assert given_ == [exact % 2**64]


def test_an_old_onnxruntime_gets_what_it_has_kernels_for() -> None:
    text = written("@y = Add (a, b)", "uint64[N] a, uint64[N] b", "uint64[N]", opset=14)
    result = run(parse(text), "ort-1.10", verify="off")
    assert not [f for f in result.report.findings_after if f.blocks]
    assert [o.pass_id for o in result.report.outcomes if o.status is Status.APPLIED] == [PASS]
