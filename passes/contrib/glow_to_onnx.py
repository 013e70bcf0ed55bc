"""Replace what Glow writes as operators of its own by those of ONNX.

What it does: Writes Glow_Add, Sub, Mul, Div, Max and Min, Glow_MatMul and BatchMatMul, and
    Glow_Relu, Sigmoid and Tanh as the operators of ONNX that compute the same, and takes from other
    nodes what Glow notes on them for itself: the partition, and how a node is split among cores.
Why engines need it: Glow writes operators of its own where it is asked to, so that it reads back
    what it had; no other engine has them.
Before:
    y = Glow_Add <i0_elemKind = "float", i0_shape = [2, 3], partitionName = "main"> (a, b)
    z = Identity <partitionName = "main"> (y)
After:
    y = Add (a, b)
    z = Identity (y)
When it refuses: Operands that are not float32, as quantized ones of Glow are, whose scale only the
    attributes tell; elementwise operands of two shapes, which Glow does not broadcast; factors of
    another rank than 2 (Glow_BatchMatMul: 3).
Accuracy: Exact.
References: pytorch/glow tools/ClassGen/NodeGen.cpp (operands), lib/Exporter/ONNXModelWriter.cpp
    (notes)
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    PREPARE,
    Array,
    Builder,
    Editor,
    InferredType,
    Known,
    NodeView,
    Refuse,
    Value,
    graph_pass,
    respell,
    rewrite,
)

_FLOAT = int(TensorProto.FLOAT)
_RANK = {"Glow_MatMul": 2, "Glow_BatchMatMul": 3}
_ALONE = ("Glow_Relu", "Glow_Sigmoid", "Glow_Tanh")
_NOTES = ("partitionName", "isIntermediateOutputForDAG")
_NOTES_OF_BACKENDS = "NodeOpt_"
Arrays = list[Array | None]
Attributes = dict[str, Any]


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The first operand's; a product has the rows of one factor and the columns of the other."""
    x, y = node.input(0), node.input(1)
    if x is None or x.elem_type != _FLOAT:
        return (None,)
    if node.op not in _RANK:
        return (InferredType(_FLOAT, x.shape),)
    if x.shape is None or y is None or y.shape is None or {x.rank, y.rank} != {_RANK[node.op]}:
        return (None,)
    return (InferredType(_FLOAT, (*x.shape[:-1], y.shape[-1])),)


def _given(inputs: Arrays) -> list[Array]:
    return [x for x in inputs if x is not None]


def added(inputs: Arrays, _: Attributes) -> tuple[Array, ...]:
    """Glow_Add."""
    return (np.add(*_given(inputs)),)


def subtracted(inputs: Arrays, _: Attributes) -> tuple[Array, ...]:
    """Glow_Sub."""
    return (np.subtract(*_given(inputs)),)


def multiplied(inputs: Arrays, _: Attributes) -> tuple[Array, ...]:
    """Glow_Mul."""
    return (np.multiply(*_given(inputs)),)


def divided(inputs: Arrays, _: Attributes) -> tuple[Array, ...]:
    """Glow_Div."""
    return (np.divide(*_given(inputs)),)


def larger(inputs: Arrays, _: Attributes) -> tuple[Array, ...]:
    """Glow_Max."""
    return (np.maximum(*_given(inputs)),)


def smaller(inputs: Arrays, _: Attributes) -> tuple[Array, ...]:
    """Glow_Min."""
    return (np.minimum(*_given(inputs)),)


def product(inputs: Arrays, _: Attributes) -> tuple[Array, ...]:
    """Glow_MatMul and Glow_BatchMatMul."""
    return (np.matmul(*_given(inputs)),)


def rectified(inputs: Arrays, _: Attributes) -> tuple[Array, ...]:
    """Glow_Relu."""
    (x,) = _given(inputs)
    return (np.maximum(x, np.float32(0)),)


def squashed(inputs: Arrays, _: Attributes) -> tuple[Array, ...]:
    """Glow_Sigmoid."""
    (x,) = _given(inputs)
    return (np.asarray(np.float32(1) / (np.float32(1) + np.exp(-x))),)


def tangent(inputs: Arrays, _: Attributes) -> tuple[Array, ...]:
    """Glow_Tanh."""
    return (np.tanh(*_given(inputs)),)


MODELS = {
    "Glow_Add": added,
    "Glow_BatchMatMul": product,
    "Glow_Div": divided,
    "Glow_MatMul": product,
    "Glow_Max": larger,
    "Glow_Min": smaller,
    "Glow_Mul": multiplied,
    "Glow_Relu": rectified,
    "Glow_Sigmoid": squashed,
    "Glow_Sub": subtracted,
    "Glow_Tanh": tangent,
}


@rewrite(
    tuple(MODELS),
    removes=tuple(f"op:{op}" for op in MODELS),
    emits="Add Div MatMul Max Min Mul Relu Sigmoid Sub Tanh",
    knows={op: Known(infer, model) for op, model in MODELS.items()},
)
def glow_to_onnx(node: NodeView, build: Builder) -> Value:
    """Write ONNX's operator, see the module."""
    operands = [node.need(place) for place in range(1 if node.op in _ALONE else 2)]
    for x in operands:
        if x.elem_type != _FLOAT:
            raise Refuse(f"{x.name} must be float32; it is {x.type_name or 'unknown'}")
    if node.op in _RANK:
        if {x.rank for x in operands} != {_RANK[node.op]}:
            raise Refuse(f"both factors must have rank {_RANK[node.op]}; they have not")
        return build.MatMul(*operands)
    if len({x.shape for x in operands} | {None}) != 2:
        raise Refuse("the operands must be known to have one shape; they are not")
    result: Value = getattr(build, node.op.removeprefix("Glow_"))(*operands)
    return result


@graph_pass(
    stage=PREPARE,
    removes="model:unknown-attribute",
    emits="*::*",
    looks_at=[" ".join(f"attribute:{name}" for name in (*_NOTES, f"{_NOTES_OF_BACKENDS}*"))],
)
def glow_notes_removal(editor: Editor) -> None:
    """Take Glow's notes from the nodes of ONNX, see the module."""
    for graph in editor.graphs():
        for node in editor.nodes(graph):
            notes = [name for name in node.attributes if _is_note(name)]
            if notes and not node.domain and not node.op.startswith("Glow_"):
                editor.replace(node, partial(_plain, node, notes))


def _is_note(name: str) -> bool:
    return name in _NOTES or name.startswith(_NOTES_OF_BACKENDS)


def _plain(node: NodeView, notes: list[str], build: Builder) -> tuple[Value | None, ...]:
    return respell(node, build, drop=notes)
