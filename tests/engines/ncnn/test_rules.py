"""The rules of ncnn."""

from __future__ import annotations

from tests.engines.cases import (
    check,
    model_of,
)

T = "ncnn1.0"


def test_what_depends_on_sizes_alone_is_computed_by_pnnx() -> None:
    graph = (
        "(float[2,3] x) => (float[3,2] y) <int64[1] i = {0}, int64[1] j = {1}> { s = Shape (x)"
        " a = Gather (s, i) b = Gather (s, j) c = Concat <axis = 0> (b, a) y = Reshape (x, c) }"
    )
    assert [f.feature for f in check(model_of(graph), T) if f.blocks] == []
    open_sizes = graph.replace("float[2,3] x", "float[N,3] x")
    assert "op:Shape" in {f.feature for f in check(model_of(open_sizes), T) if f.blocks}
