"""topk-of-integers-through-float: ranked as floats, and said so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import APPROXIMATE, EXACT, Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "topk-of-integers-through-float"


@given(st.lists(st.integers(-(2**24), 2**24), min_size=3, max_size=8), st.booleans())
def test_top_k(numbers: list[int], largest: bool) -> None:
    text = (
        '<ir_version: 8, opset_import: ["": 13]> g (int64[N] x) => (int64[2] y, int64[2] i) '
        f"<int64[1] k = {{2}}> {{ y, i = TopK <largest = {int(largest)}> (x, k) }}"
    )
    done = assert_rewrite(PASS, text, feeds=[{"x": np.array(numbers)}])
    (site,) = done.with_status(Status.APPLIED)[0].sites
    assert site.accuracy is APPROXIMATE


def test_narrow_integers_are_ranked_exactly() -> None:
    text = written("@y = ArgMax <axis = 0> (x)", "int8[4] x", "int64[1]")
    done = assert_rewrite(PASS, text, feeds=[{"x": np.array([1, 5, -3, 5], np.int8)}])
    assert done.with_status(Status.APPLIED)[0].sites[0].accuracy is EXACT


NEAR = {
    "int32": [2**31 - 1, 2**31 - 2, -(2**31), 1 - 2**31, 2**24, 2**24 + 1, 0, -1, 65535, 65536],
    "int64": [2**63 - 1, 2**63 - 2, -(2**63), 1 - 2**63, 2**53, 2**53 + 1, 2**32, 2**32 + 1],
    "uint32": [2**32 - 1, 2**32 - 2, 2**24, 2**24 + 1, 0, 1],
    "uint64": [2**64 - 1, 2**64 - 2, 2**53, 2**53 + 1, 0, 1],
}


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("opset", [7, 13, 18])
@pytest.mark.parametrize("kind", list(NEAR))
def test_the_place_is_exact_whatever_the_numbers(kind: str, opset: int, op: str) -> None:
    text = written(f"@y = {op} <axis = 1> (x)", f"{kind}[N, M] x", "int64[N, 1]", opset=opset)
    numbers = NEAR[kind]
    x = np.array([[a, b, a] for a in numbers for b in numbers], kind)
    done = run_pass(PASS, text)
    (site,) = done.with_status(Status.APPLIED)[0].sites
    assert site.accuracy is EXACT
    wanted = (np.argmax if op == "ArgMax" else np.argmin)(x, axis=1).tolist()
    assert outputs_of(done.after, {"x": x})["y"].reshape(-1).tolist() == wanted


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=8))
def test_the_place_of_any_int32(numbers: list[int]) -> None:
    text = written("@y = ArgMax <axis = 0, keepdims = 0> (x)", "int32[N] x", "int64")
    done = run_pass(PASS, text)
    given_ = outputs_of(done.after, {"x": np.array(numbers, np.int32)})["y"]
    assert given_.tolist() == int(np.argmax(numbers))
