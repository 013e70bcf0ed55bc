"""OpenVINO: a quantized tensor that is cast and scaled by a larger one."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

NEW, OLD = "openvino2026.4", "openvino2024.0"
RULE = "cast-scaled-by-a-wider-tensor"
CAST = "d = Cast <to = 1> (q) "
SUB = CAST + "c = Sub (d, f) y = Mul (c, s)"
MORE = ", float[1, 3] o"


def graph(x: str, s: str, nodes: str, more: str = "", kind: str = "uint8") -> str:
    return (
        f"(float[{x}] x, float[{s}] s) => (float[a, b] y{more}) "
        f"<float k = {{0.5}}, {kind} z = {{2}}, float f = {{2}}, float[2, 1] w = {{1, 2}}> "
        f"{{ q = QuantizeLinear (x, k, z) {nodes} }}"
    )


@pytest.mark.parametrize(
    ("x", "s", "nodes"),
    [
        ("1, 3", "2, 3", CAST + "y = Mul (d, s)"),
        ("1, 3", "2, 3", CAST + "y = Mul (s, d)"),
        ("1, 3", "2, 3", SUB),
        ("1, 3", "N, 3", SUB),
        ("1, 3", "1, 3", CAST + "c = Sub (d, w) y = Mul (c, s)"),
        ("1, 3", "2, 3", CAST + "c = Sub (d, s) y = Mul (c, f)"),
        ("2, 1, 3", "4, 3", SUB),
        ("N, 1", "N, 3", SUB),
        ("1, 3", "2, 3", SUB.replace("to = 1", "to = 10")),
        ("1, 3", "2, 3", SUB.replace("to = 1", "to = 11")),
    ],
)
def test_larger_factors_that_are_computed(x: str, s: str, nodes: str) -> None:
    assert_yes(Yes(graph(x, s, nodes), RULE, "form:Cast.quantized", "wrong", target=NEW))


def test_types_and_versions() -> None:
    for kind in ("int8", "int16", "uint16"):
        text = graph("1, 3", "2, 3", SUB, kind=kind)
        assert_yes(Yes(text, RULE, "form:Cast.quantized", "wrong", target=NEW, opset=21))
    four = "(float[1, 3] x, float[2, 3] s) => (float[2, 3] y) <float k = {0.5}> { q = %s y = %s }"
    four %= ("QuantizeLinear <output_dtype = 22> (x, k) " + CAST, "Mul (d, s)")
    assert_no(No(four, RULE, target=NEW, opset=21))
    assert_no(No(graph("1, 3", "2, 3", SUB), RULE, target=OLD))


@pytest.mark.parametrize(
    ("x", "s", "nodes", "more"),
    [
        ("2, 3", "2, 3", SUB, ""),
        ("2, 3", "1, 3", SUB, ""),
        ("2, 3", "4, 2, 3", SUB, ""),
        ("N, 3", "N, 3", SUB, ""),
        ("N, 3", "1, 3", SUB, ""),
        ("1, 3", "2, 3", CAST + "c = Sub (d, f) t = Mul (c, w) y = Add (t, s)", ""),
        ("1, 3", "2, 3", CAST + "c = Sub (f, d) y = Mul (c, s)", ""),
        ("1, 3", "2, 3", CAST + "c = Add (d, f) y = Mul (c, s)", ""),
        ("1, 3", "2, 3", CAST + "c = Sub (d, f) y = Div (c, s)", ""),
        ("1, 3", "2, 3", CAST + "y = Add (d, s)", ""),
        ("1, 3", "2, 3", "i = Cast <to = 6> (q) d = Cast <to = 1> (i) y = Mul (d, s)", ""),
        ("1, 3", "2, 3", SUB + " o = Exp (c)", MORE),
        ("1, 3", "2, 3", SUB + " o = Exp (d)", MORE),
        ("1, 3", "2, 3", SUB + " o = DequantizeLinear (q, k, z)", MORE),
        ("1, 3", "2, 3", SUB.replace("d", "o"), MORE),
    ],
)
def test_what_it_computes_right(x: str, s: str, nodes: str, more: str) -> None:
    assert_no(No(graph(x, s, nodes, more), RULE, target=NEW))


def test_sizes_that_are_not_known() -> None:
    assert_unknown(Unknown(graph("N, 3", "M, 3", SUB), RULE, "sizes of q", target=NEW))
    assert_unknown(Unknown(graph("N, 3", "2, 3", SUB), RULE, "sizes of q", target=NEW))
    late = "t = acme.Foo (s) d = Cast <to = 1> (q) y = Mul (d, t)"
    assert_unknown(Unknown(graph("1, 3", "2, 3", late), RULE, "rank of t", target=NEW))
