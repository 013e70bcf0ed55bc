"""What ONNX's inference says of drafted nodes as a whole: values computed of shapes tell sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import onnx
from onnx import ModelProto

from graphfix.analysis.inference import infer_proto, merge_type, small_constant
from graphfix.ir.exporting import export_node, make_info
from graphfix.ir.graph import Node, Tensor, Variable
from graphfix.ir.schemas import minimal_ir


def infer_together(
    nodes: Sequence[Node], wanted: Sequence[Tensor], opsets: Mapping[str, int]
) -> None:
    """Complete the types of drafted tensors; `nodes` are all that were drafted, in order.

    A symbol that inference makes up for an unknown size is left out: it says nothing elsewhere.
    """
    if not any(_is_open(tensor) for tensor in wanted):
        return
    model = ModelProto(ir_version=minimal_ir(opsets[""]))
    model.opset_import.extend(onnx.helper.make_opsetid(*one) for one in opsets.items())
    graph = model.graph
    drafted = {id(tensor) for node in nodes for tensor in node.outputs}
    given: dict[str, Tensor] = {}
    for node in nodes:
        graph.node.append(export_node(node))
        given.update((t.name, t) for t in _read(node) if t.name and id(t) not in drafted)
        graph.value_info.extend(make_info(t) for t in node.outputs if t.name and t.elem_type)
    for name, tensor in given.items():
        constant = small_constant(tensor)
        if constant is None:
            graph.input.append(make_info(tensor))
        else:
            graph.initializer.append(constant)
            graph.initializer[-1].name = name
    known = {size for tensor in given.values() for size in tensor.shape or ()}
    found = {info.name: info.type for info in infer_proto(model).graph.value_info}
    for tensor in wanted:
        if not isinstance(tensor, Variable) or tensor.name not in found:
            continue
        merge_type(tensor, found[tensor.name])
        if tensor.shape is not None:
            tensor.shape = tuple(
                size if isinstance(size, int) or size in known else None for size in tensor.shape
            )


def _is_open(tensor: Tensor) -> bool:
    return isinstance(tensor, Variable) and (
        not tensor.elem_type or tensor.shape is None or None in tensor.shape
    )


def _read(node: Node) -> Iterator[Tensor]:
    """Yield what a node reads, with what its subgraphs read of the graphs around them."""
    yield from node.inputs
    for _, body in node.graphs():
        inside = {id(t) for inner in body.nodes for t in inner.outputs}
        inside.update(id(t) for t in (*body.inputs, *body.initializers))
        for inner in body.nodes:
            yield from (t for t in _read(inner) if id(t) not in inside)
        yield from (t for t in body.outputs if id(t) not in inside)
