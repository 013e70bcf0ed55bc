"""Between which integers integers lie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import parser

from graphfix.analysis.folding.whole_ranges import WholeRanges
from graphfix.authoring.registry import shipped_passes
from graphfix.ir.views import Value
from graphfix.pipeline.model_files import load
from graphfix.pipeline.model_types import infer_types

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (bool[2,3] m, uint8[3] u, int64[3] x) => (y) '


OPERATORS = ("Add", "Sub", "Mul", "Div")


def range_of(body: str, constants: str = "") -> tuple[int, int] | None:
    model = load(parser.parse_model(f"{HEAD}{constants} {{ {body} }}"))
    infer_types(model, shipped_passes())
    return WholeRanges().of(Value(model.graph.outputs[0]))


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("y = Cast <to = 7> (m)", (0, 1)),
        ("c = Cast <to = 7> (m) y = ReduceSum (c)", (0, 6)),
        ("c = Cast <to = 7> (m) n = Neg (c) y = ReduceSum (n)", (-6, 0)),
        ("y = Cast <to = 6> (u)", (0, 255)),
        ("c = Cast <to = 6> (u) y = Mul (c, c)", (0, 65025)),
        ("c = Cast <to = 6> (u) d = Neg (c) y = Sub (d, c)", (-510, 0)),
        ("c = Cast <to = 6> (u) d = Neg (c) y = Abs (d)", (0, 255)),
        ("c = Cast <to = 6> (u) d = Neg (c) y = Concat <axis = 0> (c, d)", (-255, 255)),
        ("c = Cast <to = 6> (u) d = Neg (c) y = Div (d, c)", (-255, 255)),
        ("c = Cast <to = 6> (u) y = Mod (c, c)", (-254, 254)),
        ("c = Cast <to = 6> (u) d = Neg (c) y = Max (c, d)", (0, 255)),
        ("c = Cast <to = 6> (u) d = Neg (c) y = Min (c, d)", (-255, 0)),
        ("y = Sign (x)", (-1, 1)),
        ("f = Cast <to = 1> (m) y = ArgMax (f)", (0, 6)),
        ("y = Shape (x)", (0, 3)),
    ],
)
def test_what_the_graph_tells(body: str, found: tuple[int, int]) -> None:
    assert range_of(body) == found


@pytest.mark.parametrize(
    "body",
    [
        "y = Neg (x)",
        "c = Cast <to = 1> (x) y = Cast <to = 7> (c)",
        "c = Cast <to = 7> (m) y = Add (c, x)",
        "s = Shape (u) n = Max (s, x) y = Neg (n)",
    ],
)
def test_what_it_does_not_tell(body: str) -> None:
    assert range_of(body) is None


def test_what_wraps_around_has_the_range_of_its_type() -> None:
    assert range_of("y = Add (u, u)") == (0, 255)
    wide = "c = Cast <to = 6> (u) d = Mul (c, c) e = Mul (d, d) y = Neg (e)"
    assert range_of(wide) is None


def test_remainders_by_a_constant_and_what_holds_a_size_of_0() -> None:
    assert range_of("y = Mod (x, k)", "<int64 k = {7}>") == (0, 6)
    assert range_of("y = Mod <fmod = 1> (x, k)", "<int64 k = {-7}>") == (-6, 6)
    assert range_of("e = Reshape (x, s) y = Shape (e)", "<int64[2] s = {0, 1}>") == (0, 3)


@given(
    st.lists(st.integers(-50, 50), min_size=3, max_size=3),
    st.sampled_from(["Add", "Sub", "Mul", "Div"]),
)
def test_a_computed_number_is_in_the_range(numbers: list[int], op: str) -> None:
    text = ", ".join(map(str, numbers))
    found = range_of(
        f"c = Cast <to = 7> (u) r = Mod (c, k) y = {op} (r, a)",
        f"<int64[3] a = {{{text}}}, int64 k = {{9}}>",
    )
    assert found is not None
    first = np.arange(9)
    for other in (n for n in numbers if n or op != "Div"):
        results = {
            "Add": first + other,
            "Sub": first - other,
            "Mul": first * other,
            "Div": np.trunc(first / (other or 1)),
        }[op]
        assert found[0] <= results.min()
        assert results.max() <= found[1]
