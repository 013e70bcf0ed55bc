"""Hashes of nodes that do not depend on names or on the order of a file.

Three kinds, each at three levels:

- ``forward``: the node and all that it is computed from, down to inputs and stored tensors;
- ``backward``: the node and all that is computed from it, up to the outputs;
- ``both``: forward, with the ``both`` of every reader and the place where it reads.

Nodes of two models with the same ``both`` at level EXACT are in the same place of the same
graph; where several have the same one they are interchangeable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum

from msgspec import Struct

from graphfix.difference.attributes import attribute_key
from graphfix.difference.contents import Contents, digest
from graphfix.difference.scopes import Scope
from graphfix.ir.protos import normal_domain

Labels = Mapping[str, bytes]


class Level(IntEnum):
    """How much of a node counts."""

    EXACT = 0  # operator, attributes, stored values
    LOOSE = 1  # operator and attributes
    BARE = 2  # operator


class Signatures(Struct, frozen=True):
    """The hashes of the nodes of a scope, by position; `tensors` are the forward ones by name."""

    forward: list[bytes]
    backward: list[bytes]
    both: list[bytes]
    tensors: dict[str, bytes]


class Signer:
    """Hashes the scopes of one model."""

    def __init__(self, contents: Contents, number: int) -> None:
        """Take the stored tensors of both models and the number of this one."""
        self._contents = contents
        self._number = number

    def sign(
        self,
        scope: Scope,
        level: Level,
        inputs: Labels,
        outputs: Mapping[str, list[int]],
        outer: Labels,
    ) -> Signatures:
        """Hash a scope.

        Args:
            scope: The scope.
            level: How much counts.
            inputs: What stands for each input.
            outputs: The places of each output.
            outer: What stands for the tensors of the scopes around it.
        """
        own = [self._own(scope, index, level) for index in range(len(scope.nodes))]
        tensors = {name: self._stored(scope, name, level) for name in scope.stored}
        tensors |= inputs
        forward = self._forward(scope, level, own, tensors, outer)

        def stored_labels(index: int) -> bytes:
            names = scope.nodes[index].input
            return digest(*(tensors[n] if n in scope.stored else b"" for n in names))

        backward = _backward(scope, outputs, lambda i: digest(own[i], stored_labels(i)))
        both = _backward(scope, outputs, lambda i: forward[i])
        return Signatures(forward, backward, both, tensors)

    def _own(self, scope: Scope, index: int, level: Level) -> bytes:
        node = scope.nodes[index]
        parts = [normal_domain(node.domain), node.op_type]
        parts.append("".join("1" if name else "0" for name in node.output))
        if level is Level.BARE:
            return digest(*(part.encode() for part in parts[:2]))
        parts.append(node.overload)
        held = [
            attribute_key(a, lambda t: self._value(t, level))
            for a in sorted(node.attribute, key=lambda a: a.name)
        ]
        return digest(*(part.encode() for part in parts), *held)

    def _value(self, tensor: object, level: Level) -> bytes:
        from onnx import SparseTensorProto, TensorProto

        if level is not Level.EXACT:
            return b"tensor"
        assert isinstance(tensor, TensorProto | SparseTensorProto)
        return self._contents.label(tensor, self._number)

    def _stored(self, scope: Scope, name: str, level: Level) -> bytes:
        kind = b"overridable" if name in scope.overridable else b"stored"
        if level is not Level.EXACT:
            return digest(kind)
        return digest(kind, self._contents.label(scope.stored[name], self._number))

    def _forward(
        self,
        scope: Scope,
        level: Level,
        own: list[bytes],
        tensors: dict[str, bytes],
        outer: Labels,
    ) -> list[bytes]:
        forward = [b""] * len(scope.nodes)
        for index in scope.order:
            node = scope.nodes[index]
            read = [_look_up(name, tensors, outer) for name in node.input]
            subgraphs: list[bytes] = []
            if index in scope.subgraphs:
                around = {**outer, **tensors}
                for attribute, body in sorted(scope.subgraphs[index].items()):
                    subgraphs += [attribute.encode(), self.sign_body(body, level, around)]
            forward[index] = digest(own[index], *read, b"subgraphs", *subgraphs)
            for position, name in enumerate(node.output):
                if name:
                    tensors[name] = digest(forward[index], str(position).encode())
        return forward

    def sign_body(self, body: Scope, level: Level, outer: Labels) -> bytes:
        """Return what stands for a whole body."""
        inputs = {name: digest(b"input", str(i).encode()) for i, name in enumerate(body.inputs)}
        own = [self._own(body, index, level) for index in range(len(body.nodes))]
        tensors = {name: self._stored(body, name, level) for name in body.stored} | inputs
        forward = self._forward(body, level, own, tensors, outer)
        results = [_look_up(name, tensors, outer) for name in body.outputs]
        return digest(str(len(inputs)).encode(), *results, b"nodes", *sorted(forward))


def _look_up(name: str, tensors: Labels, outer: Labels) -> bytes:
    if not name:
        return b""
    return tensors.get(name) or outer.get(name) or b"undefined"


def _backward(
    scope: Scope, outputs: Mapping[str, list[int]], own: Callable[[int], bytes]
) -> list[bytes]:
    result = [b""] * len(scope.nodes)
    for index in reversed(scope.order):
        parts: list[bytes] = [own(index)]
        for name in scope.nodes[index].output:
            readers = scope.readers.get(name, ()) if name else ()
            uses = sorted(digest(result[i], str(place).encode()) for i, place in readers)
            places = "".join(f"output {place};" for place in outputs.get(name, ()))
            parts.append(digest(places.encode(), *uses))
        result[index] = digest(*parts)
    return result
