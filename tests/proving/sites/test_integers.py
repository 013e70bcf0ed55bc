"""Integers pass what floats hold: sums and products through float32, float64 or int32 show."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, parser

from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.inexact import INEXACT_FOR_INTEGERS
from graphfix.proving.runners.ort_engine import OrtEngine
from graphfix.proving.sites.one_site import certify
from graphfix.proving.sites.site_proof import Case
from graphfix.proving.values.kinds import Feed
from graphfix.report import Certificate, Verdict


def model(text: str) -> ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}')


def proof(before: str, after: str) -> Certificate:
    return certify(Case(model(before), model(after)), Evaluators({}))


def through(element: int, before: str, sums: str) -> str:
    back = {"int32": 6, "int64": 7}[before]
    return (
        f"g ({before}[3, 4] x, {before}[3, 4] z) => ({before}[3, 4] y) "
        f"{{ a = Cast <to = {element}> (x)  b = Cast <to = {element}> (z)  c = {sums} (a, b) "
        f" y = Cast <to = {back}> (c) }}"
    )


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
@pytest.mark.parametrize(
    ("integers", "element"),
    [("int32", 1), ("int64", 1), ("int64", 11), ("int64", 6)],
    ids=["int32 float32", "int64 float32", "int64 float64", "int64 int32"],
)
def test_integer_arithmetic_through_a_narrower_type_shows(
    op: str, integers: str, element: int
) -> None:
    plain = (
        f"g ({integers}[3, 4] x, {integers}[3, 4] z) => ({integers}[3, 4] y) {{ y = {op} (x, z) }}"
    )
    assert proof(plain, plain).status is Verdict.EQUAL
    assert proof(plain, through(element, integers, op)).status is Verdict.MISMATCH


RUNNING = "g (int64[3, 4] x) => (int64[3, 4] y) <int64 a = {1}> { y = CumSum (x, a) }"
RUNNING_IN_DOUBLE = """
    g (int64[3, 4] x) => (int64[3, 4] y) <int64 a = {1}>
    { d = Cast <to = 11> (x)  c = CumSum (d, a)  y = Cast <to = 7> (c) }
"""
TOTAL = "g (int64[3, 4] x) => (int64[3, 1] y) <int64[1] a = {1}> { y = ReduceSum (x, a) }"
TOTAL_BY_ADD = """
    g (int64[3, 4] x) => (int64[3, 1] y) <int64[1] a = {1}>
    { b, c, d, e = Split <axis = 1, num_outputs = 4> (x)  f = Add (b, c)  g0 = Add (d, e)
      y = Add (f, g0) }
"""
TOTAL_OF_THREE = TOTAL_BY_ADD.replace("g0 = Add (d, e)", "g0 = Add (d, d)")


def test_a_running_sum_through_float64_shows() -> None:
    assert proof(RUNNING, RUNNING).status is Verdict.EQUAL
    assert proof(RUNNING, RUNNING_IN_DOUBLE).status is Verdict.MISMATCH


def test_a_right_sum_is_not_blamed_for_a_kernel_that_rounds() -> None:
    assert proof(TOTAL, TOTAL).status is Verdict.EQUAL
    assert proof(TOTAL, TOTAL_BY_ADD).status is Verdict.EQUAL
    assert proof(TOTAL, TOTAL_OF_THREE).status is Verdict.MISMATCH


def test_a_kernel_that_rounds_is_blamed_in_a_result() -> None:
    assert proof(TOTAL_BY_ADD, TOTAL).status is Verdict.MISMATCH


def computed(op: str, inputs: Feed, attributes: dict[str, Any]) -> Any:
    infos = [
        onnx.helper.make_tensor_value_info(n, onnx.TensorProto.INT64, np.asarray(v).shape)
        for n, v in inputs.items()
    ]
    node = onnx.helper.make_node(op, list(inputs), ["y"], **attributes)
    result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT64, None)
    graph = onnx.helper.make_graph([node], "g", infos, [result])
    proto = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8
    )
    return OrtEngine(proto, "").run(inputs)["y"]


X = np.array([[2**60 + 1, 3, -(2**61) - 5], [3**13, 3**11, 3**10]], dtype=np.int64)
ODD = X[1:] * 3001
AXIS = np.array([1])
CASES: dict[str, tuple[Feed, dict[str, Any], np.ndarray[Any, Any]]] = {
    "ReduceSum": ({"x": X, "a": AXIS}, {"keepdims": 0}, X.sum(1)),
    "ReduceProd": ({"x": X[1:], "a": AXIS}, {"keepdims": 0}, X[1:].prod(1)),
    "ReduceL1": ({"x": X, "a": AXIS}, {"keepdims": 0}, np.abs(X).sum(1)),
    "ReduceSumSquare": ({"x": ODD, "a": AXIS}, {"keepdims": 0}, (ODD**2).sum(1)),
    "ReduceMean": ({"x": X[:1], "a": AXIS}, {"keepdims": 0}, np.array([-384307168202282327])),
    "Pow": ({"x": np.array([3, -7]), "e": np.array([37, 21])}, {}, np.array([3, -7]) ** [37, 21]),
    "CumSum": ({"x": X, "a": np.array(1)}, {}, X.cumsum(1)),
    "MatMul": ({"x": X, "z": X.T.copy()}, {}, X @ X.T),
    "Mul": ({"x": X, "z": X[::-1].copy()}, {}, X * X[::-1]),
    "Add": ({"x": X, "z": X[::-1].copy()}, {}, X + X[::-1]),
    "ReduceMax": ({"x": X, "a": AXIS}, {"keepdims": 0}, X.max(1)),
}  # fmt: skip


@pytest.mark.parametrize("op", [*CASES])
def test_the_table_says_which_integer_kernels_round(op: str) -> None:
    inputs, attributes, meant = CASES[op]
    got = computed(op, inputs, attributes)
    assert np.array_equal(got, meant) == (op not in INEXACT_FOR_INTEGERS), (got, meant)


def test_each_kernel_of_the_table_is_measured() -> None:
    assert set(CASES) >= INEXACT_FOR_INTEGERS


LEFT_OVER = "g (int64[3, 4] x, int64[3, 4] d) => (int64[3, 4] y) { y = Mod (x, d) }"
LEFT_OVER_ROUNDED = """
    g (int64[3, 4] x, int64[3, 4] d) => (int64[3, 4] y)
    { m = Mod (x, d)  f = Cast <to = 11> (m)  y = Cast <to = 7> (f) }
"""
SIGNED_LEFT_OVER = """
    g (int64[3, 4] x, int64[3, 4] d) => (int64[3, 4] y)
    <int64 one = {1}, int64 minus = {-1}, int64 zero = {0}>
    { o = Equal (d, minus)  e = Where (o, one, d)  q = Div (x, e)  p = Mul (q, e)  r = Sub (x, p)
      l = Less (e, zero)  s = Where (l, minus, one)  t = Mul (r, s)  u = Less (t, zero)
      v = Add (r, e)  y = Where (u, v, r) }
"""
# Rounded to a float, what is left of 2^63 - 2 has the other sign.
SIGNED_LEFT_OVER_ROUNDED = SIGNED_LEFT_OVER.replace(
    "t = Mul (r, s)", "m = Mul (r, s)  f = Cast <to = 11> (m)  t = Cast <to = 7> (f)"
)
QUOTIENT = "g (int64[3, 4] x, int64[3, 4] d) => (int64[3, 4] y) { y = Div (x, d) }"
QUOTIENT_ROUNDED = """
    g (int64[3, 4] x, int64[3, 4] d) => (int64[3, 4] y)
    { q = Div (x, d)  f = Cast <to = 11> (q)  y = Cast <to = 7> (f) }
"""
STRETCHED = """
    g (int32[1, 1, 2, 3] x) => (int32[1, 1, 4, 6] y) <float[4] s = {1, 1, 2, 2}>
    { y = Resize (x, , s) }
"""
STRETCHED_ROUNDED = """
    g (int32[1, 1, 2, 3] x) => (int32[1, 1, 4, 6] y) <float[4] s = {1, 1, 2, 2}>
    { f = Cast <to = 1> (x)  r = Resize (f, , s)  y = Cast <to = 6> (r) }
"""


TAKEN = "g (int32[5, 3] x) => (int32[2, 3] y) <int64[2] i = {1, 4}> { y = Gather (x, i) }"
TAKEN_ROUNDED = """
    g (int32[5, 3] x) => (int32[2, 3] y) <int64[2] i = {1, 4}>
    { t = Gather (x, i)  f = Cast <to = 1> (t)  y = Cast <to = 6> (f) }
"""
PUT = """
    g (int32[5] x, int32[2] u) => (int32[5] y) <int64[2] i = {1, 4}>
    { y = ScatterElements (x, i, u) }
"""
PUT_ROUNDED = """
    g (int32[5] x, int32[2] u) => (int32[5] y) <int64[2] i = {1, 4}>
    { f = Cast <to = 1> (u)  v = Cast <to = 6> (f)  y = ScatterElements (x, i, v) }
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LEFT_OVER, LEFT_OVER_ROUNDED),
        (SIGNED_LEFT_OVER, SIGNED_LEFT_OVER_ROUNDED),
        (LEFT_OVER, SIGNED_LEFT_OVER_ROUNDED),
        (QUOTIENT, QUOTIENT_ROUNDED),
        (STRETCHED, STRETCHED_ROUNDED),
        (TAKEN, TAKEN_ROUNDED),
        (PUT, PUT_ROUNDED),
    ],
    ids=[
        *("large divisors", "the largest of all", "the largest of all by Mod", "quotients"),
        *("integers that are moved", "taken", "put"),
    ],
)
def test_integers_are_large_wherever_they_are_data(before: str, after: str) -> None:
    assert proof(before, before).status is Verdict.EQUAL
    assert proof(before, after).status is Verdict.MISMATCH


def test_a_remainder_by_subtraction_is_right_at_the_largest_integers() -> None:
    assert proof(LEFT_OVER, SIGNED_LEFT_OVER).status is Verdict.EQUAL
