"""A copy of a model in which fused normalisations sum in float64.

onnxruntime's kernels of SimplifiedLayerNormalization and SkipSimplifiedLayerNormalization add the
squares of a row one after the other, in float32 (onnxruntime/core/providers/cpu/nn/
layer_norm_impl.cc, onnxruntime/contrib_ops/cpu/skip_layer_norm.cc). Of 4,096 squares the sum is
then further off than weights and inputs that are moved by one unit in the last place show, and the
schemas have no float64 in which the whole model could be measured.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphfix.ir.protos import all_graphs, copied, nodes_of_model, normal_domain

_PLAIN, _SKIP = "SimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization"
_EPSILON = {_PLAIN: 1e-5, _SKIP: 1e-12}
_SUM = 3  # the output of the skip that is the sum of both operands
_AXES_INPUT = 18  # ReduceMean takes its axes as an input


def summed_widely(model: ModelProto) -> ModelProto | None:
    """Return the copy; None where nothing is replaced in it. Functions are left as they are."""
    if not any(node.op_type in _EPSILON for node in nodes_of_model(model)):
        return None
    opsets = {normal_domain(entry.domain): entry.version for entry in model.opset_import}
    copy = copied(model)
    count = 0
    for graph in all_graphs(copy.graph):
        nodes: list[NodeProto] = []
        for node in graph.node:
            written = list(_written(node, opsets.get("", 0))) if _fits(node) else []
            count += bool(written)
            nodes += written or [copied(node)]
        del graph.node[:]
        graph.node.extend(nodes)
    return copy if count else None


def _fits(node: NodeProto) -> bool:
    domains = {_PLAIN: ("", "ai.onnx", "com.microsoft"), _SKIP: ("com.microsoft",)}
    if node.domain not in domains.get(node.op_type, ()):
        return False
    axis = next((a.i for a in node.attribute if a.name == "axis"), -1)
    given = [name for place, name in enumerate(node.output) if name and place not in (0, _SUM)]
    return axis == -1 and not given and bool(node.output[0])


def _written(node: NodeProto, opset: int) -> Iterator[NodeProto]:
    """Yield what gives the same as a node, with all in between in float64."""
    name = f"{node.output[0]}/wide/"
    skips = node.op_type == _SKIP
    operands = [node.input[0]]
    if skips:
        operands += [node.input[1], *[n for n in node.input[3:4] if n]]
    scale = node.input[2 if skips else 1]
    for number, operand in enumerate((*operands, scale)):
        yield helper.make_node("Cast", [operand], [f"{name}{number}"], to=TensorProto.DOUBLE)
    total = f"{name}0"
    for number in range(1, len(operands)):
        yield helper.make_node("Add", [total, f"{name}{number}"], [f"{name}sum{number}"])
        total = f"{name}sum{number}"
    yield helper.make_node("Mul", [total, total], [f"{name}squares"])
    if opset >= _AXES_INPUT:
        yield _constant(f"{name}axes", np.array([-1], np.int64))
        yield helper.make_node("ReduceMean", [f"{name}squares", f"{name}axes"], [f"{name}mean"])
    else:
        yield helper.make_node("ReduceMean", [f"{name}squares"], [f"{name}mean"], axes=[-1])
    epsilon = next((a.f for a in node.attribute if a.name == "epsilon"), _EPSILON[node.op_type])
    yield _constant(f"{name}epsilon", np.array(epsilon, np.float64))
    yield helper.make_node("Add", [f"{name}mean", f"{name}epsilon"], [f"{name}more"])
    yield helper.make_node("Sqrt", [f"{name}more"], [f"{name}root"])
    yield helper.make_node("Div", [total, f"{name}root"], [f"{name}quotient"])
    yield helper.make_node("Mul", [f"{name}quotient", f"{name}{len(operands)}"], [f"{name}y"])
    yield _like(f"{name}y", operands[0], node.output[0])
    if len(node.output) > _SUM and node.output[_SUM]:
        yield _like(total, operands[0], node.output[_SUM])


def _like(value: str, model: str, result: str) -> NodeProto:
    return helper.make_node("CastLike", [value, model], [result])


def _constant(name: str, array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> NodeProto:
    node = NodeProto(op_type="Constant", output=[name])
    tensor = numpy_helper.from_array(array, name)
    node.attribute.add(name="value", type=AttributeProto.TENSOR, t=tensor)
    return node
