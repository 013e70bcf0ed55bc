"""A Split that names no sizes and whose parts are not of one size."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

RULE, FEATURE = "split-in-parts-of-unequal-sizes", "form:Split.uneven"
ENGINES = {
    "mnn3.6": ("wrong", ""),
    "opencv4.10": ("reject", "inpShape[axis_rw] % splits == 0"),
    "rknn2.3": ("reject", "Cannot split using values in 'split' attribute."),
    "tflite1.29": ("reject", "evenly divide the split dimension"),
}
ENDS = "({type}[2,{n}] x) => ({type}[2,A] y, {type}[2,B] z) "
PARTS = ENDS + "{{ y, z = Split <axis = {axis}, num_outputs = 2> (x) }}"
NAMED = ENDS + "<int64[2] s = {{4, 3}}> {{ y, z = Split <axis = 1> (x, s) }}"


@pytest.mark.parametrize("target", ENGINES)
@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.parametrize("dtype", ["float", "int64"])
def test_the_last_part_is_smaller(target: str, axis: int, dtype: str) -> None:
    severity, text = ENGINES[target]
    graph = PARTS.format(type=dtype, n=7, axis=axis)
    assert_yes(Yes(graph, RULE, FEATURE, severity, text, target, 18))


@pytest.mark.parametrize("target", ENGINES)
def test_equal_parts_and_named_sizes_are_taken(target: str) -> None:
    for graph in (PARTS.format(type="float", n=8, axis=1), NAMED.format(type="float", n=7)):
        assert_no(No(graph, RULE, target, 18))


@pytest.mark.parametrize("target", ENGINES)
def test_an_unknown_size_is_not_judged(target: str) -> None:
    graph = PARTS.format(type="float", n="N", axis=1)
    assert_unknown(Unknown(graph, RULE, "size of x", target, 18))
