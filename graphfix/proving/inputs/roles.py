"""Integer inputs by role: indices stay inside their table, shapes and axes make sense.

The roles are those that the operator pages of ONNX give to each input; an input without a role
gets ordinary numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from graphfix.operators.table import AXES
from graphfix.proving.inputs.uses import Use, int_attribute
from graphfix.proving.values.kinds import Array

Dims = Callable[[str], "list[int] | None"]

# Integers that feed these are numbers like any other: negative ones and ties are wanted.
ARITHMETIC = frozenset(
    {"Add", "Sub", "Mul", "Neg", "Abs", "Sign", "Min", "Max", "Equal", "Less", "Greater"}
    | {"LessOrEqual", "GreaterOrEqual", "Clip", "Relu", "Sum", "Where", "MatMul", "Cast"}
    | {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ArgMax", "ArgMin"}
    | {"TopK", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "Gather", "Mod", "Div"}
)
# (operator, position) of a single small number, with the bounds it is drawn from.
_SMALL = {
    ("TopK", 1): (1, 1),
    ("CumSum", 1): (0, 0),
    ("CumProd", 1): (0, 0),
    ("Trilu", 1): (-1, 1),
    ("Loop", 0): (1, 4),
    ("Tile", 1): (1, 3),
    ("ConstantOfShape", 0): (1, 4),
    ("SequenceAt", 1): (0, 0),
    ("SequenceInsert", 2): (0, 0),
    ("SequenceErase", 1): (0, 0),
    ("BitShift", 1): (0, 7),
    ("Pow", 1): (0, 3),
    ("NonMaxSuppression", 2): (2, 5),
    ("OneHot", 1): (3, 6),
    ("Pad", 1): (0, 1),
    ("Range", 0): (0, 1),
    ("Range", 1): (4, 7),
    ("Range", 2): (1, 2),
    ("DFT", 1): (4, 8),
    ("STFT", 1): (2, 3),
    ("STFT", 3): (8, 8),
    ("HannWindow", 0): (4, 9),
    ("HammingWindow", 0): (4, 9),
    ("BlackmanWindow", 0): (4, 9),
    ("AffineGrid", 1): (2, 4),
}


def draw(
    uses: Sequence[Use], shape: tuple[int, ...], dims: Dims, rng: np.random.Generator
) -> Array | None:
    """Return int64 values that suit every role of an input, None where no use gives one."""
    for use in uses:
        values = _shaped(use, shape, dims, rng)
        if values is not None:
            return values
    bounds = [b for b in (_table(use, dims) for use in uses) if b is not None]
    if bounds:
        low = max(b[0] for b in bounds)
        return rng.integers(low, max(low, min(b[1] for b in bounds)) + 1, shape)
    if any(use.op in ("Div", "Mod") and use.position == 1 for use in uses):
        values = rng.integers(-5, 6, shape)
        return np.where(values == 0, 3, values)
    return None


def _table(use: Use, dims: Dims) -> tuple[int, int] | None:
    """Return the least and the greatest index that a use allows."""
    node, op, position = use.node, use.op, use.position
    if (op, position) in _SMALL:
        return _SMALL[op, position]
    data = dims(node.input[0]) if node.input and node.input[0] else None
    size: int | None = None
    if op in ("Gather", "GatherElements", "ArrayFeatureExtractor") and position == 1:
        axis = -1 if op == "ArrayFeatureExtractor" else int_attribute(node, "axis", 0)
        size = _size(data, axis)
    elif op.endswith("EmbedLayerNormalization") and position in (0, 1):
        size = _size(dims(node.input[2 if position == 0 else 4]), 0)
    elif op == "GroupQueryAttention" and position in (5, 6):
        return _lengths(use, data, dims)
    elif op in ("RotaryEmbedding", "MRotaryEmbedding") and position == 1:
        size = _size(dims(node.input[2]), 0)
    elif (op in ("GatherBlockQuantized", "TorchEmbedding") and position == 1) or (
        op == "CropAndResize" and position == 2
    ):
        size = _size(data, int_attribute(node, "gather_axis", 0))
    elif op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss") and position == 1:
        size = _size(data, 1)
    elif op in ("RoiAlign", "MaxRoiPool") and position == 2:
        size = _size(data, 0)
    elif op == "OneHot" and position == 0:
        return 0, 2
    elif op == "GatherND" and position == 1 and data:
        size = min(data)
    elif op == "ReverseSequence" and position == 1 and data:
        return 1, max(1, data[int_attribute(node, "time_axis", 0)])
    elif op in ("RNN", "GRU", "LSTM") and position == 4 and data:
        return 1, max(1, data[int_attribute(node, "layout", 0)])
    return None if size is None else (0, max(0, size - 1))


def _lengths(use: Use, data: list[int] | None, dims: Dims) -> tuple[int, int] | None:
    """Return the lengths that GroupQueryAttention takes: of each entry less 1, and of the longest.

    Entries may be shorter where one query stands for each; others have all keys of the cache.
    """
    queries = _size(data, 1)
    past = use.node.input[3] if len(use.node.input) > 3 else ""
    before = _size(dims(past), 2) if past else 0
    if queries is None or before is None:
        return None
    total = before + queries
    if use.position == 6:
        return total, total
    return (0 if queries == 1 else total - 1), total - 1


def _size(dims: list[int] | None, axis: int) -> int | None:
    if dims is None or not -len(dims) <= axis < len(dims):
        return None
    return dims[axis]


def _shaped(use: Use, shape: tuple[int, ...], dims: Dims, rng: np.random.Generator) -> Array | None:
    """Return whole arrays for inputs whose elements depend on each other."""
    node, op, position = use.node, use.op, use.position
    data = dims(node.input[0]) if node.input and node.input[0] else None
    if op in ("ScatterND", "GatherND") and position == 1 and shape and not shape[-1]:
        return np.zeros(shape, dtype=np.int64)  # indices of no axis: the whole data
    if op in ("ScatterND", "ScatterElements", "Scatter", "MaxUnpool") and position == 1:
        return _unique(op, node_axis(use), shape, data, rng)
    if op == "GatherND" and position == 1 and data and shape:
        # Batch dimensions are not indexed.
        first = int_attribute(node, "batch_dims", 0)
        table = data[first : first + shape[-1]]
        if len(table) == shape[-1]:
            return np.stack([rng.integers(0, max(1, n), shape[:-1]) for n in table], axis=-1)
    if len(shape) != 1:
        return None
    count = shape[0]
    if op in ("Reshape", "Expand", "CenterCropPad") and position == 1:
        return _new_shape(use, count, data, dims)
    if position == AXES.get(op):
        return np.arange(count)
    if op == "Slice" and position in (1, 2, 3, 4):
        return (np.zeros(count), np.full(count, 2**31 - 1), np.arange(count), np.ones(count))[
            position - 1
        ].astype(np.int64)
    if op == "Split" and position == 1 and data:
        size = data[int_attribute(node, "axis", 0)]
        return np.array([size // count] * (count - 1) + [size - size // count * (count - 1)])
    if op == "Resize" and position == 3 and data and len(data) == count:
        return np.array(data[:2] + [2 * size for size in data[2:]])
    return None


def node_axis(use: Use) -> int:
    """Return the axis attribute of the node of a use, 0 where it has none."""
    return int_attribute(use.node, "axis", 0)


def _new_shape(use: Use, count: int, data: list[int] | None, dims: Dims) -> Array:
    known = dims(use.node.output[0])
    if known is not None and len(known) == count:
        return np.array(known, dtype=np.int64)
    if use.op == "Expand":
        return np.ones(count, dtype=np.int64)
    if data is not None and len(data) == count:
        return np.array(data, dtype=np.int64)
    return np.array(([-1] + [1] * (count - 1))[:count], dtype=np.int64)


def _unique(
    op: str, axis: int, shape: tuple[int, ...], data: list[int] | None, rng: np.random.Generator
) -> Array | None:
    """Return indices without repeats: writing twice to one place has no defined order."""
    if data is None or not shape:
        return None
    if op == "MaxUnpool":
        total = math.prod(shape)
        return rng.permutation(total).reshape(shape)
    if op == "ScatterND":
        table = data[: shape[-1]]
        rows, places = math.prod(shape[:-1]), math.prod(table)
        if len(table) != shape[-1] or rows > places:
            return None
        flat = rng.permutation(places)[:rows]
        return np.stack(np.unravel_index(flat, table), axis=-1).reshape(shape)
    if not -len(data) <= axis < len(data) or shape[axis] > data[axis]:
        return None
    keys = rng.random((*shape[:axis], data[axis], *shape[axis + 1 :])) if axis >= 0 else None
    if keys is None:
        axis += len(data)
        keys = rng.random((*shape[:axis], data[axis], *shape[axis + 1 :]))
    return np.take(np.argsort(keys, axis=axis), np.arange(shape[axis]), axis=axis)
