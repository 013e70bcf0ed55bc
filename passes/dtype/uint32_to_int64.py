"""Compute in int64 what is between nodes as uint32.

What it does: All nodes that pass uint32 tensors to each other are written in int64: data is moved
    as int64, sums and products are taken modulo 2^32, and what the model outputs is cast back.
Why engines need it: TensorRT has no unsigned integers but uint8 ("Unsupported data type for the
    Cast operator!", "Found unsupported datatype when importing initializer").
Before:
    q = Cast <to = 12> (x)             # uint32
    y = Cast <to = 1> (Add (q, 7))
After:
    q = Mod (Add (Cast <to = 7> (x), 7), 4294967296)
    y = Cast <to = 1> (q)
When it refuses: One of the nodes is none that is listed here: then all that are connected with it
    stay as they are, and the refusal names it.
Accuracy: Exact: int64 holds every value, and what would wrap around is taken modulo 2^32, which the
    wrapping of int64 does not change. Floats outside the range have no defined result before, and
    another one after. ReduceSum of onnxruntime adds integers through float64, so that tensors of
    more than 2^21 elements, or of unknown size, are summed as their upper and their lower 16 bits
    apart. Approximate where a Resize takes means: it does so in float32, which rounds numbers
    beyond 2^24.
References: onnx2trt_utils.cpp:346, 748 of onnx-tensorrt, release 8.6; importerUtils.cpp:
    convertDtype, 10.1
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Editor, NodeView, graph_pass

from . import _integers
from ._retyping import Retyping, retype

_NARROW = frozenset({int(TensorProto.UINT32)})
_TAKEN = (
    *(*_integers.MOVES, *_integers.WRAPPING, *_integers.SUMS),
    *(*_integers.KEEPING, *_integers.ENDS),
)
_TOUCHED = tuple(op for op in (*_TAKEN, *_integers.FORMED) if op != "MaxPool")


@graph_pass(removes=(*(f"dtype:{op}.uint32" for op in _TOUCHED), "dtype:uint32"), emits=_TOUCHED)
def uint32_to_int64(editor: Editor) -> None:
    """Look at all that uint32 tensors connect, see the module."""
    retype(
        editor,
        Retyping(
            narrow=_NARROW,
            wide=TensorProto.INT64,
            refused=_refused,
            forms={
                **_integers.forms(_NARROW, TensorProto.INT64),
                **_integers.by_comparison(),
                "ReduceSum": _integers.summed,
            },
            rounds=_integers.samples_linearly,
            said="means are taken in float32, which rounds numbers beyond 2^24",
            wrapped=_integers.wrapped,
            constant=_wide,
        ),
    )


def _refused(view: NodeView) -> str:
    return _integers.refused(view, _NARROW, _TAKEN)


def _wide(array: Array) -> Array:
    return array.astype(np.int64)
