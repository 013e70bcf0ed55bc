"""Group normalizations as PyTorch writes them, which OpenCV 5 joins into a layer of its own."""

from __future__ import annotations

import pytest

from graphfix import run
from tests.engines.cases import model_of

NEW = "opencv5.0"
CONSTANTS = (
    "<float[2] o = {1, 1}, float[2] z = {0, 0}, float[4,1] m = {1, 2, 3, 4}, float h = {2.5},"
    " int64[3] s = {0, 2, -1}, int64[3] t = {0, 4, 9}>"
)
NORMALIZED = "r = Reshape (c, s) i = InstanceNormalization (r, o, z) q = Reshape (i, t)"


def graph(before: str, factor: str, x: str = "float[1,4,9] x", end: str = "y = Add (u, m)") -> str:
    """Return the graph of a group normalization."""
    body = f"{before} {NORMALIZED} u = Mul (q, {factor}) {end}"
    return f"({x}, float[4,4,1] w) => (float[a,b,d] y) {CONSTANTS} {{ {body} }}"


@pytest.mark.parametrize("before", ["c = Conv (x, w)", "k = Conv (x, w) c = Relu (k)"])
def test_it_is_written_out(before: str) -> None:
    result = run(model_of(graph(before, "m")), NEW)
    assert result.exit_code == 0
    assert result.model is not None
    operators = {node.op_type for node in result.model.to_proto().graph.node}
    assert "InstanceNormalization" not in operators
    assert "ReduceMean" in operators
