"""Pairs of low rank (LoRA) next to a product: y = x W + scale (x A) B, found by structure.

Hu et al., LoRA, https://arxiv.org/abs/2106.09685. What exporters get to see of it is in
huggingface/peft, src/peft/tuners/lora/layer.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from onnx import GraphProto, ModelProto, NodeProto

from graphfix.edits.blocks.to_floats import CONTRIB, Held, Known, stored_in
from graphfix.edits.blocks.weights import PRODUCT
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import decode_attribute
from graphfix.ir.storage.weights import load_array, type_name
from graphfix.reduction.tensor_types import Types

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_WINDOW = {"strides": 1, "pads": 0, "dilations": 1}  # what a 1x1 window has of each
Sizes = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Factor:
    """A matrix, or a window, that a product reads.

    Attributes:
        name: The stored tensor, or the input.
        held: Where it is stored; None for an input.
        sizes: Its shape; None for a size that is open.
        turned: Whether the product has it transposed.
        last: Whether it is the node of the product that transposes it, or no node does.
    """

    name: str
    held: Held | None
    sizes: Sizes
    turned: bool
    last: bool = True

    @property
    def matrix(self) -> Sizes:
        """The sizes as the product has them: terms and results first."""
        if len(self.sizes) != 2:
            return (self.sizes[1], self.sizes[0], *self.sizes[2:])
        return self.sizes[::-1] if self.turned else self.sizes

    @property
    def first(self) -> int:
        """The axis of the terms."""
        return 1 if self.turned or len(self.sizes) != 2 else 0


@dataclass(frozen=True, slots=True)
class Product:
    """A node that multiplies by a factor.

    Attributes:
        node: MatMul, Gemm, Conv or MatMulNBits.
        x: The other operand.
        factor: What it multiplies by; None where that is not stored as floats.
        scale: What it multiplies by as well.
    """

    node: NodeProto
    x: str
    factor: Factor | None
    scale: float


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of low rank.

    Attributes:
        graph: The graph that it is in.
        base: The product next to it.
        down: The product of x with A.
        up: The product of that with B.
        scale: What their result is multiplied by.
        add: The node that adds it to the base.
        other: What it is added to.
        between: What only the pair computes.
        before: What is computed from the base up to the sum.
    """

    graph: GraphProto
    base: Product
    down: Product
    up: Product
    scale: float
    add: NodeProto
    other: str
    between: frozenset[str]
    before: frozenset[str]

    @property
    def factors(self) -> tuple[Factor, Factor]:
        """A and B."""
        a, b = self.down.factor, self.up.factor
        assert a is not None  # a pair without them is none
        assert b is not None
        return a, b


def pairs_of(proto: ModelProto, base_dir: str, types: Types) -> list[Pair]:
    """Return the pairs of a model, those of subgraphs too, inner ones of a sum first.

    Args:
        proto: The model.
        base_dir: Where its external data lies.
        types: What is known of its tensors.
    """
    inputs = {
        info.name: info.type.tensor_type
        for info in proto.graph.input
        if type_name(info.type.tensor_type.elem_type) in _FLOATS
    }
    given: dict[str, Sizes] = {
        name: tuple(d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim)
        for name, kind in inputs.items()
    }
    found: list[Pair] = []
    for graph, known in stored_in(proto.graph):
        found += _Finder(graph, known, given, base_dir, types).pairs()
    return found


class _Finder:
    def __init__(
        self,
        graph: GraphProto,
        known: Known,
        given: dict[str, Sizes],
        base_dir: str,
        types: Types,
    ) -> None:
        self.graph, self.known, self.given, self.base_dir = graph, known, given, base_dir
        self.types = types
        self.makers = {name: node for node in graph.node for name in node.output}
        self.found: dict[str, Pair] = {}

    def pairs(self) -> Iterator[Pair]:
        for node in self.graph.node:
            if node.op_type == "Add" and not normal_domain(node.domain):
                for delta, base in (node.input, reversed(node.input)):
                    pair = self._pair(node, delta, base)
                    if pair is not None:
                        self.found[node.output[0]] = pair
                        yield pair
                        break

    def _pair(self, add: NodeProto, delta: str, base: str) -> Pair | None:
        trail: list[str] = []
        name, late = self._thin(delta, trail)
        up = self._product(name)
        if up is None or up.factor is None or len(up.node.input) > 2:
            return None
        inner, middle = self._thin(up.x, trail)
        down = self._product(inner)
        if down is None or down.factor is None or len(down.node.input) > 2:
            return None
        x, early = self._thin(down.x, trail)
        before: list[str] = []
        under = self._base(base, before)
        if under is None or self._thin(under.x) != (x, 1.0) or not _fit(under, down, up):
            return None
        scale = late * middle * early * up.scale * down.scale
        read = (n for product in (down, up) for n in product.node.input[1:2] if n in self.makers)
        between = frozenset((*trail, *read, *up.node.output, *down.node.output)) - {x}
        return Pair(self.graph, under, down, up, scale, add, base, between, frozenset(before))

    def _base(self, name: str, trail: list[str]) -> Product | None:
        """Return the product that a sum has next to a pair, past biases and other pairs.

        What is passed is added to the trail.
        """
        while True:
            name, scale = self._thin(name, trail)
            if scale != 1.0:
                return None
            if name in self.found:
                trail.extend(self.found[name].before)
                return self.found[name].base
            node = self.makers.get(name)
            if node is None or node.op_type != "Add" or normal_domain(node.domain):
                return self._product(name)
            stored = [self._thin(one)[0] in self.known for one in node.input]
            if sum(stored) != 1:
                return None
            name = node.input[stored.index(False)]

    def _thin(self, name: str, trail: list[str] | None = None) -> tuple[str, float]:
        """Return a tensor before what leaves it alone or scales it, and the scale.

        What is passed is added to the trail.
        """
        scale = 1.0
        while True:
            if trail is not None:
                trail.append(name)
            node = self.makers.get(name)
            if node is None or normal_domain(node.domain) or node.output[0] != name:
                return name, scale
            if node.op_type == "Identity" or _leaves_alone(node, self.types):
                name = node.input[0]
                continue
            if node.op_type not in ("Mul", "Div"):
                return name, scale
            one, two = map(self._scalar, node.input, reversed(node.input))
            if node.op_type == "Div" and two:
                name, scale = node.input[0], scale / two
            elif node.op_type == "Mul" and (one is None) != (two is None):
                name = node.input[0 if one is None else 1]
                scale *= one if one is not None else two or 0.0
            else:
                return name, scale

    def _scalar(self, name: str, scaled: str) -> float | None:
        """Return a stored number that scales a tensor; None for what may give it more axes."""
        held = self.known.get(name)
        if held is None or type_name(held.tensor.data_type) not in _FLOATS:
            return None
        sizes, kind = held.tensor.dims, self.types.get(scaled)
        rank = 1 if kind is None else max(1, len(kind.tensor_type.shape.dim))
        if any(size != 1 for size in sizes) or len(sizes) > rank:
            return None
        return float(load_array(held.tensor, self.base_dir).reshape(-1)[0])

    def _product(self, name: str) -> Product | None:
        node = self.makers.get(name)
        if node is None or not node.output or node.output[0] != name:
            return None
        domain = normal_domain(node.domain)
        if node.op_type == PRODUCT and domain == CONTRIB:
            return Product(node, node.input[0], None, 1.0)
        if domain or node.op_type not in ("MatMul", "Gemm", "Conv"):
            return None
        how: dict[str, Any] = {a.name: decode_attribute(a) for a in node.attribute}
        if node.op_type == "Gemm" and how.get("transA", 0):
            return None
        turned = bool(node.op_type == "Gemm" and how.get("transB", 0))
        factor = self._factor(node.input[1], turned, 4 if node.op_type == "Conv" else 2)
        scale = float(how.get("alpha", 1.0)) if node.op_type == "Gemm" else 1.0
        return Product(node, node.input[0], factor, scale)

    def _factor(self, name: str, turned: bool, rank: int) -> Factor | None:
        last = turned
        while True:
            maker = self.makers.get(name)
            if maker is None or maker.op_type not in ("Identity", "Transpose") or rank != 2:
                break
            name, turned = maker.input[0], turned != (maker.op_type == "Transpose")
        held = self.known.get(name)
        if held is not None:
            sizes: Sizes = tuple(held.tensor.dims)
            floats = type_name(held.tensor.data_type) in _FLOATS
            return (
                Factor(name, held, sizes, turned, last) if floats and len(sizes) == rank else None
            )
        sizes = self.given.get(name, ())
        return Factor(name, None, sizes, turned, last) if len(sizes) == rank else None


def _leaves_alone(node: NodeProto, types: Types) -> bool:
    """Say whether a node is a Dropout that no one trains, or a Cast to the type that is there."""
    if node.op_type == "Cast":
        kind = types.get(node.input[0])
        to = next(a.i for a in node.attribute if a.name == "to")
        return kind is not None and kind.tensor_type.elem_type == to
    return node.op_type == "Dropout" and len(node.input) < 3


def _fit(base: Product, down: Product, up: Product) -> bool:
    """Say whether two products are of low rank, and of the sizes of the one next to them."""
    a, b = down.factor, up.factor
    assert a is not None  # the caller has seen to it
    assert b is not None
    if (a.held is None) != (b.held is None) or len(a.sizes) != len(b.sizes):
        return False
    if len(a.sizes) == 4 and not _windows_fit(base.node, down.node, up.node):
        return False
    terms, rank, results = a.matrix[0], b.matrix[0], b.matrix[1]
    if a.held is not None and (a.matrix[1] != rank or rank is None):
        return False
    if base.factor is None:
        return len(a.sizes) == 2
    whole = base.factor.matrix
    if len(whole) != len(a.sizes) or (terms, results) != whole[:2] or a.matrix[2:] != whole[2:]:
        return False
    return rank is None or rank < min(whole[0] or 0, whole[1] or 0)


def _windows_fit(base: NodeProto, down: NodeProto, up: NodeProto) -> bool:
    """Say whether the first window is that of the base, and the second one sees a pixel."""
    if base.op_type != "Conv" or down.op_type != "Conv" or up.op_type != "Conv":
        return False
    one, two, last = (_window_of(node) for node in (base, down, up))
    groups = [each.get("group", 1) for each in (one, two, last)]
    plain = all(set(last.get(name, [value])) == {value} for name, value in _WINDOW.items()) and set(
        last.get("kernel_shape", [1])
    ) == {1}
    return groups == [1, 1, 1] and one == two and plain and "auto_pad" not in last


def _window_of(node: NodeProto) -> dict[str, Any]:
    """Return the attributes of a Conv but for what says nothing."""
    given: dict[str, Any] = {a.name: decode_attribute(a) for a in node.attribute}
    if given.get("auto_pad") == "NOTSET":
        del given["auto_pad"]
    return given
