"""Nodes in the form of another opset than the file's: which form it is, and what it becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from onnx import NodeProto, TensorProto, TypeProto

from graphfix.ir.graph import Node
from graphfix.ir.protos import constant_of_node
from graphfix.ir.schemas import newest_opset
from graphfix.ir.views import Refuse
from graphfix.validity.complaints import fits
from graphfix.validity.mending.kinds import Kind, of_rules
from graphfix.validity.mending.operands import Unclear
from graphfix.validity.mending.scopes import Scope


class Convert(Protocol):
    """Moves a node from one opset to another; see `passes/mending/_one_node.py`."""

    def __call__(
        self,
        node: NodeProto,
        opset: int,
        wanted: int,
        types: Mapping[str, TypeProto],
        constants: Sequence[TensorProto],
    ) -> tuple[list[NodeProto], list[TensorProto]]:
        """Return nodes and constants; raises `Refuse`."""
        ...


class Reformed(Struct, frozen=True):
    """A node in the form of the file.

    Attributes:
        opset: The opset in whose form it was.
        kind: Which kind it is of.
        nodes: What is written for it.
        constants: What these nodes read besides.
    """

    opset: int
    kind: Kind
    nodes: list[NodeProto]
    constants: list[TensorProto]


class Forms(Struct, frozen=True):
    """Reads nodes in the forms of other opsets."""

    convert: Convert

    def read(self, node: Node, proto: NodeProto, opset: int, scope: Scope) -> Reformed | None:
        """Return a node in the form of the file; None where it has it, or is of no kind.

        Raises:
            Unclear: Forms on both sides fit it, or it has none at the opset of the file.
        """
        if fits(node, opset):
            return None
        kind = next((k for k in of_rules("form") if node.op in k.ops), None)
        older = [v for v in range(1, opset) if fits(node, v)]
        older = [] if older == [1] else older  # whose Split had lengths as an input, for a while
        newer = [v for v in range(opset + 1, newest_opset() + 1) if fits(node, v)]
        if kind is None or not (older or newer):
            return None
        if older and newer:
            raise Unclear(
                f"there are two readings of {node.op}: the form of opset {older[-1]}, or that of "
                f"opset {newer[0]}; the file, of opset {opset}, does not say which"
            )
        taken = older[-1] if older else newer[0]
        return self._written(proto, taken, opset, scope, kind)

    def _written(
        self, proto: NodeProto, taken: int, opset: int, scope: Scope, kind: Kind
    ) -> Reformed:
        types: dict[str, TypeProto] = {}
        constants: list[TensorProto] = []
        for name in dict.fromkeys(filter(None, proto.input)):
            known, stored = scope.type_of(name), scope.stored(name)
            if known is not None:
                types[name] = known
            if stored is not None:
                copy = TensorProto()
                copy.CopyFrom(stored)
                copy.name = name
                constants.append(copy)
        try:
            nodes, added = self.convert(proto, taken, opset, types, constants)
        except Refuse as refusal:
            raise Unclear(
                f"{proto.op_type} has the form of opset {taken}, and cannot be written at opset "
                f"{opset}: {refusal.reason}"
            ) from None
        return Reformed(taken, kind, *self._renamed(proto, nodes, added, scope))

    def _renamed(
        self,
        proto: NodeProto,
        nodes: Sequence[NodeProto],
        added: Sequence[TensorProto],
        scope: Scope,
    ) -> tuple[list[NodeProto], list[TensorProto]]:
        """Give what is new names that the file does not have."""
        kept = {name for name in (*proto.input, *proto.output) if name}
        made = [tensor.name for tensor in added]
        made += [name for node in nodes for name in node.output if name]
        fresh = {name: scope.names.new(name) for name in made if name not in kept}
        result: list[NodeProto] = []
        constants = [_called(tensor, fresh[tensor.name]) for tensor in added]
        for node in nodes:
            copy = NodeProto()
            copy.CopyFrom(node)
            for names in (copy.input, copy.output):
                for place, name in enumerate(names):
                    names[place] = fresh.get(name, name)
            if copy.name != proto.name:
                copy.name = scope.names.new(copy.name) if copy.name else ""
            stored = constant_of_node(copy)
            if stored is not None and copy.output[0] not in kept:
                constants.append(_called(stored, copy.output[0]))
            else:
                result.append(copy)
        return result, constants


def _called(tensor: TensorProto, name: str) -> TensorProto:
    copy = TensorProto()
    copy.CopyFrom(tensor)
    copy.name = name
    return copy
