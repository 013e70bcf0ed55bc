"""What became of nodes of the same kind in one step, so that thousands of them cost little.

Whether other operators can stand for a node is found by drafting each way to write it and taking
all nodes of that down as well. A network has many nodes that differ in nothing but their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from msgspec import Struct, field
from onnx import numpy_helper

from graphfix.analysis.inference import small_constant
from graphfix.ir.graph import Graph, Tensor
from graphfix.ir.schemas import AttributeRef
from graphfix.ir.views import NodeView

ENOUGH = 32  # nodes of one kind that nothing could stand in for


class Precedents(Struct):
    """The replacements of nodes of each kind.

    Attributes:
        chosen: The id of the pass that did.
        refused: How many nodes nothing could stand in for.
        late: Whether any was refused because something is computed at run time.
    """

    chosen: dict[Hashable, str] = field(default_factory=dict[Hashable, str])
    refused: Counter[Hashable] = field(default_factory=Counter[Hashable])
    late: bool = False

    def hopeless(self, kind: Hashable) -> bool:
        """Say whether so many of a kind were refused that the next one is not drafted.

        Passes look at more than the kind, so that this is sound only where the step fails anyway.
        """
        return self.refused[kind] >= ENOUGH


def kind_of(node: NodeView, lineage: tuple[str, ...]) -> Hashable:
    """Return what nodes have in common that are planned alike: all but names and surroundings."""
    attributes = tuple((name, _value(node.node.attrs[name])) for name in node.node.attrs)
    inputs = tuple(_operand(tensor) for tensor in node.node.inputs)
    outputs = tuple((t.elem_type, t.shape) for t in node.node.outputs)
    return node.op, lineage, node.node.graph.root.name, attributes, inputs, outputs


def _value(value: object) -> Hashable:
    if isinstance(value, Graph | AttributeRef):
        return id(value)
    return repr(value)


def _operand(tensor: Tensor) -> Hashable:
    constant = small_constant(tensor)
    content = numpy_helper.to_array(constant).tobytes() if constant is not None else None
    return bool(tensor.name), tensor.elem_type, tensor.shape, content
