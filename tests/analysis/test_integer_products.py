"""graphfix.analysis.integer_products: which products of a graph are computed in 8 bits."""

from __future__ import annotations

import pytest

from graphfix.analysis.inference import infer_model
from graphfix.analysis.integer_products import Products, integer_products
from graphfix.ir.model import Model
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g '
QDQ = "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) "
WEIGHTS = (
    "<float s = {0.5}, uint8 z = {3}, float t = {0.25}, int8[3,4] b = {1,2,3,4,5,6,7,8,9,1,2,3}>"
)


def products(text: str) -> Products:
    model = Model(parse(HEAD + text))
    infer_model(model)
    return integer_products(model)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        # Both operands are dequantized.
        (f"{QDQ} w = DequantizeLinear (b, t) y = MatMul (d, w)", Products(1, 2 * 4 * 3)),
        # Moved about after it.
        (f"{QDQ} w = DequantizeLinear (b, t) v = Identity (w) y = Gemm (d, v)", Products(1, 24)),
        # All that is joined is dequantized, or not.
        (
            f"{QDQ} w = DequantizeLinear (b, t) v = Concat <axis = 0> (d, d) "
            "p, r = Split <axis = 0> (v) y = MatMul (r, w)",
            Products(1, 24),
        ),
        (
            f"{QDQ} w = DequantizeLinear (b, t) v = Concat <axis = 0> (d, x) "
            "p, r = Split <axis = 0> (v) y = MatMul (r, w)",
            Products(0, 0),
        ),
        # One of them is a float.
        (f"{QDQ} w = Cast <to = 1> (b) y = MatMul (d, w)", Products(0, 0)),
        ("w = DequantizeLinear (b, t) y = MatMul (x, w)", Products(0, 0)),
        # An activation in between is computed in floats.
        (f"{QDQ} r = Relu (d) w = DequantizeLinear (b, t) y = MatMul (r, w)", Products(0, 0)),
    ],
)
def test_products_of_floats(body: str, wanted: Products) -> None:
    assert products(f"(float[2,3] x) => (float[2,4] y) {WEIGHTS} {{ {body} }}") == wanted


def test_operators_of_integers() -> None:
    text = "(uint8[N,3] a, int8[3,4] b) => (int32[N,4] y) { y = MatMulInteger (a, b) }"
    assert products(text) == Products(1, 4 * 3)  # one item of the batch
    open_sizes = "(uint8[2,N] a, int8[N,4] b) => (int32[2,4] y) { y = MatMulInteger (a, b) }"
    assert products(open_sizes) == Products(1, None)


def test_convolutions() -> None:
    text = "(uint8[1,2,5,5] a, int8[3,2,3,3] b) => (int32[1,3,3,3] y) { y = ConvInteger (a, b) }"
    assert products(text) == Products(1, 3 * 9 * 2 * 9)
    text = """(int8[1,2,4,4] a, int8[2,3,2,2] b) => (float[1,3,5,5] y) <float t = {0.25}> {
        d = DequantizeLinear (a, t) w = DequantizeLinear (b, t) y = ConvTranspose (d, w) }"""
    assert products(text) == Products(1, 2 * 16 * 3 * 4)
