"""Rules of ONNX Runtime on what releases compute differently, and what becomes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphfix
from graphfix.testing import outputs_of
from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes, model_of

SUM = "(float[2,0,4] x) => (float[2,1,4] y) { y = ReduceSum <axes: ints = [1]> (x) }"
CUT = (
    "(float[2,0,4] x) => (float[2,4] y) { y = ReduceMax <axes: ints = [1], keepdims: int = 0> (x) }"
)
ADJACENT = "(float[2,0,4] x) => (float[2,0,1] y) { y = ReduceMax <axes: ints = [-1]> (x) }"
WHOLE = "(int32[2,0] x) => (int32[2,1] y) { y = ReduceMin <axes: ints = [1]> (x) }"
ONE_HOT = (
    "(float[N] x) => (float[N,5] y) { d = Constant <value_float: float = 5.0> () "
    "v = Constant <value_floats: floats = [0.0, 1.0]> () y = OneHot (x, d, v) }"
)
LENGTHS = (
    "(float[4,4] x) => (float[4,4] y) { n = Constant <value_ints: ints = [0, 2, 3, 4]> () "
    "y = ReverseSequence <batch_axis: int = 0, time_axis: int = 1> (x, n) }"
)
FUSED = (
    "(float[1,1,2,2] x, float[1,1,1,1] w, float[1,1,2,2] z) => (float[1,1,2,2] y) "
    "{ y = com.microsoft.FusedConv (x, w, , z) }"
)
IDLE = "(float[2,3] x) => (float[2,3] y) { y = ReduceSum <noop_with_empty_axes: int = 1> (x) }"
CONVOLVED = (
    "(uint8[1,1,3,3] x, uint8[2,1,2,2] w, uint8 a, uint8[2] b) => (int32[1,2,2,2] y) "
    "{ y = ConvInteger (x, w, a, b) }"
)
MASKED = (
    "(float[1,2,3,4] q, float[1,2,6,4] k, float[3,M] m) => (float[1,2,3,4] y) "
    "{ y = Attention (q, k, k, m) }"
)
REMEMBERED = (
    "(float[1,2,3,4] q, float[1,2,6,4] k, float[3,M] m, float[1,2,2,4] p) => (float[1,2,3,4] y) "
    "{ y, a, b = Attention (q, k, k, m, p, p) }"
)
SWISH = "(float[2] x) => (float[2] y) { y = Swish (x) }"
BITS = "(bool[2] x) => (uint8[2] y) { y = BitCast <to: int = 2> (x) }"
NO_BOOLS = (
    "(bool[2,0] x) => (bool[2,1] y) { a = Constant <value_ints: ints = [1]> () "
    "y = ReduceMax (x, a) }"
)
SHARED = (
    "(int8[2,2] q, float[2] s) => (float[2,2] a, float[2,2] b) "
    "{ w = DequantizeLinear <axis: int = 0> (q, s) a = Neg (w) b = Abs (w) }"
)
YES = [
    Yes(SUM, "reduction-of-nothing", "shape:ReduceSum.empty", "wrong", "", "ort-1.10", 11),
    Yes(
        CUT, "reduction-of-nothing", "shape:ReduceMax.empty", "reject", "Can't reduce", "ort-1.16",
        11,
    ),
    Yes(ADJACENT, "reduction-beside-nothing", "shape:ReduceMax.empty", "wrong", "", "ort-1.31", 11),
    Yes(CUT, "maximum-of-nothing", "shape:ReduceMax.empty", "reject", "ReduceMax", "ort-1.20", 11),
    Yes(WHOLE, "extreme-of-no-integers", "shape:ReduceMin.empty", "wrong", "", "ort-1.24", 12),
    Yes(
        NO_BOOLS, "extreme-of-no-bools", "shape:ReduceMax.empty", "reject", "empty set",
        "ort-1.31", 20,
    ),
    Yes(LENGTHS, "reverse-of-nothing", "shape:ReverseSequence.empty", "wrong", "", "ort-1.10", 12),
    Yes(
        "(float[2] x, float s, uint4 z) => (uint4[2] y) { y = QuantizeLinear (x, s, z) }",
        "quantized-type-of-later-opsets", "dtype:uint4", "reject", "IR version", "ort-1.10", 21,
    ),
    Yes(
        CONVOLVED, "conv-integer-zero-points", "form:ConvInteger.zero-points", "reject",
        "ConvInteger", "ort-1.31", 13,
    ),
    Yes(BITS, "bitcast-of-bool", "dtype:BitCast.bool", "reject", "BitCast(26)", "ort-1.31", 26),
    Yes(
        MASKED.replace("M]", "4]"), "attention-mask-of-all-keys", "shape:Attention.mask", "reject",
        "inconsistent total_sequence_length", "ort-1.31", 24,
    ),
    Yes(
        REMEMBERED.replace("M]", "6]"), "attention-mask-of-all-keys", "shape:Attention.mask",
        "reject", "inconsistent total_sequence_length", "ort-1.31", 24,
    ),
    *(
        Yes(
            SHARED, "dequantized-for-several-nodes", "form:DequantizeLinear.shared", "wrong",
            "axis 1 is not in valid range", target, 13,
        )
        for target in ("ort-1.15", "ort-1.16")
    ),
    Yes(
        SHARED.replace("a = Neg (w) b = Abs (w)", "a = Mul (w, w) b = Abs (s)")
        .replace("float[2,2] b", "float[2] b"),
        "dequantized-for-several-nodes", "form:DequantizeLinear.shared", "wrong", "", "ort-1.16",
        13,
    ),
]  # fmt: skip
NO = [
    *(
        No(SHARED, "dequantized-for-several-nodes", target, 13)
        for target in ("ort-1.14", "ort-1.17")
    ),
    *(
        No(text, "dequantized-for-several-nodes", "ort-1.16", 13)
        for text in (
            SHARED.replace("= 0", "= 1"), SHARED.replace("= 0", "= -1"),
            SHARED.replace("float[2] s", "float s"), SHARED.replace("float[2] s", "float[1] s"),
            SHARED.replace("Abs (w)", "Abs (a)"),
        )
    ),
    No(MASKED.replace("M]", "6]"), "attention-mask-of-all-keys", "ort-1.31", 24),
    No(MASKED, "attention-mask-of-all-keys", "ort-1.31", 24),
    No(REMEMBERED.replace("M]", "8]"), "attention-mask-of-all-keys", "ort-1.31", 24),
    No(SUM, "reduction-of-nothing", "ort-1.17", 11),
    No(SUM.replace("[1]", "[0]"), "reduction-of-nothing", "ort-1.10", 11),
    No(SUM.replace("2,0,4", "2,N,4"), "reduction-of-nothing", "ort-1.10", 11),
    No(SUM, "reduction-beside-nothing", "ort-1.31", 11),
    No(ADJACENT.replace("2,0,4", "2,3,4"), "reduction-beside-nothing", "ort-1.31", 11),
    No(WHOLE.replace("int32", "float"), "extreme-of-no-integers", "ort-1.24", 12),
    No(IDLE, "reduction-without-axes", "ort-1.31", 13),
    No(LENGTHS.replace("[0,", "[1,"), "reverse-of-nothing", "ort-1.10", 12),
    No(FUSED, "fused-conv-sum", "ort-1.12", 13),
    No(CONVOLVED.replace("uint8[2] b", "uint8[1] b"), "conv-integer-zero-points", "ort-1.31", 13),
    No(
        "(float[2] x, float s, uint4 z) => (uint4[2] y) { y = QuantizeLinear (x, s, z) }",
        "quantized-type-of-later-opsets", "ort-1.31", 21,
    ),
    No(BITS.replace("bool", "int8"), "bitcast-of-bool", "ort-1.31", 26),
    No(ONE_HOT.replace("OneHot (x", "r = Floor (x) y = OneHot (r").replace("y = r", "r"),
       "one-hot-of-fractions", "ort-1.10", 12),
    No(ONE_HOT.replace("float[N] x", "int64[N] x"), "one-hot-of-fractions", "ort-1.10", 12),
]  # fmt: skip
UNKNOWN = [
    Unknown(
        SHARED.replace("float[2] s", "float[N] s"), "dequantized-for-several-nodes",
        "the rank of q and the size of s", "ort-1.16", 13,
    ),
    Unknown(
        ONE_HOT, "one-hot-of-fractions", "the indices, none of which may have a fraction",
        "ort-1.31", 12,
    ),
    Unknown(
        "(float[4,2] x, int64[4] n) => (float[4,2] y) "
        "{ y = ReverseSequence <batch_axis: int = 0, time_axis: int = 1> (x, n) }",
        "reverse-of-nothing", "the lengths, none of which may be 0", "ort-1.10", 12,
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.target}")
def test_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}")
def test_no(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.rule)
def test_unknown(case: Unknown) -> None:
    assert_unknown(case)


REVERSED = [[0, 1, 2, 3], [5, 4, 6, 7], [10, 9, 8, 11], [15, 14, 13, 12]]
X = np.array([-1.7, 1.7, 0.2, 4.9], np.float32)
REPAIRED: list[tuple[str, int, str, dict[str, Any], Any]] = [
    (SUM, 11, "ort-1.10", {"x": np.zeros((2, 0, 4), np.float32)}, np.zeros((2, 1, 4))),
    (CUT, 11, "ort-1.20", {"x": np.zeros((2, 0, 4), np.float32)}, np.full((2, 4), -np.inf)),
    (ADJACENT, 11, "ort-1.31", {"x": np.zeros((2, 0, 4), np.float32)}, np.zeros((2, 0, 1))),
    (NO_BOOLS, 20, "ort-1.31", {"x": np.zeros((2, 0), bool)}, np.zeros((2, 1), bool)),
    (IDLE, 13, "ort-1.10", {"x": np.ones((2, 3), np.float32)}, np.ones((2, 3))),
    (ONE_HOT, 12, "ort-1.10", {"x": X}, np.eye(5)[[4, 1, 0, 4]]),
    (LENGTHS, 12, "ort-1.10", {"x": np.arange(16, dtype=np.float32).reshape(4, 4)}, REVERSED),
    (SWISH, 26, "ort-1.31", {"x": X[:2]}, X[:2] / (1 + np.exp(-X[:2]))),
    (BITS, 26, "ort-1.31", {"x": np.array([True, False])}, [1, 0]),
]


@pytest.mark.parametrize(
    ("text", "opset", "target", "feed", "wanted"), REPAIRED, ids=lambda v: str(v)[-24:]
)
def test_what_is_found_is_repaired(
    text: str, opset: int, target: str, feed: dict[str, Any], wanted: Any
) -> None:
    result = graphfix.run(model_of(text, opset), target=target, verify="off")
    assert result.report.findings_after == ()
    given = outputs_of(result.model.to_proto(), feed)["y"]
    assert given.shape == np.shape(wanted)
    np.testing.assert_allclose(given, wanted, rtol=1e-6)


def test_products_of_int8_and_floats_of_16_bits_come_down_to_an_old_release() -> None:
    text = (
        "(int8[2,3] a, int8[3,2] b) => (int8[2,2] y) "
        "{ s = Constant <value_float: float = 0.5> () z = Constant <value: tensor = int8 {1}> () "
        "y = QLinearMatMul (a, s, z, b, s, z, s, z) }"
    )
    result = graphfix.run(model_of(text, 13), target="ort-1.10", verify="off")
    assert result.report.findings_after == ()
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, size).astype(np.int8) for size in ((2, 3), (3, 2)))
    y = outputs_of(result.model.to_proto(), {"a": a, "b": b})["y"]
    sums = (a.astype(np.int64) - 1) @ (b.astype(np.int64) - 1)
    assert y.tolist() == np.clip(np.round(sums * 0.5) + 1, -128, 127).tolist()
    text = (
        "(float16[3] x) => (uint8[3] y) { c = Constant <value_float: float = 0.5> () "
        "s = Cast <to: int = 10> (c) z = Constant <value: tensor = uint8 {7}> () "
        "y = QuantizeLinear (x, s, z) }"
    )
    result = graphfix.run(model_of(text, 19), target="ort-1.10", verify="off")
    assert result.report.findings_after == ()
    x = np.array([0.75, -1.25, 3], np.float16)
    assert outputs_of(result.model.to_proto(), {"x": x})["y"].tolist() == [9, 5, 13]
