"""What a model takes and computes at given shapes of its inputs, estimated from inferred shapes.

An engine holds the tensors that are still to be read. What it saves by writing an output over an
input is not counted, so that an estimate is too large by a factor of two at most where all shapes
can be inferred; a tensor of unknown shape counts as the largest that its node reads.
"""

from __future__ import annotations

import contextlib
import math
from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping, Sequence

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto

from graphfix.analysis.shape_inference import REFUSALS, infer_shapes
from graphfix.ir.protos import normal_domain, subgraphs_of
from graphfix.proving.inputs.weights import without_weights

Shapes = Mapping[str, Sequence[int]]
_ITEM = 4  # bytes of a number whose type is not known


def peak_bytes(model: ModelProto, shapes: Shapes) -> int:
    """Return the bytes of the tensors that an engine holds at once, the weights left out.

    Args:
        model: The model.
        shapes: The shapes of its inputs, by name; the others are as they are declared.
    """
    shown = _shown(model, shapes)
    weights = {tensor.name for tensor in model.graph.initializer}
    return _Graph(shown.graph, {}, weights).peak() if shown.graph.node else 0


def bytes_made(model: ModelProto, shapes: Shapes) -> int:
    """Return how many bytes the nodes of a model compute at least, those of subgraphs left out.

    Args:
        model: The model.
        shapes: The shapes of its inputs, by name; the others are as they are declared.
    """
    graph = _shown(model, shapes).graph
    sizes = {info.name: _size(info) for info in (*graph.value_info, *graph.output)}
    made = (sizes[name] for node in graph.node for name in node.output if name in sizes)
    return sum(elements * width for elements, width in made if elements is not None)


def _shown(model: ModelProto, shapes: Shapes) -> ModelProto:
    """Return a model without its weights, with inputs of these shapes and the shapes inferred."""
    shown = without_weights(model)
    for info in shown.graph.input if shown.graph.node else ():
        if info.name in shapes and info.type.WhichOneof("value") == "tensor_type":
            shape = info.type.tensor_type.shape
            del shape.dim[:]
            shape.dim.extend(
                onnx.TensorShapeProto.Dimension(dim_value=n) for n in shapes[info.name]
            )
    # It refuses some valid models, and does not know all operators; what is declared remains.
    with contextlib.suppress(*REFUSALS):
        shown = infer_shapes(shown, data_prop=True)
    return shown


class _Graph:
    """A graph or a body, with the numbers of elements and the bytes of its tensors."""

    def __init__(
        self, graph: GraphProto, outer: MutableMapping[str, tuple[int, int]], weights: set[str]
    ) -> None:
        self._graph = graph
        self._weights = weights
        self._sizes = ChainMap[str, tuple[int, int]]({}, outer)
        self._own: dict[str, tuple[int | None, int]] = {}
        for info in (*graph.value_info, *graph.output, *graph.input):
            self._own[info.name] = _size(info)
        for tensor in graph.initializer:
            self._sizes[tensor.name] = (math.prod(tensor.dims), _width(tensor.data_type))

    def peak(self) -> int:
        """Return the most bytes that are held at once, those of the outer graph left out."""
        graph = self._graph
        last = {name: place for place, node in enumerate(graph.node) for name in _read(node)}
        kept = {info.name for info in (*graph.output, *graph.input)}
        held = 0
        for info in graph.input:
            if info.name not in self._weights:
                held += self._take(info.name, 0)
        peak = held
        for place, node in enumerate(graph.node):
            largest = max((self._elements(name) for name in node.input), default=0)
            inside = max(
                (_Graph(body, self._sizes, self._weights).peak() for body in subgraphs_of(node)),
                default=0,
            )
            made = sum(self._take(name, largest) for name in node.output if name)
            peak = max(peak, held + made + max(inside, self._workspace(node)))
            held += made
            for name in {*_read(node), *node.output}:
                is_over = last.get(name, place) == place and name not in kept
                if is_over and name in self._own and name not in self._weights:
                    held -= self._bytes(name)
        return peak

    def _take(self, name: str, instead: int) -> int:
        """Settle the size of a tensor and return its bytes."""
        elements, width = self._own.get(name, (None, _ITEM))
        self._own.setdefault(name, (elements, width))
        self._sizes[name] = (instead if elements is None else elements, width)
        return self._bytes(name)

    def _elements(self, name: str) -> int:
        return self._sizes.get(name, (0, 0))[0]

    def _bytes(self, name: str) -> int:
        return math.prod(self._sizes.get(name, (0, 0)))

    def _workspace(self, node: NodeProto) -> int:
        """Return what onnxruntime's kernel takes as well: ConvTranspose lays out all products."""
        if node.op_type != "ConvTranspose" or normal_domain(node.domain) or len(node.input) < 2:
            return 0
        image, filters = (self._sizes.get(name, (0, 0))[0] for name in node.input[:2])
        channels = self._channels(node.input[1])
        return image // channels * filters // channels * _ITEM if channels else 0

    def _channels(self, filters: str) -> int:
        for info in (*self._graph.input, *self._graph.value_info):
            if info.name == filters and info.type.tensor_type.shape.dim:
                return info.type.tensor_type.shape.dim[0].dim_value
        for tensor in self._graph.initializer:
            if tensor.name == filters and tensor.dims:
                return tensor.dims[0]
        return 0


def _size(info: ValueInfoProto) -> tuple[int | None, int]:
    """Return the number of elements, None where it is not known, and the bytes of each."""
    kind: TypeProto = info.type
    while kind.WhichOneof("value") in ("optional_type", "sequence_type"):
        kind = getattr(kind, str(kind.WhichOneof("value"))).elem_type
    tensor = kind.tensor_type
    width = _width(tensor.elem_type)
    if not tensor.HasField("shape"):
        return None, width
    dims = [dim.dim_value if dim.HasField("dim_value") else -1 for dim in tensor.shape.dim]
    return (math.prod(dims) if min(dims, default=0) >= 0 else None), width


def _width(elem_type: int) -> int:
    if elem_type in (TensorProto.UNDEFINED, TensorProto.STRING):
        return _ITEM
    with contextlib.suppress(KeyError):
        return int(onnx.helper.tensor_dtype_to_np_dtype(elem_type).itemsize)
    return _ITEM


def _read(node: NodeProto) -> Iterator[str]:
    """Return what a node and its subgraphs read."""
    yield from filter(None, node.input)
    for body in subgraphs_of(node):
        for inner in body.node:
            yield from _read(inner)
        yield from (info.name for info in body.output)
