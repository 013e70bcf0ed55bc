"""Subgraphs of nodes."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView


@rule(
    "Loop",
    feature="op:Loop",
    versions="opencv5.0..",
    severity=REJECT,
    text="fromBuf >= 0 in function 'shareBuffer'",
    source="graph_buffer_allocator.cpp:133 (5.0.0), or SIGSEGV: measured on small loops and on 18"
    " of 20 networks",
)
def loop(node: NodeView, target: Target) -> Answer:
    """OpenCV refuses most Loops or crashes on them."""
    return True
