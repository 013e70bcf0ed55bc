"""Sizes at which a model that makes values of sizes may change what it computes."""

from __future__ import annotations

import pytest
from onnx import parser

from graphfix.proving.inputs.telling_sizes import telling_sizes

CONSTS = (
    "<int64[1] k = {7}, int64[1] two = {2}, float[1] half = {0.5}, int64[1] zero = {0}, "
    "float[6, 4] table = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}>"
)


def sizes_of(body: str, output: str = "int64[A] y", source: str = "s = Shape (x)") -> list[int]:
    text = (
        f'<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => ({output}) {CONSTS} '
        f"{{ {source} {body} }}"
    )
    return telling_sizes([parser.parse_model(text).graph])


def around(number: int) -> set[int]:
    return {number - 1, number, number + 1}


def test_no_sizes_where_no_size_becomes_a_value() -> None:
    relu = "y = Mul (x, half)"
    assert sizes_of(relu, "float[N] y", source="") == []
    assert sizes_of("y = Identity (s)") == []
    assert sizes_of("y = Concat <axis = 0> (s, k)") == []


@pytest.mark.parametrize(
    ("to", "end"),
    [(2, 256), (3, 128), (4, 65536), (5, 32768), (10, 2049), (16, 257), (1, (1 << 24) + 1)],
)
def test_the_ends_of_types(to: int, end: int) -> None:
    assert sizes_of(f"a = Cast <to = {to}> (s) y = Cast <to = 7> (a)") == sorted(
        around(end) | around(2 * end)
    )


@pytest.mark.parametrize("op", ["Equal", "Less", "Greater", "Min", "Max", "Mod", "Div", "Sub"])
@pytest.mark.parametrize("first", [True, False])
def test_numbers_that_a_size_meets(op: str, first: bool) -> None:
    operands = "s, k" if first else "k, s"
    assert around(7) <= set(sizes_of(f"a = {op} ({operands}) y = Cast <to = 7> (a)"))


def test_a_size_is_followed_through_what_is_computed_with_it() -> None:
    found = set(sizes_of("d = Div (s, two) e = Equal (d, k) y = Cast <to = 7> (e)"))
    assert around(14) <= found
    scaled = "f = Cast <to = 1> (s) m = Mul (f, half) h = Cast <to = 7> (m) e = Less (h, k)"
    assert around(14) <= set(sizes_of(f"{scaled} y = Cast <to = 7> (e)"))
    squared = "a = Cast <to = 4> (s) m = Mul (a, a) y = Cast <to = 7> (m)"
    assert around(256) <= set(sizes_of(squared))
    doubled = "a = Cast <to = 2> (s) b = Cast <to = 7> (a) m = Mul (b, two) y = Cast <to = 3> (m)"
    assert around(64) <= set(sizes_of(doubled, "int8[A] y"))


def test_how_elements_are_arranged_gives_no_numbers() -> None:
    clipped = "i = Cast <to = 7> (r) m = Mul (i, k) y = Cast <to = 3> (m)"
    assert sizes_of(f"d = Mul (s, two) r = Reshape (x, d) {clipped}", "int8[A] y") == [2, 3, 4, 5]
    filled = sizes_of(f"r = Expand (half, s) {clipped}", "int8[A] y")
    assert around(128) | around(7) <= set(filled)


def test_lengths_of_tables() -> None:
    looked_up = "y = Gather (table, s)"
    assert sizes_of(looked_up, "float[A, B] y") == sorted(around(6))
    cut = "y = Slice (table, zero, s)"
    assert around(6) <= set(sizes_of(cut, "float[A, B] y"))


def test_positions_and_both_models_are_looked_at() -> None:
    wraps = "p = ArgMax (x) y = Cast <to = 3> (p)"
    assert sizes_of(wraps, "int8[A] y", source="") == sorted(around(128) | around(256))
    plain = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => (int64[1] y) { y = Shape (x) }'
    )
    other = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => (int64[1] y) '
        "{ s = Shape (x) a = Cast <to = 2> (s) y = Cast <to = 7> (a) }"
    )
    assert telling_sizes([plain.graph]) == []
    assert telling_sizes([plain.graph, other.graph]) == [255, 256, 257, 511, 512, 513]
