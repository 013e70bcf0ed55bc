"""--dim and --shape: sizes that are declared, everywhere, and equal there."""

from __future__ import annotations

import pytest

from graphfix import UsageError, edits
from graphfix.analysis.inference import type_text
from graphfix.edits import Dim, Shape
from tests.edits.small_models import BRANCHES, HEAD, TOWER, checked, parsed, ran, samples

IMAGES = (
    HEAD
    + """
g (float[N, 3, H, width] x, float[N, 1] k) => (float[N, 3, H, width] y, float[?, ?] z)
{
  y = Mul (x, x)
  s = Shape <start = 0, end = 1> (x)
  m = Constant <value_ints = [-1]> ()
  t = Concat <axis = 0> (s, m)
  z = Reshape (k, t)
}
"""
)


def types(found: edits.Edited) -> dict[str, str]:
    graph = checked(found).graph
    return {info.name: type_text(info.type) for info in (*graph.input, *graph.output)}


def test_a_symbol_is_bound_wherever_it_is_declared() -> None:
    found = edits.dim(parsed(IMAGES), "N", 2)
    assert types(found) == {
        "x": "float32[2, 3, H, width]",
        "k": "float32[2, 1]",
        "y": "float32[2, 3, H, width]",
        "z": "float32[2, 1]",
    }
    assert found.steps[0].said[0] == "N is 2"
    after = checked(edits.dim(parsed(BRANCHES), "N", 3))
    body = after.graph.node[1].attribute[0].g
    assert type_text(body.output[0].type) == "float32[3, 4]"


def test_a_shape_is_fixed_in_part_and_its_symbols_called_differently() -> None:
    found = edits.shape(parsed(IMAGES), "x", (1, 3, "rows", None))
    assert types(found)["x"] == "float32[1, 3, rows, width]"
    assert types(found)["k"] == "float32[1, 1]"
    x = samples(1, 3, 2, 5)
    assert (ran(checked(found), x=x, k=samples(1, 1))["y"] == x * x).all()


def test_an_unknown_rank_gets_one() -> None:
    text = HEAD + "g (float[A] x) => (float[A] y) { y = Neg (x) }"
    model = parsed(text)
    for info in (model.graph.input[0], model.graph.output[0]):
        info.type.tensor_type.ClearField("shape")
    after = checked(edits.shape(model, "x", (2, "N")))
    assert type_text(after.graph.input[0].type) == "float32[2, N]"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (Dim("M", 1), "--dim M=1: the model has no input with the size 'M' (it has: H, N, width)"),
        (Shape("q", (1,)), "--shape q=1: the model has no input 'q' (it has: x, k)"),
        (Shape("x", (1, 3)), "the input has 4 dimensions, not 2"),
        (Shape("x", (1, 4, 2, 2)), "a dimension of the input is 3 and cannot become 4"),
        (Shape("x", ("N", "C", 2, 2)), "a dimension of the input is 3 and cannot become C"),
    ],
)
def test_refusals(edit: Dim | Shape, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        edits.edit(parsed(IMAGES), [edit])
    assert said in str(caught.value)


def test_one_symbol_cannot_be_two_sizes() -> None:
    text = TOWER.replace("float[N, 4] x", "float[N, 4] x, float[N, N] q")
    with pytest.raises(UsageError, match="'N' cannot be 1 and 2 at once"):
        edits.shape(parsed(text), "q", (1, 2))
