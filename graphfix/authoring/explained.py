"""Constants of which a proof knows how they follow from others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx
from msgspec import Struct
from onnx import AttributeProto, NodeProto, TensorProto

from graphfix.ir.exporting import export_node
from graphfix.ir.graph import Constant, Node


class Explained(Struct):
    """A constant, and nodes that compute it.

    Attributes:
        name: Of the constant.
        nodes: They, in an order that runs; they are in no graph.
        constants: Small ones that they read.
        result: What they compute it as.
    """

    name: str
    nodes: Sequence[Node]
    constants: Sequence[Constant]
    result: str

    def protos(self) -> Iterator[NodeProto]:
        """Yield nodes that compute the constant under its name, from what the graph has alone."""
        for constant in self.constants:
            proto = constant.weights.proto
            assert isinstance(proto, TensorProto)  # arrays are what a builder makes them of
            stored = NodeProto(op_type="Constant", output=[constant.name])
            stored.attribute.add(name="value", type=AttributeProto.TENSOR, t=proto)
            yield stored
        for node in self.nodes:
            yield export_node(node)
        yield onnx.helper.make_node("Identity", [self.result], [self.name])
