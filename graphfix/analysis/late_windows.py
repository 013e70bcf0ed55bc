"""Windows of pools that begin after the input, which inference counts and no evaluator runs.

Before opset 22 inference rounds the number of windows up with ceil_mode, whether or not the last
one begins in the padding at the end (defs/nn/old.cc, onnx 1.23). onnxruntime from 1.21 on and the
reference evaluator leave such a window out at every opset, as PyTorch does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from onnx import GraphProto, ModelProto, NodeProto, TypeProto
from onnx.helper import make_attribute

from graphfix.ir.protos import all_graphs, copied, nodes_of_model

CEIL_MODE = "ceil_mode"
_RIGHT_FROM = 22  # the opset from which on inference leaves them out
_POOLS = frozenset({"AveragePool", "LpPool", "MaxPool"})


def left_out(raw: bytes, inferred: ModelProto, infer: Callable[[bytes], ModelProto]) -> ModelProto:
    """Return a model after inference, with the sizes that pools have as they run.

    Args:
        raw: The model before it, whose tensors have names of their own.
        inferred: The model after it.
        infer: Infers a model.
    """
    if any(e.domain in ("", "ai.onnx") and e.version >= _RIGHT_FROM for e in inferred.opset_import):
        return inferred
    shown: dict[int, NodeProto] = {}
    while more := _late(inferred):  # what a pool computes decides on the windows of the next
        shown |= more
        model = ModelProto.FromString(raw)
        _put(model, shown)
        inferred = infer(model.SerializeToString())
    if shown:
        nodes = list(nodes_of_model(ModelProto.FromString(raw)))
        _put(inferred, {place: nodes[place] for place in shown})
    return inferred


def _put(model: ModelProto, nodes: Mapping[int, NodeProto]) -> None:
    for place, node in enumerate(nodes_of_model(model)):
        if place in nodes:
            node.CopyFrom(nodes[place])


def _late(model: ModelProto) -> dict[int, NodeProto]:
    """Return pools with a window too many, padded for the others alone, by their places."""
    ceiled = {
        place: node
        for place, node in enumerate(nodes_of_model(model))
        if any(each.name == CEIL_MODE and each.i for each in node.attribute)
    }
    if not ceiled:
        return {}
    sizes = {name: kind for graph in all_graphs(model.graph) for name, kind in _sizes(graph)}
    found = {
        place: without_last_window(node, sizes.get(node.input[0]))
        for place, node in ceiled.items()
        if node.input
    }
    return {place: node for place, node in found.items() if node is not None}


def _sizes(graph: GraphProto) -> Iterator[tuple[str, TypeProto]]:
    return ((info.name, info.type) for info in (*graph.input, *graph.value_info))


def without_last_window(node: NodeProto, data: TypeProto | None) -> NodeProto | None:
    """Return a pool that is padded for the windows that count alone; None where all count.

    Args:
        node: The pool, with ceil_mode.
        data: The type of its input.
    """
    if node.op_type not in _POOLS:
        return None
    dims = () if data is None else data.tensor_type.shape.dim[2:]
    if not dims or not all(dim.HasField("dim_value") for dim in dims):
        return None
    pads = _pads(node, [dim.dim_value for dim in dims])
    if pads is None:
        return None
    shown = copied(node)
    kept = [a for a in node.attribute if a.name not in (CEIL_MODE, "pads")]
    del shown.attribute[:]
    shown.attribute.extend([*kept, make_attribute("pads", pads)])
    return shown


def _pads(node: NodeProto, sizes: Sequence[int]) -> list[int] | None:
    """Return the pads without those for a window too many; None where there is none."""
    attributes = {attribute.name: attribute for attribute in node.attribute}
    automatic = attributes.get("auto_pad")
    if automatic is not None and automatic.s not in (b"", b"NOTSET"):
        return None
    count = len(sizes)

    def numbers(name: str, default: int, wanted: int = count) -> Sequence[int]:
        return list(attributes[name].ints) if name in attributes else [default] * wanted

    kernel, steps, apart = (numbers(name, 1) for name in ("kernel_shape", "strides", "dilations"))
    pads = numbers("pads", 0, 2 * count)
    if {len(kernel), len(steps), len(apart)} != {count} or len(pads) != 2 * count or 0 in steps:
        return None
    ends: list[int] = []
    late = False
    for axis in range(count):
        size, first, step = sizes[axis], pads[axis], steps[axis]
        window = (kernel[axis] - 1) * apart[axis] + 1
        last = -(-(size + first + pads[count + axis] - window) // step)
        if last * step >= size + first:
            last, late = last - 1, True
        ends.append(max(last * step + window - first - size, 0))
    return [*pads[:count], *ends] if late else None
