"""The rules of tract, and what its messages name."""

from __future__ import annotations

import pytest

from graphfix.engines.engine import engine_of
from tests.engines.cases import (
    check,
    model_of,
)

T = "tract0.23"


@pytest.mark.parametrize(
    ("size", "read"),
    [
        ("N", True),
        ("s71", True),
        ("(N)", True),
        ("2*N", True),
        ("N/2", True),
        ("N + 1", True),
        ("N//2", False),
        ("(s71//2)", False),
        ("N*M", False),
        ("Mod(N, 4)", False),
        ("unk__0", False),
        ("", False),
    ],
)
def test_declared_sizes_that_tract_reads(size: str, read: bool) -> None:
    model = model_of("(float[6] x) => (float[6] y) <float[6] a> { a = Exp (x) y = Neg (a) }")
    dim = model.graph.value_info[0].type.tensor_type.shape.dim[0]
    dim.dim_param = size
    if not size:
        dim.Clear()
    rules = [finding.rule for finding in check(model, T)]
    assert ("declared-symbols" in rules) == read


@pytest.mark.parametrize(
    ("length", "wrong"), [("8", False), ("4", True), ("16", True)], ids=["its own", "less", "more"]
)
def test_transforms_of_a_length_of_their_own(length: str, wrong: bool) -> None:
    graph = (
        f"(float[1,8,1] x) => (float[a,b,c] y) <int64 n = {{{length}}}>"
        "{ y = DFT <axis = 1> (x, n) }"
    )
    rules = [finding.rule for finding in check(model_of(graph), T)]
    assert ("transform-of-a-length" in rules) == wrong


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ('analyse: Failed analyse for node #8 "node_arange" Range Caused by', ("", "node_arange")),
        ('Translating node #5 "/Loop" Unimplemented(Loop) ToTyped', ("Loop", "/Loop")),
        ('Evaluating #18 "node_Equal" Eq Caused by', ("", "node_Equal")),
        (
            "parse: Building node Attention_1 (MultiHeadAttention)",
            ("MultiHeadAttention", "Attention_1"),
        ),
        ("something else", ("", "")),
    ],
)
def test_what_a_message_names(said: str, named: tuple[str, str]) -> None:
    assert engine_of("tract").blamed(said) == named
