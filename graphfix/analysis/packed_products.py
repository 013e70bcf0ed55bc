"""Have onnxruntime compute products with packed weights as their formula says.

At accuracy_level 4 its kernels round the other operand to 8 bits: an approximation of what
MatMulNBits and its kin mean, and one of their own, which no other engine makes. A copy of the
model at level 0, which leaves the precision to the kernel, is run in its place; that is the one
of the operand (microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MatMulNBits;
onnxruntime/contrib_ops/cpu/quantization/matmul_nbits.cc).

Where the columns of MatMulNBits have an order of their own (g_idx), its kernel reads zero points of
4 bits and continues with 8 (matmul_nbits_impl.cc, Dequantize4BitsKernelReOrder; asked of 1.18.1 to
1.32.0). With zero points in floats it computes; the copy has these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper

from graphfix.ir.protos import all_graphs, copied, nodes_of_model

_DOMAIN, _ORDERED = "com.microsoft", "MatMulNBits"
_NAME = "accuracy_level"
_INT8 = 4
_ZEROS, _ORDER = 3, 4
_INT64 = TensorProto.INT64
SAID = "compared with accuracy_level 0: at 4 onnxruntime rounds an operand of {} to int8"
ZEROS_SAID = "compared with zero points in floats: onnxruntime leaves out others next to g_idx"


def by_formula(model: ModelProto) -> ModelProto:
    """Return a model that onnxruntime computes by the formulas; the same one where it does so."""
    packed = _packed(model)
    ordered = _unread(model, packed)
    if not ordered and not any(True for _ in _rounding(packed)):
        return model
    copy = copied(model)
    for _, attribute in _rounding(_packed(copy)):
        attribute.i = 0
    # Subgraphs before their nodes, which are copied.
    for graph in reversed([*all_graphs(copy.graph)] if ordered else []):
        nodes = [each for node in graph.node for each in _with_floats(node, ordered)]
        del graph.node[:]
        graph.node.extend(nodes)
    return copy


def formula_said(models: Iterable[ModelProto]) -> str:
    """Return what is to be said of a comparison of models; empty where none was changed."""
    given = [(model, _packed(model)) for model in models]
    operators = sorted({operator for _, packed in given for operator, _ in _rounding(packed)})
    said = [SAID.format(" and ".join(operators))] if operators else []
    said += [ZEROS_SAID] if any(_unread(model, packed) for model, packed in given) else []
    return "; ".join(said)


def _packed(model: ModelProto) -> list[NodeProto]:
    return [node for node in nodes_of_model(model) if node.domain == _DOMAIN]


def _rounding(packed: Iterable[NodeProto]) -> Iterator[tuple[str, AttributeProto]]:
    for node in packed:
        for attribute in node.attribute:
            if attribute.name == _NAME and attribute.i >= _INT8:
                yield node.op_type, attribute


def _is_ordered(node: NodeProto) -> bool:
    named = (node.domain, node.op_type) == (_DOMAIN, _ORDERED) and len(node.input) > _ORDER
    return named and bool(node.input[_ZEROS] and node.input[_ORDER]) and _number(node, "bits") == 4


def _unread(model: ModelProto, packed: Iterable[NodeProto]) -> set[str]:
    """Return the zero points in bytes that onnxruntime does not read, of functions none."""
    named = {node.input[_ZEROS] for node in packed if _is_ordered(node)}
    if not named:
        return named
    types = _types(model)
    return {name for name in named if types.get(name) == TensorProto.UINT8}


def _types(model: ModelProto) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for graph in all_graphs(model.graph):
        for info in (*graph.input, *graph.value_info):
            found[info.name] = info.type.tensor_type.elem_type
        for tensor in graph.initializer:
            found[tensor.name] = tensor.data_type
        for node in graph.node:
            stored = [
                a.t.data_type for a in node.attribute if a.name == "value" and a.HasField("t")
            ]
            if node.op_type == "Constant" and stored:
                found[node.output[0]] = stored[0]
    return found


def _number(node: NodeProto, name: str) -> int:
    return next((int(a.i) for a in node.attribute if a.name == name), 4)  # that of bits


def _with_floats(node: NodeProto, unread: set[str]) -> list[NodeProto]:
    """Return a node, after those that unpack its zero points where they are not read.

    Two are in a byte, the first one in the low bits; each row begins with a byte of its own.
    """
    if not _is_ordered(node) or node.input[_ZEROS] not in unread:
        return [node]
    rows, columns, block = (_number(node, name) for name in ("N", "K", "block_size"))
    blocks = -(-columns // block)
    made: list[NodeProto] = []

    def call(op: str, *given: str, **how: Any) -> str:
        made.append(helper.make_node(op, given, [f"{node.output[0]}@{len(made)}"], **how))
        return str(made[-1].output[0])

    def stored(*values: int) -> str:
        return call("Constant", value=helper.make_tensor("", _INT64, [len(values)], values))

    wide = call("Cast", node.input[_ZEROS], to=_INT64)
    bytes_of_rows = call("Reshape", wide, stored(rows, -1, 1))
    halves = (call(op, bytes_of_rows, stored(16)) for op in ("Mod", "Div"))
    numbers = call("Reshape", call("Concat", *halves, axis=2), stored(rows, -1))
    own = call("Slice", numbers, stored(0), stored(blocks), stored(1))
    floats = call("Cast", call("Reshape", own, stored(-1)), to=TensorProto.FLOAT)
    node.input[_ZEROS] = floats
    return [*made, node]
