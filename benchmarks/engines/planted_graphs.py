"""Graphs of ordinary nodes with one operator among them that an engine refuses."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)

_FEWEST, _MOST = 8, 15
_SINGLE = ("Relu", "Sigmoid", "Tanh", "Abs", "Neg")
_PAIR = ("Add", "Sub", "Mul", "Max")
_CHANNELS_FIRST = 4  # the rank of what windows move over
_FLOAT = TensorProto.FLOAT


@dataclass(frozen=True, slots=True)
class Planted:
    """A graph that an engine is asked about.

    Attributes:
        model: The graph with the operator in it.
        control: The ordinary nodes alone.
        outputs: The outputs of the operator, by which a finding names it.
    """

    model: ModelProto
    control: ModelProto
    outputs: tuple[str, ...]


@dataclass(slots=True)
class _Graph:
    """Ordinary nodes on tensors of one shape."""

    rng: random.Random
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    stored: list[TensorProto] = field(default_factory=list[TensorProto])

    def grow(self, start: str, shape: Sequence[int], count: int) -> list[str]:
        """Add nodes after a tensor; return it and what they make, all of its shape."""
        values = [start]
        for _ in range(count):
            values.append(self._node(values, shape))
        return values

    def _node(self, values: list[str], shape: Sequence[int]) -> str:
        number = len(self.nodes)
        out, first = f"t{number}", self.rng.choice(values[-3:])
        kinds = ["single", "pair", "constant"]
        kinds += ["window", "convolution"] * (len(shape) == _CHANNELS_FIRST)
        kind = self.rng.choice(kinds)
        if kind == "single":
            node = helper.make_node(self.rng.choice(_SINGLE), [first], [out])
        elif kind == "pair":
            other = self.rng.choice(values)
            node = helper.make_node(self.rng.choice(_PAIR), [first, other], [out])
        elif kind == "constant":
            node = helper.make_node(self.rng.choice(_PAIR), [first, self._constant(shape)], [out])
        elif kind == "window":
            node = helper.make_node(
                "MaxPool", [first], [out], kernel_shape=[3, 3], pads=[1, 1, 1, 1]
            )
        else:
            weights = self._constant((shape[1], shape[1], 3, 3))
            node = helper.make_node(
                "Conv", [first, weights], [out], kernel_shape=[3, 3], pads=[1, 1, 1, 1]
            )
        node.name = f"ordinary{number}"
        self.nodes.append(node)
        return out

    def _constant(self, shape: Sequence[int]) -> str:
        name = f"c{len(self.stored)}"
        drawn = np.random.default_rng(self.rng.getrandbits(32)).uniform(0.1, 1.0, tuple(shape))
        self.stored.append(numpy_helper.from_array(drawn.astype(np.float32), name))
        return name


def planted(probe: ModelProto, rng: random.Random) -> Planted | None:
    """Plant the one node of a model at a random place.

    None where no tensor can lead to it, or where it has subgraphs, which read by name what is
    around.

    Args:
        probe: A model of one node, whose inputs have fixed sizes.
        rng: Draws the graph and the place.
    """
    graph = probe.graph
    if len(graph.node) != 1 or any(a.HasField("g") for a in graph.node[0].attribute):
        return None
    entry = next((info for info in graph.input if _is_plain(info)), None)
    if entry is None:
        return None
    grown, count = _Graph(rng), rng.randint(_FEWEST, _MOST)
    place = rng.randint(0, count)
    shape = _sizes(entry)
    values = grown.grow("start", shape, place)
    node = _renamed(graph.node[0], {entry.name: rng.choice(values)})
    inputs = [info for info in graph.input if info.name != entry.name]
    follow = next((info for info in graph.output if _is_plain(info)), None)
    before = len(grown.nodes)
    if follow is not None:
        grown.grow(f"p_{follow.name}", _sizes(follow), count - place)
    else:
        grown.grow(values[-1], shape, count - place)
    start = helper.make_tensor_value_info("start", _FLOAT, shape)
    stored = [*grown.stored, *(_called(tensor, f"p_{tensor.name}") for tensor in graph.initializer)]
    others = [_as_input(info) for info in inputs]
    whole = [*grown.nodes[:before], node, *grown.nodes[before:]]
    declared = [_as_input(info) for info in graph.output]
    model = _model(probe, whole, [start, *others], stored, declared)
    given = [start]
    if follow is not None and before < len(grown.nodes):
        given.append(_as_input(follow))
    control = _model(probe, grown.nodes, given, grown.stored, [])
    return Planted(model, control, tuple(name for name in node.output if name))


def _model(
    like: ModelProto,
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    stored: Sequence[TensorProto],
    known: Sequence[ValueInfoProto],
) -> ModelProto:
    """Return a model whose outputs are what no node reads."""
    read = {name for node in nodes for name in node.input}
    types = {info.name: info for info in known}
    ends = [name for node in nodes for name in node.output if name and name not in read]
    model = ModelProto()
    model.CopyFrom(like)
    model.graph.CopyFrom(GraphProto(name="planted"))
    model.graph.node.extend(nodes)
    model.graph.input.extend(inputs)
    model.graph.initializer.extend(stored)
    shapes = {info.name: info for info in (*types.values(), *model.graph.input)}
    model.graph.output.extend(_end(name, nodes, shapes) for name in ends)
    return model


def _end(name: str, nodes: Sequence[NodeProto], known: dict[str, ValueInfoProto]) -> ValueInfoProto:
    """Return the declaration of an output: an ordinary node gives what its first input is."""
    made = {output: node for node in nodes for output in node.output}
    like = name
    while like not in known:
        like = made[like].input[0]
    info = ValueInfoProto()
    info.CopyFrom(known[like])
    info.name = name
    return info


def _renamed(node: NodeProto, entry: dict[str, str]) -> NodeProto:
    found = NodeProto()
    found.CopyFrom(node)
    found.name = "planted"
    found.input[:] = [entry.get(name, f"p_{name}" if name else "") for name in node.input]
    found.output[:] = [f"p_{name}" if name else "" for name in node.output]
    return found


def _called(tensor: TensorProto, name: str) -> TensorProto:
    found = TensorProto()
    found.CopyFrom(tensor)
    found.name = name
    return found


def _as_input(info: ValueInfoProto) -> ValueInfoProto:
    found = ValueInfoProto()
    found.CopyFrom(info)
    found.name = f"p_{info.name}"
    return found


def _is_plain(info: ValueInfoProto) -> bool:
    """Say whether ordinary nodes take a tensor: floats of fixed sizes, none of them 0."""
    kind = info.type.tensor_type
    return (
        kind.elem_type == _FLOAT
        and kind.HasField("shape")
        and bool(kind.shape.dim)
        and all(dim.dim_value > 0 for dim in kind.shape.dim)
    )


def _sizes(info: ValueInfoProto) -> list[int]:
    return [dim.dim_value for dim in info.type.tensor_type.shape.dim]
