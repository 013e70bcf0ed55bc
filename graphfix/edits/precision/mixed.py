"""A model with some of its nodes in another float type, and casts where types meet.

A tensor that is read in both types has its name in the old one; in the new one it is called after
it. So inputs, outputs and what subgraphs read keep name and type.
"""

from __future__ import annotations

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphfix.edits.precision.plan import Plan, Slots, tensors_of_subgraphs
from graphfix.ir.protos import copied
from graphfix.ir.storage.weights import dtype_of, load_array, type_name


def converted(proto: ModelProto, plan: Plan, elements: dict[str, int], base_dir: str) -> ModelProto:
    """Return a model in which the nodes of a plan compute in its type.

    Args:
        proto: The model, which is not changed.
        plan: The nodes.
        elements: The element types of its tensors.
        base_dir: Where external data lies.
    """
    return _Writer(proto, plan, elements, base_dir).written()


class _Writer:
    def __init__(
        self, proto: ModelProto, plan: Plan, elements: dict[str, int], base_dir: str
    ) -> None:
        self.proto, self.plan, self.elements = proto, plan, elements
        self.base_dir = base_dir
        graph = proto.graph
        inputs = {info.name for info in graph.input}  # a caller may feed these, stored or not
        self.stored = {t.name: t for t in graph.initializer if t.name not in inputs}
        self.old, self.new = self._readers(graph)
        self.made_new = {
            name
            for place, slots in plan.slots.items()
            for name in (graph.node[place].output[i] for i in slots.outputs)
        }
        self.taken = {*elements, *self.stored, *(n for node in graph.node for n in node.output)}
        self.names: dict[str, str] = {}
        self.nodes: list[NodeProto] = []
        self.tensors: list[TensorProto] = []

    def _readers(self, graph: GraphProto) -> tuple[set[str], set[str]]:
        """Return the tensors that are read in the old type, and those in the new one."""
        old = {info.name for info in graph.output} | set(tensors_of_subgraphs(graph))
        new: set[str] = set()
        for place, node in enumerate(graph.node):
            slots = self.plan.slots.get(place)
            inputs = slots.inputs if slots is not None else ()
            if place in self.plan.either:
                continue
            for i, name in enumerate(node.input):
                (new if i in inputs else old).add(name)
        return old, new

    def written(self) -> ModelProto:
        graph = self.proto.graph
        for info in graph.input:
            if info.name in self.new:
                self.nodes.append(self._cast(info.name, self._named(info.name), self.plan.target))
        for place, node in enumerate(graph.node):
            self._node(place, node)
        result = copied(self.proto)
        result.graph.ClearField("node")
        result.graph.node.extend(self.nodes)
        self._store(result.graph)
        made = [info for info in result.graph.value_info if info.name in self.made_new]
        for info in made:
            if info.name not in self.old:
                info.type.tensor_type.elem_type = self.plan.target
        return result

    def _node(self, place: int, node: NodeProto) -> None:
        slots = self.plan.slots.get(place)
        if slots is not None and place in self.plan.summed:
            self._summed(node, slots)
            return
        new = copied(node)
        self.nodes.append(new)
        if place in self.plan.either and node.input[0] in self.made_new | self.stored.keys():
            read_old = node.input[0] in self.old
            new.input[0] = node.input[0] if read_old else self._named(node.input[0])
        if slots is None:
            for name in node.output:
                if name in self.new:
                    self.nodes.append(self._cast(name, self._named(name), self.plan.target))
            return
        for i in slots.inputs:
            new.input[i] = self._named(node.input[i])
        for i in slots.outputs:
            name = node.output[i]
            new.output[i] = self._named(name)
            if name in self.old:
                self.nodes.append(self._cast(self._named(name), name, self.elements[name]))
            if node.op_type == "Cast":
                self._retype(new)
            elif node.op_type == "Constant":
                new.attribute[0].t.CopyFrom(self._tensor(node.attribute[0].t, ""))

    def _summed(self, node: NodeProto, slots: Slots) -> None:
        """Add a node that reads and gives the new type, between casts, and computes in the old."""
        new = copied(node)
        for i in slots.inputs:
            new.input[i] = self._free(f"{node.input[i]}_wide")
            wide = self.elements[node.input[i]]
            self.nodes.append(self._cast(self._named(node.input[i]), new.input[i], wide))
        self.nodes.append(new)
        for i in slots.outputs:
            name = node.output[i]
            new.output[i] = self._free(f"{name}_wide")
            self.nodes.append(self._cast(new.output[i], self._named(name), self.plan.target))
            if name in self.old:
                self.nodes.append(self._cast(self._named(name), name, self.elements[name]))

    def _retype(self, node: NodeProto) -> None:
        for attribute in node.attribute:
            if attribute.name == "to":
                attribute.i = self.plan.target

    def _named(self, name: str) -> str:
        """Return what a tensor is called in the new type."""
        if name in self.names:
            return self.names[name]
        new = name
        if not (name in self.made_new or name in self.stored) or name in self.old:
            new = self._free(f"{name}_{type_name(self.plan.target)}")
        self.names[name] = new
        return new

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _cast(self, source: str, target: str, kind: int) -> NodeProto:
        return helper.make_node("Cast", [source], [target], f"{target}_cast", to=kind)

    def _store(self, graph: GraphProto) -> None:
        kept: list[TensorProto] = []
        for tensor in self.proto.graph.initializer:
            name = tensor.name
            if name not in self.new or name not in self.stored:
                kept.append(tensor)
                continue
            if name in self.old:
                kept.append(tensor)
            kept.append(self._tensor(tensor, self._named(name)))
        tensors = [copied(tensor) for tensor in kept]
        graph.ClearField("initializer")
        graph.initializer.extend(tensors)

    def _tensor(self, tensor: TensorProto, name: str) -> TensorProto:
        """Return a stored tensor in the new type, rounded to nearest."""
        values = np.asarray(load_array(tensor, self.base_dir))
        with np.errstate(over="ignore"):
            new = numpy_helper.from_array(values.astype(dtype_of(self.plan.target)), name)
        new.doc_string = tensor.doc_string
        return new
