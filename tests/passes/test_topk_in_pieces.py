"""topk-in-pieces: one piece after the other, in order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse, run_pass

PASS = "topk-in-pieces"


def text_of(k: int, axis: int = -1, largest: int = 1, kind: str = "float") -> str:
    return (
        f'<ir_version: 8, opset_import: ["": 13]> g ({kind}[2, 9] x) => ({kind}[a, b] y, '
        f"int64[a, b] i) <int64[1] k = {{{k}}}> "
        f"{{ y, i = TopK <axis = {axis}, largest = {largest}> (x, k) }}"
    )


ELEMENTS = st.sampled_from([-np.inf, -3.4e38, -1, 0, 2, 3.4e38, np.inf])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(ELEMENTS, min_size=18, max_size=18),
    st.integers(4, 9),
    st.booleans(),
    st.sampled_from(["float", "float16", "double"]),
)
def test_infinite_and_equal_elements(
    elements: list[float], k: int, largest: bool, kind: str
) -> None:
    dtype = {"float": np.float32, "float16": np.float16, "double": np.float64}[kind]
    with np.errstate(over="ignore"):
        x = np.array(elements).astype(dtype).reshape(2, 9)
    done = run_pass(PASS, text_of(k, largest=int(largest), kind=kind), options={"most": 3})
    given_ = outputs_of(done.after, {"x": x})
    order = np.argsort(-x if largest else x, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(given_["i"], order)
    np.testing.assert_array_equal(given_["y"], np.take_along_axis(x, order, axis=1))


@given(st.permutations(range(18)), st.integers(4, 9), st.booleans())
def test_any_order(order: list[int], k: int, largest: bool) -> None:
    x = np.array(order, np.float32).reshape(2, 9)
    options = {"most": 3}
    done = assert_rewrite_in_pieces(text_of(k, largest=int(largest)), x, options)
    # As many again for the indices of infinite elements.
    assert done.count("TopK") == 2 * -(-k // 3)


def assert_rewrite_in_pieces(text: str, x: np.ndarray, options: dict[str, int]) -> list[str]:
    """Compare; the pieces match the pass no more."""
    return assert_rewrite(PASS, text, feeds=[{"x": x}], options=options).ops


def test_equal_elements_come_in_order() -> None:
    x = np.zeros((2, 9), np.float32)
    done = run_pass(PASS, text_of(8), options={"most": 3})
    assert outputs_of(done.after, {"x": x})["i"].tolist() == [list(range(8))] * 2


def test_an_unknown_size_with_infinite_elements_is_approximate() -> None:
    text = parse(text_of(8).replace("[2, 9] x", "[2, N] x"))
    result = graphfix.run(text, passes=[PASS], options={f"{PASS}.most": 3}, verify="off")
    (outcome,) = [o for o in result.report.outcomes if o.pass_id == PASS]
    assert [str(site.accuracy) for site in outcome.sites] == ["approximate"]
    x = np.array([range(9), range(9, 0, -1)], np.float32)
    wanted = np.argsort(-x, axis=1, kind="stable")[:, :8]
    np.testing.assert_array_equal(outputs_of(result.model.to_proto(), {"x": x})["i"], wanted)


def test_another_axis() -> None:
    text = text_of(2, axis=0)
    done = run_pass(PASS, text, options={"most": 1})
    x = np.array([range(9), range(9, 0, -1)], np.float32)
    assert outputs_of(done.after, {"x": x})["y"].tolist() == np.sort(x, 0)[::-1].tolist()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (text_of(3), "K must be above 3840 and at most 16 times that; it is 3"),
        (text_of(3, kind="int32"), "x must be floating point; it is int32"),
        (
            text_of(3).replace("<int64[1] k = {3}>", "").replace("x)", "x, int64[1] k)", 1),
            "K must be a constant; it is computed at run time",
        ),
    ],
)
def test_refuses(text: str, reason: str) -> None:
    assert any(reason in known for known in run_pass(PASS, text).reasons)
