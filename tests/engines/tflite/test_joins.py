"""TFLite: tensors of one shape are joined along another axis of the same size."""

from __future__ import annotations

import pytest

from tests.engines.cases import (
    No,
    Unknown,
    Yes,
    assert_no,
    assert_unknown,
    assert_yes,
    check,
    model_of,
)

T = "tflite1.29"
RULE = "joined-along-another-axis"
FEATURE = "form:Concat.equal-axes"


def _joined(shape: str, axis: int, result: str, before: str = "", names: str = "x, z") -> str:
    return (
        f"(float[{shape}] x, float[{shape}] z) => (float[{result}] y)"
        f" <float[5] w = {{1, 2, 3, 4, 5}}, float[2,1] v = {{1, 2}}>"
        f" {{ {before} y = Concat <axis = {axis}> ({names}) }}"
    )


@pytest.mark.parametrize(
    ("graph", "axis", "size"),
    [
        (_joined("1,1,5,2", 0, "2,1,5,2"), 1, 1),
        (_joined("1,1,5,1", -4, "2,1,5,1"), 3, 1),
        (_joined("2,2,5", 0, "4,2,5"), 1, 2),
        (_joined("1,1,5", 0, "2,1,5", "a = Mul (x, w) b = Mul (z, w)", "a, b"), 1, 1),
        (_joined("1,N,5", 0, "2,M,5", "s = Constant <value_ints = [1, 1, 5]> () a = Reshape (x, s)",
                 "a, z"), 1, 1),
    ],
)  # fmt: skip
def test_the_axis_is_found_that_the_engine_takes(graph: str, axis: int, size: int) -> None:
    assert_yes(Yes(graph, RULE, FEATURE, "wrong", "", T))
    (found,) = (finding for finding in check(model_of(graph), T) if finding.rule == RULE)
    assert found.message == f"onnx2tf joins along axis {axis}, which has size {size} too"


CONSTANT = "k = Constant <value_floats = [1.0, 2.0]> () u = Constant <value_ints = [1, 1, 2]> ()"
NUMBERED = "(float[8] x, int64[1] n) => (float[A,B] y) "


@pytest.mark.parametrize(
    "graph",
    [
        _joined("1,5,2", 0, "2,5,2"),  # no other axis has the size
        _joined("1,1,5", 1, "1,2,5"),  # the last one of it
        _joined("5,1,1", 1, "5,2,1"),  # as an image is joined
        _joined("1,1,2", 0, "2,1,2", f"{CONSTANT} c = Reshape (k, u)", "x, c"),
        _joined("1,1,5", 0, "1,1,5", "u = Concat <axis = 0> (x, z)", "x"),  # nothing reads it
        NUMBERED + "{ e = Expand (x, n) s = Constant <value_ints = [-1, 4]> ()"  # of no known size
        " r = Reshape (e, s) y = Concat <axis = 0> (r, r) }",
        "(float[N,3,M] x, float[N,4,M] z) => (float[N,7,M] y) { y = Concat <axis = 1> (x, z) }",
    ],
)
def test_what_is_joined_right_is_not_found(graph: str) -> None:
    assert_no(No(graph, RULE, T))


LSTM = (
    "(float[3,2,1] x) => (float[A,B,C] y) <float[2,4,1] w = {{{}}}> {{"
    ' o, h = LSTM <hidden_size = 1, direction = "bidirectional"> (x, w, w)'
    ' p, i = LSTM <hidden_size = 1, direction = "bidirectional"> (x, w, w)'
    " y = Concat <axis = 0> (h, i) }}"
)
ALIKE = "whether values differ along both axes when all inputs are 1"


def test_last_states_of_two_directions_differ_by_their_weights() -> None:
    assert_no(No(LSTM.format("1, 2, 3, 4, 5, 6, 7, 8"), RULE, T))
    assert_unknown(Unknown(LSTM.format("1, 2, 3, 4, 1, 2, 3, 4"), RULE, ALIKE, T))


@pytest.mark.parametrize(
    ("graph", "missing"),
    [
        (_joined("N,M,5", 0, "K,M,5"), "sizes of x"),
        ("(float[A,B] x, int64[3] n) => (float[C,D,E] y) { r = Reshape (x, n)"
         " y = Concat <axis = 1> (r, r) }", "sizes of r"),
        (_joined("2,2,5", 0, "4,2,5", "a = Mul (x, v)", "a, z"), ALIKE),
    ],
)  # fmt: skip
def test_what_cannot_be_known(graph: str, missing: str) -> None:
    assert_unknown(Unknown(graph, RULE, missing, T))
