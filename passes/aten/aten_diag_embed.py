"""Replace diag_embed by Gather and a constant mask.

What it does: Writes vectors on the diagonals of new matrices of zeros: one Gather repeats each
    entry along its row, a constant mask sets the rest to zero, and a Transpose moves the two new
    axes to where they are wanted.
Why engines need it: ONNX has no such operator, and PyTorch's exporter writes an ATen node.
Before: y = org.pytorch.aten.ATen <operator = "diag_embed"> (x, 0, -2, -1)   # x: float[B, 3]
After:
    rows = Gather <axis = 1> (x, [[0, 0, 0], [0, 1, 1], [0, 1, 2]])
    y = Where (identity, rows, 0)                                        # y: float[B, 3, 3]
When it refuses: An argument is computed at run time, the rank or the type is unknown, the length of
    the vectors is unknown or zero, or the matrices would have more than four million elements.
Accuracy: Exact, bit by bit, from opset 9 on. Below it, which has no Where, an infinity or NaN in a
    vector makes its neighbours NaN.
References: pytorch/pytorch aten/src/ATen/native/TensorShape.cpp (diag_embed);
    https://onnx.ai/onnx/operators/onnx__Gather.html;
    https://onnx.ai/onnx/operators/onnx__Where.html
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value

from ._arguments import ArrayCall, call_of, replacing

NAMES = ("diag_embed",)
SCHEMA = ("self", "offset", "dim1", "dim2")
LARGEST = 1 << 22


def _read(node: NodeView) -> tuple[Value, int, int, int]:
    """Return the vectors, the diagonal, and the axes of rows and columns of the result."""
    call = call_of(node, {"diag_embed": SCHEMA})
    x = call.need("self")
    if not x.rank or not x.elem_type:
        raise Refuse(f"the rank of {x.name} must be at least 1 and its dtype known")
    offset, rank = int(call.number("offset", 0)), x.rank + 1
    first, second = int(call.number("dim1", -2)), int(call.number("dim2", -1))
    if any(not -rank <= axis < rank for axis in (first, second)):
        raise Refuse(f"the axes must lie in rank {rank}; they are {first} and {second}")
    if first % rank == second % rank:
        raise Refuse(f"the axes must differ; they are {first} and {second}")
    return x, offset, first % rank, second % rank


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Write the entries one by one."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    x, offset = call.need("self"), int(call.number("offset", 0))
    length = x.shape[-1]
    size = length + abs(offset)
    y = np.zeros((*x.shape[:-1], size, size), dtype=x.dtype)
    for place in range(length):
        y[..., place + max(-offset, 0), place + max(offset, 0)] = x[..., place]
    first, second = int(call.number("dim1", -2)), int(call.number("dim2", -1))
    return (np.ascontiguousarray(np.moveaxis(y, (-2, -1), (first, second))),)


@replacing(NAMES, emits="And Gather Mul Transpose Where", evaluate=evaluate)
def aten_diag_embed(node: NodeView, build: Builder) -> Value:
    """Repeat and mask, see the module."""
    x, offset, first, second = _read(node)
    length, rank = x.dim(-1), x.rank
    assert rank is not None  # _read has looked
    if not length:
        raise Refuse(f"the length of the vectors of {x.name} must be known and not 0")
    size = length + abs(offset)
    if size * size > LARGEST:
        raise Refuse(
            f"a mask must have at most {LARGEST} elements; matrices of {size} rows have more"
        )
    numbers: Array = np.arange(size)
    places = np.minimum(np.minimum(numbers[:, None], numbers[None, :]), length - 1)
    rows = build.Gather(x, places.astype(np.int64), axis=rank - 1)
    # The mask gets the rank of the rows, which engines before TensorRT 8 ask for.
    mask: Array = np.eye(size, k=offset, dtype=bool).reshape((1,) * (rank - 1) + (size, size))
    if x.elem_type == TensorProto.BOOL:
        result = build.And(rows, mask)
    elif build.opset >= 9:
        result = build.Where(build.constant(mask), rows, np.zeros((), dtype=x.dtype))
    else:
        result = build.Mul(rows, mask.astype(x.dtype))
    order = list(range(rank - 1))
    for axis, source in sorted(((first, rank - 1), (second, rank))):
        order.insert(axis, source)
    return result if order == sorted(order) else build.Transpose(result, perm=order)
