"""What a pass asks of ranks, and how it says that they are others."""

from __future__ import annotations

import pytest
from onnx import parser

from graphfix import load
from graphfix.authoring import NodeView, Refuse, Value, need_rank, need_rank_of


def value(kind: str) -> Value:
    text = f'<ir_version: 8, opset_import: ["" : 17]> g ({kind} x) => ({kind} y) {{ y = Neg(x) }}'
    return NodeView(load(parser.parse_model(text)).graph.nodes[0]).need(0)


def test_the_rank_is_returned_where_it_is_what_is_asked_for() -> None:
    assert need_rank(value("float")) == 0
    assert need_rank(value("float[2, N]")) == 2
    assert need_rank(value("float[2, N]"), 2) == 2
    assert need_rank_of(value("float[2, N]"), 1, 2) == 2


@pytest.mark.parametrize(
    ("kind", "ranks", "least", "said"),
    [
        ("float[]", (), 0, "must be known"),
        ("float[]", (), 2, "must be at least 2; it is unknown"),
        ("float", (), 1, "must be at least 1; it is 0"),
        ("float[3]", (), 2, "must be at least 2; it is 1"),
        ("float[]", (4,), 0, "must be 4; it is unknown"),
        ("float", (2, 3), 0, "must be 2 or 3; it is 0"),
    ],
)
def test_a_refusal_says_what_it_must_be_and_is(
    kind: str, ranks: tuple[int, ...], least: int, said: str
) -> None:
    x = value(kind)
    with pytest.raises(Refuse, match=f"^the rank of x {said}$"):
        need_rank_of(x, *ranks) if ranks else need_rank(x, least)
