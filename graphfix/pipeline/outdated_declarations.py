"""Sizes that a file declares of inner tensors and that its inputs have left free since.

Whoever frees the size of an input by hand leaves what an exporter declared of the tensors
inside. onnxruntime runs every size all the same. Such a number is no knowledge: what is declared of
the inputs decides, and what follows from it by ONNX's own inference.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx import GraphProto

from graphfix.analysis.inference import infer_proto
from graphfix.authoring.declared_types import leave_undeclared
from graphfix.ir.graph import Constant, Shape, Variable, shape_of_type
from graphfix.ir.model import Model


def drop_outdated(model: Model) -> bool:
    """Drop what is declared of tensors of the main graph in numbers where a size is free.

    Returns:
        Whether there was any.
    """
    graph = model.graph
    if graph.proto is None or not graph.proto.value_info:
        return False
    free = {
        size
        for tensor in graph.inputs
        if not isinstance(tensor, Constant)
        for size in tensor.shape or ()
        if isinstance(size, str)
    }
    declared = {tensor.name: tensor for tensor in _declared(model)} if free else {}
    if not declared:
        return False
    proto = model.light_proto()
    _forget(proto.graph, frozenset(declared))
    found = {i.name: shape_of_type(i.type)[1] for i in infer_proto(proto).graph.value_info}
    dropped = False
    for name, tensor in declared.items():
        shape = found.get(name)
        if shape is not None and _is_left(tensor.shape, shape, free):
            leave_undeclared(graph, tensor)
            tensor.shape = shape
            dropped = True
    return dropped


def _declared(model: Model) -> Iterator[Variable]:
    """Yield the tensors between nodes of ONNX's own that are declared with a number."""
    for node in model.graph.nodes:
        for tensor in () if node.domain else node.outputs:
            if isinstance(tensor, Variable) and tensor.info is not None and not tensor.output_count:
                shape = shape_of_type(tensor.info.type)[1]
                if shape is not None and any(isinstance(size, int) for size in shape):
                    yield tensor


def _forget(graph: GraphProto, names: frozenset[str]) -> None:
    kept = [info for info in graph.value_info if info.name not in names]
    del graph.value_info[:]
    graph.value_info.extend(kept)


def _is_left(declared: Shape | None, shape: Shape, free: set[str]) -> bool:
    return (
        declared is not None
        and len(declared) == len(shape)
        and any(isinstance(a, int) and b in free for a, b in zip(declared, shape, strict=True))
    )
