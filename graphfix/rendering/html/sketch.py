"""What a repaired site was and what it became, as plain nodes and tensors to be drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from onnx import ModelProto, NodeProto

from graphfix.analysis.inference import type_text
from graphfix.authoring.evidence import Evidence, TensorFacts
from graphfix.difference.attributes import attribute_text
from graphfix.ir.graph import Shape
from graphfix.ir.storage.weights import dtype_of, type_name
from graphfix.rendering.grouping import distinct
from graphfix.rendering.style import printable, size

_MOST_NODES = 40  # of a side; what a whole body was unrolled to is no picture any more


@dataclass(frozen=True, slots=True)
class SketchNode:
    """A node, or what is at the border of a site.

    Attributes:
        op: The operator; for a stored tensor its type.
        kind: ``removed``, ``added``, ``near`` (it stays), ``weight`` or ``end`` (an input, output).
        detail: Its name, attributes or the name of the tensor.
        reads: The tensors that it reads.
        gives: The tensors that it gives, with what is known of each.
        bytes: Of a stored tensor.
    """

    op: str
    kind: str
    detail: str
    reads: tuple[str, ...]
    gives: tuple[tuple[str, str], ...]
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Sketch:
    """One side of a site.

    Attributes:
        nodes: The nodes of the site and its border, at most a picture's worth.
        left_out: How many more there are.
    """

    nodes: tuple[SketchNode, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Which operators of the model as it came give and read each tensor."""

    givers: Mapping[str, str]
    readers: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, proto: ModelProto) -> Surroundings:
        """Look at the nodes of the main graph."""
        givers: dict[str, str] = {}
        readers: dict[str, list[str]] = {}
        for node in proto.graph.node:
            givers.update((name, node.op_type) for name in node.output)
            for name in node.input:
                readers.setdefault(name, []).append(node.op_type)
        return cls(givers, {name: distinct(ops) for name, ops in readers.items()})


def sketches(evidence: Evidence, around: Surroundings) -> tuple[Sketch, Sketch]:
    """Return a site before and after, as it was taken down when it was made."""
    ends = {r.before: r.before for r in evidence.results}
    later = {r.after: r.before for r in evidence.results}
    return (
        _sketch(evidence.before, "removed", ends, evidence, around),
        _sketch(evidence.after, "added", later, evidence, around),
    )


def _sketch(
    protos: Sequence[NodeProto],
    kind: str,
    ends: Mapping[str, str],
    evidence: Evidence,
    around: Surroundings,
) -> Sketch:
    shown = protos[:_MOST_NODES]
    made = {name for proto in shown for name in proto.output if name}
    types = {name: _known_text(facts) for name, facts in evidence.known.items()}
    types.update((r.after, types.get(r.before) or types.get(r.after, "")) for r in evidence.results)
    nodes = [_node(proto, kind, types) for proto in shown]
    read = dict.fromkeys(name for proto in shown for name in proto.input if name)
    nodes += [
        _border(name, evidence.known.get(name), around)
        for name in (*read, *ends)
        if name not in made and (name in read or name in evidence.known)
    ]
    nodes += [
        SketchNode(
            " ".join(around.readers.get(old, ())) or "output", "end", printable(old), (name,), ()
        )
        for name, old in ends.items()
    ]
    return Sketch(tuple(dict.fromkeys(nodes)), len(protos) - len(shown))


def _node(proto: NodeProto, kind: str, types: Mapping[str, str]) -> SketchNode:
    said = [f"{a.name}={attribute_text(a)}" for a in proto.attribute]
    domain = f"{proto.domain}::" if proto.domain not in ("", "ai.onnx") else ""
    return SketchNode(
        printable(domain + proto.op_type),
        kind,
        # What was added bears names made of the old one, which say nothing new.
        printable(" ".join(said) or ("" if kind == "added" else proto.name)),
        tuple(name for name in proto.input if name),
        tuple((name, types.get(name, "")) for name in proto.output if name),
    )


def _border(name: str, facts: TensorFacts | None, around: Surroundings) -> SketchNode:
    """Return what stands for a tensor that a site reads and does not make."""
    known = _known_text(facts)
    if facts is not None and facts.weights is not None:
        number = _bytes(facts.weights.elem_type, facts.weights.shape)
        return SketchNode(
            known, "weight", f"{printable(name)}, {size(number)}", (), ((name, ""),), number
        )
    giver = around.givers.get(name)
    return SketchNode(
        giver or "input", "near" if giver else "end", printable(name), (), ((name, known),)
    )


def _bytes(elem_type: int, shape: Sequence[int]) -> int:
    dtype = dtype_of(elem_type)
    return prod(shape) * (dtype.itemsize if dtype is not None else 1)


def _known_text(facts: TensorFacts | None) -> str:
    if facts is None:
        return ""
    if facts.opaque is not None:
        return type_text(facts.opaque)
    return f"{type_name(facts.elem_type)}{_dims(facts.shape)}" if facts.elem_type else ""


def _dims(shape: Shape | None) -> str:
    if shape is None:
        return ""
    return "[" + ",".join("?" if dim is None else printable(str(dim)) for dim in shape) + "]"
