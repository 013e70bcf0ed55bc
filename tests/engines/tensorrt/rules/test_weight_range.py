"""What becomes of numbers that the type which the engine gives a tensor does not hold."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import graphfix
from tests.engines.cases import No, Yes, assert_no, assert_yes, check

CLAMPED, TEXT = "dtype:int64-beyond-int32", "outside the range of INT32 was clamped"
MAX, MIN = 2**63 - 1, -(2**63)
FD = "trt6-fulldims"


YES = [
    Yes(
        "(int64[3] x) => (int64[3] y) <int64 c = {1099511627776}> { y = Add (x, c) }",
        "weights-clamped",
        CLAMPED,
        "wrong",
        TEXT,
    ),
    Yes(
        "(int64[3] x) => (int64[3] y) { c = Constant <value = int64 {-3000000000}> () "
        "y = Mul (x, c) }",
        "weights-clamped",
        CLAMPED,
        "wrong",
        TEXT,
        "trt7.0",
        11,
    ),
    Yes(
        f"(int64[3] x) => (int64[3] y) <int64 c = {{{MAX}}}> {{ y = Max (x, c) }}",
        "weights-clamped",
        CLAMPED,
        "wrong",
        TEXT,
        FD,
        12,
    ),
    Yes(
        f"(bool[3] c, int64[3] x) => (int64[3] y) <int64 s = {{{MIN}}}> {{ y = Where (c, x, s) }}",
        "weights-clamped",
        CLAMPED,
        "wrong",
        TEXT,
    ),
    Yes(
        f"(int64[3] x) => (bool[3] y) <int64 c = {{{MAX}}}> {{ y = Equal (x, c) }}",
        "weights-clamped",
        CLAMPED,
        "wrong",
        TEXT,
    ),
    Yes(
        "(int64[1] s) => (int64[N] y) { y = ConstantOfShape <value = int64[1] {4294967296}> (s) }",
        "weights-clamped",
        CLAMPED,
        "wrong",
        TEXT,
    ),
    Yes(
        "(int64[3] x) => (int64[3] y) <int64 c = {1099511627776}> { y = Add (x, c) }",
        "weights-not-cast",
        CLAMPED,
        "reject",
        "Weights cannot be cast down to INT32.",
        "trt6",
        9,
    ),
    Yes(
        "(int64[3] x) => (int64[3] y) { y = Neg (x) }",
        "int64-bindings",
        "io:int64-as-int32",
        "note",
    ),
]

NO = [
    # Bounds that nothing reaches, and numbers that int32 has.
    No(
        f"(float[6] x) => (float[N] y) <int64[1] s = {{2}}, int64[1] e = {{{MAX}}}> "
        "{ y = Slice (x, s, e) }",
        "weights-clamped",
    ),
    No(
        f"(int64[3] x) => (int64[3] y) <int64 l = {{{MIN}}}, int64 h = {{{MAX}}}> "
        "{ y = Clip (x, l, h) }",
        "weights-clamped",
    ),
    No(
        f"(int64[3] x) => (int64[3] y) <int64 h = {{{MAX}}}> {{ y = Min (x, h) }}",
        "weights-clamped",
    ),
    No(
        f"(int64[3] x) => (int64[3] y) <int64 l = {{{MIN}}}> {{ y = Max (x, l) }}",
        "weights-clamped",
    ),
    No(
        f"(float[3,4] x) => (bool[2] y) <int64 c = {{{MAX}}}> {{ s = Shape (x) y = Less (s, c) }}",
        "weights-clamped",
    ),
    No(
        "(int64[3] x) => (int64[3] y) <int64[3] c = {2147483647, 0, -2147483648}> "
        "{ y = Add (x, c) }",
        "weights-clamped",
    ),
    # From 9.0 on int64 is int64.
    No(
        "(int64[3] x) => (int64[3] y) <int64 c = {1099511627776}> { y = Add (x, c) }",
        "weights-clamped",
        "trt9.3",
    ),
    No("(int64[3] x) => (int64[3] y) { y = Neg (x) }", "int64-bindings", "trt10.1"),
    No("(int32[3] x) => (int32[3] y) { y = Neg (x) }", "int64-bindings"),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.target}")
def test_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}")
def test_no(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize(("number", "wanted"), [(-np.inf, 1), (1e300, 1), (3e38, 0), (np.nan, 0)])
@pytest.mark.parametrize("target", ["trt8.0", "trt8.6", "trt10.1"])
def test_doubles_beyond_float32(target: str, number: float, wanted: int) -> None:
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "c"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [3])],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [3])],
        [numpy_helper.from_array(np.array([0.0, number, 1.0]), "c")],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=onnx.IR_VERSION_2023_5_5
    )
    found = [f for f in check(model, target) if f.rule == "doubles-clamped"]
    assert [str(f.severity) for f in found] == ["wrong"] * wanted
    assert all(f.feature == "dtype:float64-beyond-float32" for f in found)


def test_four_bits_that_are_declared_as_int64_are_not_compared_with_int32() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 19]> g (float[2] x) => (float[2] y) '
        "<int64[2] c> { c = Constant <value = int4[2] {1, 2}> () y = Reshape (x, c) }"
    )
    found = graphfix.check(model, "trt8.6")
    assert "weights-clamped" not in {finding.rule for finding in found}
