"""What releases of TensorRT are reported to compute wrongly and no row can say.

The reports are of TensorRT; of TensorRT for RTX there is none, so that it is left out.
"""

from __future__ import annotations

from graphfix.analysis.memo import kept
from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.graph import Graph
from graphfix.ir.views import NodeView

_REPORTED = "trt"


@rule(
    "CumSum",
    feature="form:CumSum.ways",
    versions="trt10.8..",
    severity=WRONG,
    source="onnx/onnx-tensorrt issue 1034 (10.8, where its layer is new, to 10.11: the sums of two"
    " axes run along one of them); NVIDIA/TensorRT issues 4551 (10.11), 4513 (reverse)",
)
def cumsum_next_to_another(node: NodeView, target: Target) -> Answer:
    """TensorRT runs CumSum along different axes or in different directions along one of them."""
    if target.family != _REPORTED:
        return None
    count, ways = _ways(node.graph.root)
    if count <= 1:
        return None
    return Unknown("the axes of all CumSum") if None in ways else len(ways) > 1


@kept
def _ways(graph: Graph) -> tuple[int, frozenset[tuple[int, bool] | None]]:
    """Return how many CumSum there are, and their axes and directions."""
    nodes = [NodeView(node) for each in graph.walk() for node in each.nodes if node.op == "CumSum"]
    return len(nodes), frozenset(map(_way, nodes))


def _way(node: NodeView) -> tuple[int, bool] | None:
    """Return axis and direction; None where the axis is not known."""
    x, axis = node.need(0), node.need(1).array()
    if x.rank is None or axis is None or axis.size != 1:
        return None
    return int(axis.reshape(())) % max(x.rank, 1), bool(node.attr("reverse", 0))


@rule(
    "GridSample",
    feature="op:GridSample",
    versions="trt10.14..",
    severity=WRONG,
    source="NVIDIA/TensorRT issue 4813 (10.14.1 and 11.1, right in 10.13, float32 and float16);"
    " pytorch/TensorRT issue 4074 (since 10.14.1); lightly-ai/lightly-train pull request 917: it"
    " depends on what is around the node, alone it is right",
)
def grid_sample_among_others(node: NodeView, target: Target) -> Answer:
    """TensorRT from 10.14 on computes GridSample wrongly in some networks."""
    if target.family != _REPORTED:
        return None
    rank = node.need(0).rank
    return None if rank not in (4, None) else Unknown("what TensorRT joins with GridSample")
