"""Quartz, an engine that does not exist, as a program for `graphfix learn`.

Onnxruntime with habits: it reads opsets up to 15 and IR version 8, wants all sizes, lacks
HardSwish, float64 in Add, Softmax of four dimensions, and linear Resize, takes the axes of
ReduceSum as constants alone, computes LeakyRelu with an alpha of 0.1, does not sum up backwards,
and dies of Erf.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import onnx
import onnxruntime  # type: ignore[import-untyped]
from onnx import NodeProto, helper

if TYPE_CHECKING:
    from collections.abc import Callable

OPSET, IR = 15, 8
DOUBLE = 11


def version() -> str:
    """Return the version."""
    return "quartz 1.4.2"


def load(path: str, shapes: dict[str, list[int]]) -> Callable[[dict[str, Any]], list[Any]]:
    """Return a function that runs a model."""
    model = onnx.load(path)  # pyright: ignore[reportUnknownMemberType]
    if model.ir_version > IR:
        raise ValueError("file too new")
    if any(entry.version > OPSET for entry in model.opset_import if not entry.domain):
        raise ValueError("opset too new")
    for info in model.graph.input:
        if not all(dim.HasField("dim_value") for dim in info.type.tensor_type.shape.dim):
            raise ValueError(f"{info.name}: unknown size")
    inferred = onnx.shape_inference.infer_shapes(model).graph
    infos = (*inferred.input, *inferred.value_info, *inferred.output)
    elems = {info.name: info.type.tensor_type.elem_type for info in infos}
    ranks = {info.name: len(info.type.tensor_type.shape.dim) for info in infos}
    held = {tensor.name for tensor in model.graph.initializer}
    for node in model.graph.node:
        _look(node, elems, ranks, held)
    session: Any = onnxruntime.InferenceSession(model.SerializeToString())
    return lambda feed: list(session.run(None, feed))


def _look(node: NodeProto, elems: dict[str, int], ranks: dict[str, int], held: set[str]) -> None:
    """Refuse a node, change it, or die of it."""
    given = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    if node.op_type == "HardSwish":
        raise ValueError("no operator HardSwish")
    if node.op_type == "Add" and DOUBLE in map(elems.get, node.input):
        raise ValueError("Add: no kernel for double")
    if node.op_type == "Softmax" and ranks.get(node.input[0]) == 4:
        raise ValueError("Softmax: four dimensions")
    if node.op_type == "Resize" and given["mode"] == b"linear":
        raise ValueError("Resize: only nearest")
    if node.op_type == "ReduceSum" and len(node.input) > 1 and node.input[1] not in held:
        raise ValueError("ReduceSum: axes are not constant")
    if node.op_type == "Erf":
        os.abort()
    if node.op_type == "LeakyRelu":
        del node.attribute[:]
        node.attribute.append(helper.make_attribute("alpha", 0.1))
    if node.op_type == "CumSum" and given.get("reverse"):
        (reverse,) = (each for each in node.attribute if each.name == "reverse")
        reverse.i = 0
