"""Forms of opsets below 7."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

X = "(float[2,3,4,5] x) => (float[m,n,o,p] y) "
ENDED = [
    ('{ y = Cast <to = "FLOAT"> (x) }', 5),
    ("{ y = Concat (x, x) }", 3),
    ("{ y = LpPool <p = 2.0, kernel_shape = [2, 2]> (x) }", 1),
    ("{ y = Pad <paddings = [0, 0, 1, 1, 0, 0, 1, 1]> (x) }", 1),
    ("{ y = Upsample <height_scale = 2.0, width_scale = 2.0> (x) }", 6),
]


@pytest.mark.parametrize(("nodes", "opset"), ENDED)
def test_forms_whose_attributes_the_parser_does_not_find(nodes: str, opset: int) -> None:
    said = Yes(X + nodes, "ended-form", "opset:too-low", "reject", "Attribute not found")
    assert_yes(said._replace(opset=opset))


def test_forms_that_say_it_as_the_later_ones_do() -> None:
    assert_no(No(X + "{ y = Concat <axis = 1> (x, x) }", "ended-form", opset=3))
    assert_no(No(X + "{ y = Cast <to = 1> (x) }", "ended-form", opset=6))


def test_what_is_read_as_something_else() -> None:
    graph = "(float[2,3] x, float[2] s) => (float[2,1] y, float[2,2] z) { y, z = Split (x, s) }"
    assert_yes(Yes(graph, "ended-form-misread", "opset:too-low", "wrong", opset=1))
    plain = "(float[2,4] x) => (float[2,2] y, float[2,2] z) { y, z = Split <axis = 1> (x) }"
    assert_no(No(plain, "ended-form-misread", opset=1))
