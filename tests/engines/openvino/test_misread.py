"""OpenVINO: quotients of integers, quantized constants, and values that a loop passes on."""

from __future__ import annotations

import pytest

from tests.engines.openvino.test_rules import NEW, OLD, found

BYTES = "g (%s[%s] x) => (%s[%s] y) { y = Div (x, x) }"
WRONG = ("quotient-of-bytes", "wrong")
KERNEL = ("quotient-in-a-kernel", "wrong")
AFTER = (
    "g (int64[N, 3] x, int64[N, 1] c) => (int64[N, 1] y) <int64[1] i = {1}, int64 b = {2}> "
    "{ r = ReduceSum (x, i) %s }"
)


@pytest.mark.parametrize(
    ("target", "kind", "size", "expected"),
    [
        (NEW, "uint8", "N", [WRONG]),
        (NEW, "int8", "N", [WRONG]),
        (NEW, "int8", "4", []),
        (NEW, "int32", "N", []),
        (OLD, "uint8", "N", []),
    ],
)
def test_quotients_of_bytes(
    target: str, kind: str, size: str, expected: list[tuple[str, str]]
) -> None:
    said = found(target, BYTES % (kind, size, kind, size))
    assert [one for one in said if one[1] == "wrong"] == expected


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("y = Div (r, b)", [KERNEL]),
        ("a = Abs (r) t = Sub (b, a) y = Div (t, b)", [KERNEL]),
        ("a = Mul (r, c) y = Div (a, b)", []),
        ("a = Max (r, b) y = Div (a, b)", []),
        ("q = Div (r, b) y = Add (q, r)", []),
        ("y = Div (r, c)", []),
        ("y = Mul (r, b)", []),
    ],
)
def test_quotients_in_a_kernel(then: str, expected: list[tuple[str, str]]) -> None:
    assert [one for one in found(NEW, AFTER % then, 17) if one[1] == "wrong"] == expected


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ("inf", [("infinite-scale", "wrong")]),
        ("1.3344406e36", [("infinite-scale", "wrong")]),
        ("1.2e36", []),
        ("0.1", []),
    ],
)
def test_infinite_scales(scale: str, expected: list[tuple[str, str]]) -> None:
    head = f"<float s = {{{scale}}}, uint8 z = {{0}}> {{ q = QuantizeLinear (x, s, z) "
    for text in (
        f"g (float[N] x) => (float[N] y) {head} y = DequantizeLinear (q, s, z) }}",
        f"g (float[N] x) => (float[N] y) {head} y = Cast <to = 1> (q) }}",
    ):
        assert [one for one in found(NEW, text) if one[1] == "wrong"] == expected


@pytest.mark.parametrize(("state", "expected"), [("t", [("passed-value", "reject")]), ("u", [])])
def test_states_that_a_scan_passes_on(state: str, expected: list[tuple[str, str]]) -> None:
    text = (
        "g (float[3, 2] x, float[2] k) => (float[3, 2] y) { z, y = Scan <num_scan_inputs = 1, "
        f"body = b (float[2] t, float[2] s) => (float[2] {state}, float[2] v) "
        "{ u = Abs (t) v = Add (s, t) }> (k, x) }"
    )
    assert [one for one in found(NEW, text) if one[1] == "reject"] == expected


DECONVOLVED = (
    "g (float[1, 2, N] x) => (float[1, 2, M] y) <float s = {0.1}, int8 z = {%d}, "
    "int8[2, 2, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[2] b = {1, 2}> "
    "{ q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) v = DequantizeLinear (w, s) "
    "c = ConvTranspose <strides = [%d]> (d, v%s) %s }"
)
QUANTIZED = "r = QuantizeLinear (c, s) y = DequantizeLinear (r, s)"


@pytest.mark.parametrize(
    ("zero", "stride", "bias", "then", "expected"),
    [
        (0, 4, ", b", QUANTIZED, True),
        (0, 3, ", b", QUANTIZED, True),
        (
            0,
            4,
            "",
            "a = Add (c, s) " + QUANTIZED.replace("(c, s)", "(a, s)"),
            True,
        ),
        (0, 4, "", QUANTIZED, False),
        (0, 2, ", b", QUANTIZED, False),
        (3, 4, ", b", QUANTIZED, False),
        (0, 4, ", b", "y = Identity (c)", False),
    ],
)
def test_weights_of_biased_transposed_convolutions(
    zero: int, stride: int, bias: str, then: str, *, expected: bool
) -> None:
    said = [rule for rule, _ in found(NEW, DECONVOLVED % (zero, stride, bias, then))]
    assert ("weights-of-biased-transposed-convolutions" in said) is expected


@pytest.mark.parametrize(
    ("a", "expected"),
    [
        ("w", [("product-of-constants", "reject")]),
        ("v", [("product-of-constants", "reject")]),
        ("u", []),
        ("x", []),
    ],
)
def test_products_of_four_bits_and_constants(a: str, expected: list[tuple[str, str]]) -> None:
    ones = ", ".join("1" * 16)
    text = (
        f"g (float[1, 16] x) => (float[1, 1] y) <float[1, 16] w = {{{ones}}}, float[1] s = {{2}}, "
        "uint8[1, 1, 8] b = {1, 1, 1, 1, 1, 1, 1, 1}> { v = Neg (w) u = Mul (w, x) "
        "y = com.microsoft.MatMulNBits <K = 16, N = 1, bits = 4, block_size = 16> "
        f"({a}, b, s) }}"
    )
    assert [one for one in found(NEW, text) if one[1] == "reject"] == expected
