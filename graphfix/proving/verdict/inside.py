"""Whether ONNX says what a model computes from some inputs, by a look at the tensors inside.

At sizes of 0 and 1, and with extreme parameters, a division by nothing gives a NaN inside, of
which no pass claims anything, and onnxruntime runs what ONNX forbids. But a NaN that arithmetic or
the numpy model of an operator gives, and that arithmetic alone carries to the outputs, is what the
model says: the mean of nothing is not 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx

from graphfix.errors import EngineFailed
from graphfix.ir.protos import add_outputs, copied, names_read, normal_domain
from graphfix.operators.table import MOVES_FIRST
from graphfix.proving.inputs.uses import int_attribute
from graphfix.proving.runners.engine import Engine
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Array, Feed, Value, is_floating, is_integer, leaves
from graphfix.proving.verdict.numbers import finite, widened

_RECURRENT = frozenset({"LSTM", "GRU", "RNN"})
# Where the operands are that are joined along an axis; scales and zero points are between them.
_JOINED = {"Concat": slice(None), "QLinearConcat": slice(2, None, 3)}
_SKIPS = ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
# Operators that onnxruntime runs where their operands do not fit.
_UNCHECKED = frozenset({*_JOINED, *_SKIPS})
# Arithmetic whose kernels give NaN where IEEE 754 does, and what gives it on where it gets it.
_MAKES_NAN = frozenset({"Div", "Sqrt"})
_CARRIES_NAN = (
    frozenset({"Abs", "Add", "Concat", "Div", "Mul", "Neg", "ReduceSum", "Sqrt", "Sub"})
    | MOVES_FIRST
)
# What makes integers of floats; ONNX leaves open what becomes of a NaN or an infinity.
_TO_INTEGERS = frozenset({"Cast", "DynamicQuantizeLinear", "QuantizeLinear"})
# A shape has no more elements than that.
_FEW = 16


class Inside:
    """Runs the original once more with everything that its main graph computes as an output."""

    def __init__(self, original: RunnableModel) -> None:
        """Remember the original; it is loaded when it is first asked for."""
        self._original = original
        self._engine: Engine | None = None

    @property
    def has_unchecked(self) -> bool:
        """Whether the main graph has an operator that runs where its operands do not fit."""
        return any(node.op_type in _UNCHECKED for node in self._original.proto.graph.node)

    @property
    def makes_integers(self) -> bool:
        """Whether the main graph has an operator that may make integers of floats."""
        return any(node.op_type in _TO_INTEGERS for node in self._original.proto.graph.node)

    def is_meant(self, feed: Feed) -> bool:
        """Say whether what the original computes is what ONNX says; True where no one can look."""
        found = self._values(feed)
        if found is None:
            return True
        graph = self._original.proto.graph
        small: dict[str, Value] = {
            tensor.name: onnx.numpy_helper.to_array(tensor)
            for tensor in graph.initializer
            if tensor.data_location != onnx.TensorProto.EXTERNAL and np.prod(tensor.dims) <= _FEW
        }
        odd = {name for name, value in found.items() if not _is_finite(value)}
        if odd and not self._gives_nan(odd, found):
            return False
        values = {**small, **feed, **found}
        return not any(_is_forbidden(node, values) for node in graph.node)

    def is_written(self, feed: Feed) -> bool:
        """Say whether the original writes all that it gives; True where no one can look.

        Where joined tensors do not fit, onnxruntime leaves parts of the result as its memory was;
        of a skip for more sequences than there are it takes the first.
        """
        if not self.has_unchecked:
            return True
        if not self.takes(feed):
            return False
        found = self._values(feed)
        return found is None or self.takes({**feed, **found})

    def leaves_open(self, feed: Feed) -> bool:
        """Say whether a NaN or an infinity becomes an integer, of which ONNX says not which.

        Floats of 16 bits have infinities early, and what they are quantized to hides them. False
        where no one can look.
        """
        found = self._values(feed) if self.makes_integers else None
        if found is None:
            return False
        values = {**feed, **found}
        return any(
            isinstance(made := values.get(node.output[0]), np.ndarray)
            and is_integer(made.dtype)
            and not _is_finite(values.get(node.input[0]))
            for node in self._original.proto.graph.node
            if node.op_type in _TO_INTEGERS
        )

    def takes(self, values: Mapping[str, Value]) -> bool:
        """Say whether operators that do not look at their operands take those that are known.

        Args:
            values: Tensors of the main graph by name, such as its inputs.
        """
        nodes = self._original.proto.graph.node
        return not any(_is_forbidden(n, values) for n in nodes if n.op_type in _UNCHECKED)

    def _values(self, feed: Feed) -> dict[str, Value] | None:
        """Return all that the main graph computes; None where it cannot be run."""
        try:
            if self._engine is None:
                self._engine = self._original.of(_open(self._original.proto)).open()
            return self._engine.run(feed)
        except (EngineFailed, MemoryError):
            return None

    def _gives_nan(self, odd: set[str], found: Mapping[str, Value]) -> bool:
        """Say whether all that is not finite is a NaN which ONNX leaves no choice about."""
        if any(_is_infinite(found[name]) for name in odd):
            return False
        for node in self._original.proto.graph.node:
            key = (normal_domain(node.domain), node.op_type)
            if not odd.isdisjoint(names_read(node)):
                if key[0] or key[1] not in _CARRIES_NAN:
                    return False
            elif not odd.isdisjoint(node.output):
                modelled = (node.domain, node.op_type) in self._original.evaluators
                if not modelled and (key[0] or key[1] not in _MAKES_NAN):
                    return False
        return True


def _is_infinite(value: Value) -> bool:
    return any(
        array is None or not is_floating(array.dtype) or bool(np.isinf(widened(array)).any())
        for _, array in leaves(value)
    )


def _open(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = copied(model)
    add_outputs(copy.graph, (name for node in copy.graph.node for name in node.output if name))
    return copy


def _is_finite(value: Value) -> bool:
    return all(
        array is None or not is_floating(array.dtype) or finite(array) for _, array in leaves(value)
    )


def _is_forbidden(node: onnx.NodeProto, values: Mapping[str, Value]) -> bool:
    """Say whether ONNX forbids what a node is given, and onnxruntime runs it all the same."""
    check = _FORBIDDEN.get(node.op_type)
    given = [values.get(name) for name in node.input]
    if node.op_type in _RECURRENT:
        return _no_step(node, given[0])
    if node.op_type == "GroupQueryAttention":
        return _no_length(given[5:7])
    if node.op_type in _JOINED:
        return _no_fit(node, given[_JOINED[node.op_type]])
    if check is None or len(given) < 2:
        return False
    first, second = given[:2]
    if not isinstance(second, np.ndarray):
        return False
    return check(node, first if isinstance(first, np.ndarray) else None, second)


def _no_step(node: onnx.NodeProto, x: Value) -> bool:
    """A recurrent node without a step: onnxruntime (1.32) outputs memory that no one wrote."""
    axis = int_attribute(node, "layout", 0)
    return isinstance(x, np.ndarray) and x.ndim == 3 and x.shape[axis] == 0


def _no_length(given: list[Value]) -> bool:
    """A GroupQueryAttention of sequences that are longer than the longest one.

    seqlens_k is one less than the length of each, total_sequence_length the most of them
    (microsoft/onnxruntime docs/ContribOperators.md); a mask of numbers above 1 counts more.
    """
    each, most = given if len(given) == 2 else (None, None)
    known = isinstance(each, np.ndarray) and isinstance(most, np.ndarray)
    return known and bool((np.asarray(each) + 1 > np.asarray(most).max(initial=0)).any())


def _no_fit(node: onnx.NodeProto, given: list[Value]) -> bool:
    """Joining tensors of other sizes: onnxruntime (1.32) leaves out those without elements.

    QLinearConcat makes room for them all the same, which no one writes.
    """
    shapes = [value.shape for value in given if isinstance(value, np.ndarray)]
    axis = int_attribute(node, "axis", 0)
    kept = {
        (*shape[:at], *shape[at + 1 :])
        for shape in shapes
        if (at := axis % max(1, len(shape))) < len(shape)
    }
    return len(kept) > 1


def _no_size(node: onnx.NodeProto, x: Array | None, shape: Array) -> bool:
    """A Reshape with allowzero that has a 0 and a -1, of which ONNX says no size."""
    zero = int_attribute(node, "allowzero", 0)
    return bool(zero) and bool((shape == 0).any() and (shape == -1).any())


def _no_element(node: onnx.NodeProto, data: Array | None, indices: Array) -> bool:
    """A GatherND of an element that is not there, from data without elements."""
    if data is None or data.size:
        return False
    batch = int_attribute(node, "batch_dims", 0)
    sizes = np.array(data.shape[batch : batch + indices.shape[-1]])
    return bool(((indices < -sizes) | (indices >= sizes)).any())


def _no_place(node: onnx.NodeProto, x: Array | None, condition: Array) -> bool:
    """A Compress whose condition holds after the last element."""
    if x is None:
        return False
    flat = all(attribute.name != "axis" for attribute in node.attribute)
    size = x.size if flat else x.shape[int_attribute(node, "axis", 0)]
    return bool(condition[size:].any())


def _no_batch(node: onnx.NodeProto, x: Array | None, skip: Array) -> bool:
    """A skip for other sequences than the input has: onnxruntime (1.32) looks at two axes of it.

    It is (batch, sequence, hidden), (1, sequence, hidden) or (sequence, hidden)
    (microsoft/onnxruntime docs/ContribOperators.md).
    """
    return x is not None and x.ndim == skip.ndim == 3 and skip.shape[0] not in (1, x.shape[0])


_FORBIDDEN: dict[str, Callable[[onnx.NodeProto, Array | None, Array], bool]] = {
    "Reshape": _no_size,
    "GatherND": _no_element,
    "Compress": _no_place,
    **dict.fromkeys(_SKIPS, _no_batch),
}
