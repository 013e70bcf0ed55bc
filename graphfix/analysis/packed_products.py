"""Have onnxruntime compute products with packed weights as their formula says.

At accuracy_level 4 its kernels round the other operand to 8 bits: an approximation of what
MatMulNBits and its kin mean, and one of their own, which no other engine makes. A copy of the
model at level 0, which leaves the precision to the kernel, is run in its place; that is the one
of the operand (microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MatMulNBits;
onnxruntime/contrib_ops/cpu/quantization/matmul_nbits.cc).

Where the columns of MatMulNBits have an order of their own (g_idx), its kernel reads zero points of
4 bits and continues with 8 (matmul_nbits_impl.cc, Dequantize4BitsKernelReOrder; asked of 1.18.1 to
1.32.0). With zero points in floats it computes; the copy has these. Weights of 2 bits with an order
are read as those of 4, and of 8 bits are not taken (asked of 1.23.0, 1.24.1 and 1.32.0): the copy
has the formula written out, summed in float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper

from graphfix.ir.protos import all_graphs, copied, nodes_of_model

_DOMAIN, _ORDERED = "com.microsoft", "MatMulNBits"
_NAME = "accuracy_level"
_INT8 = 4
_DATA, _SCALES, _ZEROS, _ORDER, _BIAS = range(1, 6)
_INT64, _FLOAT = TensorProto.INT64, TensorProto.FLOAT
_Types = Mapping[str, int]
SAID = "compared with accuracy_level 0: at 4 onnxruntime rounds an operand of {} to int8"
ZEROS_SAID = "compared with zero points in floats: onnxruntime leaves out others next to g_idx"
BITS_SAID = (
    "compared with weights of 2 and 8 bits unpacked: onnxruntime misreads them next to g_idx"
)


def by_formula(model: ModelProto) -> ModelProto:
    """Return a model that onnxruntime computes by the formulas; the same one where it does so."""
    packed = _packed(model)
    types: _Types = _types(model) if any(_is_ordered(node) for node in packed) else {}
    ordered = any(_is_zeros_unread(node, types) or _is_misread(node, types) for node in packed)
    if not ordered and not any(True for _ in _rounding(packed)):
        return model
    copy = copied(model)
    for _, attribute in _rounding(_packed(copy)):
        attribute.i = 0
    # Subgraphs before their nodes, which are copied.
    for graph in reversed([*all_graphs(copy.graph)] if ordered else []):
        nodes = [each for node in graph.node for each in _computed(node, types)]
        del graph.node[:]
        graph.node.extend(nodes)
    return copy


def formula_said(models: Iterable[ModelProto]) -> str:
    """Return what is to be said of a comparison of models; empty where none was changed."""
    given = [(model, _packed(model)) for model in models]
    operators = sorted({operator for _, packed in given for operator, _ in _rounding(packed)})
    said = [SAID.format(" and ".join(operators))] if operators else []
    for words, test in ((ZEROS_SAID, _is_zeros_unread), (BITS_SAID, _is_misread)):
        for model, packed in given:
            ordered = [node for node in packed if _is_ordered(node)]
            if ordered and any(test(node, types) for types in [_types(model)] for node in ordered):
                said.append(words)
                break
    return "; ".join(said)


def _packed(model: ModelProto) -> list[NodeProto]:
    return [node for node in nodes_of_model(model) if node.domain == _DOMAIN]


def _rounding(packed: Iterable[NodeProto]) -> Iterator[tuple[str, AttributeProto]]:
    for node in packed:
        for attribute in node.attribute:
            if attribute.name == _NAME and attribute.i >= _INT8:
                yield node.op_type, attribute


def _is_ordered(node: NodeProto) -> bool:
    named = (node.domain, node.op_type) == (_DOMAIN, _ORDERED)
    return named and bool(_given(node, _ORDER))


def _given(node: NodeProto, place: int) -> str:
    return str(node.input[place]) if len(node.input) > place else ""


def _is_zeros_unread(node: NodeProto, types: _Types) -> bool:
    """Whether onnxruntime does not read the zero points, which are in bytes; of functions none."""
    known = _is_ordered(node) and types.get(_given(node, _ZEROS)) == TensorProto.UINT8
    return known and _number(node, "bits") == 4


def _is_misread(node: NodeProto, types: _Types) -> bool:
    """Whether onnxruntime misreads the weights, or takes none such; of known types alone."""
    if not _is_ordered(node) or _number(node, "bits") not in (2, 8):
        return False
    prepacked = any(a.name == "weight_prepacked" and a.i for a in node.attribute)
    zeros = _given(node, _ZEROS)
    return not prepacked and _float_type(node, types) > 0 and (not zeros or zeros in types)


def _float_type(node: NodeProto, types: _Types) -> int:
    """Return the element type of operand, scales and product; 0 where it is not known."""
    names = (node.input[0], _given(node, _SCALES), node.output[0])
    return next((types[name] for name in names if types.get(name)), 0)


def _types(model: ModelProto) -> _Types:
    found: dict[str, int] = {}
    for graph in all_graphs(model.graph):
        for info in (*graph.input, *graph.value_info, *graph.output):
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


class _Written:
    """Nodes that take the place of one, in their order."""

    def __init__(self, node: NodeProto) -> None:
        self.nodes: list[NodeProto] = []
        self._name = node.output[0]
        self.rows, self.columns, self.block = (_number(node, n) for n in ("N", "K", "block_size"))
        self.bits = _number(node, "bits")
        self.blocks = -(-self.columns // self.block)

    def call(self, op: str, *given: str, **how: Any) -> str:
        """Add a node, and return what its output is called."""
        output = f"{self._name}@{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, given, [output], **how))
        return output

    def stored(self, *values: int) -> str:
        """Add a constant, int64 [n]."""
        value = helper.make_tensor("", _INT64, [len(values)], values)
        return self.call("Constant", value=value)

    def floats(self, name: str, *shape: int) -> str:
        """Add what makes a float32 tensor of this shape."""
        return self.call("Cast", self.call("Reshape", name, self.stored(*shape)), to=_FLOAT)

    def unpacked(self, name: str, count: int) -> str:
        """Add what unpacks bytes, the low bits first, each row from a byte on: [N, count]."""
        wide = self.call("Cast", name, to=_INT64)
        column = self.call("Reshape", wide, self.stored(self.rows, -1, 1))
        steps = self.stored(*(1 << place for place in range(0, 8, self.bits)))
        parts = self.call("Mod", self.call("Div", column, steps), self.stored(1 << self.bits))
        flat = self.call("Reshape", parts, self.stored(self.rows, -1))
        return self.call("Slice", flat, self.stored(0), self.stored(count), self.stored(1))


def _computed(node: NodeProto, types: _Types) -> list[NodeProto]:
    """Return a node, after those that unpack its zero points; the formula where it is misread."""
    if _is_zeros_unread(node, types):
        made = _Written(node)
        node.input[_ZEROS] = made.floats(made.unpacked(node.input[_ZEROS], made.blocks), -1)
        return [*made.nodes, node]
    return _formula(node, types) if _is_misread(node, types) else [node]


def _formula(node: NodeProto, types: _Types) -> list[NodeProto]:
    """Return x @ ((number - zero point) * scale), plus the bias, in operators of ONNX."""
    made = _Written(node)
    order, zeros, bias = (_given(node, place) for place in (_ORDER, _ZEROS, _BIAS))
    columns = made.call("Slice", order, made.stored(0), made.stored(made.columns))
    matrix = (made.rows, made.blocks)
    packed = types.get(zeros) == TensorProto.UINT8
    middle = (
        made.unpacked(zeros, made.blocks) if packed else zeros or made.stored(1 << made.bits - 1)
    )
    if zeros:
        middle = made.call("Gather", made.floats(middle, *matrix), columns, axis=1)
    else:
        middle = made.call("Cast", middle, to=_FLOAT)
    scales = made.call("Gather", made.floats(node.input[_SCALES], *matrix), columns, axis=1)
    numbers = made.call("Cast", made.unpacked(node.input[_DATA], made.columns), to=_FLOAT)
    weights = made.call("Mul", made.call("Sub", numbers, middle), scales)
    wide = made.call("Cast", node.input[0], to=_FLOAT)
    found = made.call("MatMul", wide, made.call("Transpose", weights, perm=[1, 0]))
    if bias:
        found = made.call("Add", found, made.call("Cast", bias, to=_FLOAT))
    cast = helper.make_node("Cast", [found], [node.output[0]], to=_float_type(node, types))
    return [*made.nodes, cast]
