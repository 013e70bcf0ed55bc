"""integers-to-float32: integers that are shown to be small, computed as floats."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, parser

import graphfix
from graphfix.testing import assert_refused, assert_rewrite

PASS = "integers-to-float32"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '
BYTES = HEAD + "(uint8[4] a, uint8[4] b) => (float[4] z) "
WIDE = "{ p = Cast <to = 7> (a) q = Cast <to = 7> (b) "
FEED = {"a": np.array([0, 7, 200, 255], np.uint8), "b": np.array([3, 7, 9, 16], np.uint8)}


def types_of(model: Any) -> set[int]:
    return {v.type.tensor_type.elem_type for v in model.graph.value_info}


@pytest.mark.parametrize(
    "body",
    [
        "r = Add (p, q)",
        "r = Sub (p, q)",
        "s = Mul (p, q) r = Neg (s)",
        "s = Sub (q, p) r = Abs (s)",
        "s = Sub (q, p) r = Sign (s)",
        "r = Div (p, q)",
        "s = Neg (p) r = Div (s, q)",
        "r = Mod (p, q)",
        "s = Neg (p) r = Mod (s, q)",
        "s = Neg (q) r = Mod (p, s)",
        "s = Neg (q) r = Mod <fmod = 1> (p, s)",
        "s = Neg (p) r = Mod <fmod = 1> (s, q)",
        "s = Concat <axis = 0> (p, q) r = Slice (s, two, six)",
        "c = Less (p, q) r = Where (c, p, two)",
        "c = Equal (p, q) r = Cast <to = 7> (c)",
        "c = Cast <to = 6> (p) d = Reshape (c, four) r = Max (d, d)",
        "c = Cast <to = 9> (p) r = Cast <to = 6> (c)",
    ],
)
def test_the_same_numbers_without_an_integer(body: str) -> None:
    constants = "<int64[1] two = {2}, int64[1] six = {6}, int64[1] four = {4}> "
    text = BYTES + constants + WIDE + body + " z = Cast <to = 1> (r) }"
    done = assert_rewrite(PASS, text, feeds=[FEED])
    assert not types_of(done.after) & {TensorProto.INT64, TensorProto.INT32}
    assert not [n for n in done.after.graph.node if n.op_type in ("Mod",)]


@given(
    st.integers(1, (1 << 24) - 1), st.lists(st.integers(0, (1 << 24) - 1), min_size=4, max_size=4)
)
def test_quotients_up_to_the_limit(divisor: int, numbers: list[int]) -> None:
    """Mod by 2^24 - 1 shows that a number is small, and a constant divides it."""
    text = (
        HEAD + "(int64[4] x) => (float[4] z) "
        f"<int64 most = {{{(1 << 24) - 1}}}, int64 k = {{{divisor}}}> "
        "{ m = Mod (x, most) q = Div (m, k) r = Mod (m, k) s = Mul (q, k) t = Sub (m, s)"
        " e = Equal (r, t) f = Cast <to = 1> (e) g = Cast <to = 1> (q) z = Add (f, g) }"
    )
    assert_refused(PASS, text, "x must be shown to be below 2^24; it may be larger")
    near = [*numbers[:2], divisor * (numbers[2] // divisor), max(0, divisor * 3 - 1)]
    feed = {"x": np.array([n % ((1 << 24) - 1) for n in near], np.int64)}
    assert_rewrite("large-integers-to-float32", text, feeds=[feed])


@pytest.mark.parametrize(
    "body",
    [
        "r = Neg (p)",
        "s = Sub (zero, q) r = Mul (p, s)",
        "s = Sub (zero, p) r = Div (s, two)",
        "s = Sub (zero, q) r = Mod (p, s)",
        "s = Sub (zero, q) r = Mod <fmod = 1> (s, q)",
        "f = Cast <to = 1> (p) h = Mul (f, part) r = Cast <to = 7> (h)",
    ],
)
def test_no_zero_gets_a_sign_which_integers_do_not_have(body: str) -> None:
    constants = "<int64 zero = {0}, int64 two = {2}, float part = {-0.001}> "
    text = BYTES + constants + WIDE + body + " y = Cast <to = 1> (r) z = Reciprocal (y) }"
    feed = {"a": np.array([0, 0, 1, 18], np.uint8), "b": np.array([3, 7, 9, 9], np.uint8)}
    assert_rewrite(PASS, text, feeds=[feed])


@pytest.mark.parametrize(
    "body",
    [
        "z = Cast <to = 1> (i)",
        "r = Reshape (i, four) t = Transpose <perm = [0]> (r) z = Cast <to = 1> (t)",
        "m = Max (i, two) r = Concat <axis = 0> (m, i) k = ReduceMax (r) z = Cast <to = 1> (k)",
        "c = Less (i, two) w = Where (c, two, i) z = Cast <to = 1> (w)",
        "s = Sign (i) z = Cast <to = 1> (s)",
    ],
)
def test_what_is_cut_off_of_floats_may_be_large(body: str) -> None:
    constants = "<int64[1] two = {2}, int64[1] four = {4}> { i = Cast <to = 7> (x) "
    text = HEAD + "(float[4] x) => (float[A] z) " + constants + body + " }"
    feed = {"x": np.array([-2.9, -0.5, 4.7e9, -9.1e18], np.float32)}
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert TensorProto.INT64 not in types_of(done.after)


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ("axis = 0", "1,4"),
        ("axis = -1", "3,1"),
        ("axis = 1, keepdims = 0", "3"),
        ("axis = 1, select_last_index = 1", "3,1"),
    ],
)
def test_places_of_extremes(attributes: str, size: str, op: str, opset: int) -> None:
    if "last" in attributes and opset < 12:
        pytest.skip("select_last_index came with opset 12")
    text = (
        HEAD.replace("17", str(opset))
        + f"(float[3,4] x) => (float[{size}] z) {{ i = {op} <{attributes}> (x)"
        " z = Cast <to = 1> (i) }"
    )
    ties = np.array([[2, 7, 7, -1], [5, 5, 5, 5], [-3e38, 1e-30, 3e38, 3e38]], np.float32)
    done = assert_rewrite(PASS, text, feeds=[{"x": ties}, {"x": -ties}])
    assert op not in done.ops
    assert TensorProto.INT64 not in types_of(done.after)


def test_ncnn_takes_places() -> None:
    text = HEAD + "(float[1,3,4] x) => (float[1,3] z) { i = ArgMax <axis = 2, keepdims = 0> (x) "
    model = parser.parse_model(text + "z = Cast <to = 1> (i) }")
    assert "op:ArgMax" in {found.feature for found in graphfix.check(model, "ncnn1.0")}
    result = graphfix.run(model, "ncnn1.0", trust_rules=True)
    assert (result.exit_code, result.report.findings_after) == (0, ())
