"""Compute in a wider type what is between nodes as integers that an engine has not."""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Editor, NodeView, graph_pass

from . import _integers
from ._retyping import Retyping, retype

_NARROW = frozenset({TensorProto.UINT8, TensorProto.UINT16, TensorProto.INT16})
_NAMES = ("uint8", "uint16", "int16")
_TAKEN = (*_integers.MOVES, *_integers.WRAPPING, *_integers.KEEPING, *_integers.ENDS)
_TOUCHED = (*_TAKEN, *_integers.FORMED)


@graph_pass(
    removes=(
        *(f"dtype:{name}" for name in _NAMES),
        *(f"dtype:{op}.{name}" for op in _TOUCHED for name in _NAMES),
    ),
    emits=_TOUCHED,
)
def narrow_integers_to_int32(editor: Editor) -> None:
    """Compute in int32 what is between nodes as 8 or 16 bit integers.

    What it does: All nodes that pass such tensors to each other are written in int32: data is moved
        as int32, sums and products wrap around as before, and what the model outputs is cast back.
    Why engines need it: TensorRT takes uint8 from 8.5 on, as input and output alone ("TensorRT does
        not support UINT8 types for intermediate tensors!"), and has no other narrow integers.
    Before:
        q = Cast <to = 2> (x)              # uint8
        r = Transpose (q)
        y = Cast <to = 1> (r)
    After:
        q = Mod (Cast <to = 6> (x), 256)
        r = Transpose (q)
        y = Cast <to = 1> (r)
    When it refuses: One of the nodes is none that is listed here: then all that are connected with
        it stay as they are, and the refusal names it. A product of uint16 needs more than 31 bits.
    Accuracy: Exact: int32 holds every value, and what would wrap around is taken modulo its range.
        Floats outside the range have no defined result before, and another one after. A linear
        Resize cuts fractions off as onnxruntime does; an engine that rounds differently may be one
        less: approximate.
    References: ModelImporter.cpp:243 of onnx-tensorrt, release 8.6; NvInfer.h 8.6.1,
        DataType::kUINT8; NVIDIA/TensorRT issues 1775, 2809
    """
    retype(
        editor,
        Retyping(
            narrow=_NARROW,
            wide=TensorProto.INT32,
            refused=_refused,
            forms=_integers.forms(_NARROW, TensorProto.INT32),
            wrapped=_integers.wrapped,
            constant=_wide,
            rounds=_integers.samples_linearly,
            said="one less where an engine rounds a whole mean to less than it is",
        ),
    )


def _refused(view: NodeView) -> str:
    if view.op == "Mul" and view.need(0).elem_type == TensorProto.UINT16:
        return "a product of uint16 does not fit into int32"
    return _integers.refused(view, _NARROW, _TAKEN)


def _wide(array: Array) -> Array:
    return array.astype(np.int32)


_UINT32 = frozenset({int(TensorProto.UINT32)})
_UINT32_TAKEN = (
    *(*_integers.MOVES, *_integers.WRAPPING, *_integers.SUMS),
    *(*_integers.KEEPING, *_integers.ENDS),
)
_UINT32_TOUCHED = tuple(op for op in (*_UINT32_TAKEN, *_integers.FORMED) if op != "MaxPool")


@graph_pass(
    removes=(*(f"dtype:{op}.uint32" for op in _UINT32_TOUCHED), "dtype:uint32"),
    emits=_UINT32_TOUCHED,
)
def uint32_to_int64(editor: Editor) -> None:
    """Compute in int64 what is between nodes as uint32.

    What it does: All nodes that pass uint32 tensors to each other are written in int64: data is
        moved as int64, sums and products are taken modulo 2^32, and what the model outputs is cast
        back.
    Why engines need it: TensorRT has no unsigned integers but uint8 ("Unsupported data type for the
        Cast operator!", "Found unsupported datatype when importing initializer").
    Before:
        q = Cast <to = 12> (x)             # uint32
        y = Cast <to = 1> (Add (q, 7))
    After:
        q = Mod (Add (Cast <to = 7> (x), 7), 4294967296)
        y = Cast <to = 1> (q)
    When it refuses: One of the nodes is none that is listed here: then all that are connected with
        it stay as they are, and the refusal names it.
    Accuracy: Exact: int64 holds every value, and what would wrap around is taken modulo 2^32, which
        the wrapping of int64 does not change. Floats outside the range have no defined result
        before, and another one after. ReduceSum of onnxruntime adds integers through float64, so
        that tensors of more than 2^21 elements, or of unknown size, are summed as their upper and
        their lower 16 bits apart. Approximate where a Resize takes means: it does so in float32,
        which rounds numbers beyond 2^24.
    References: onnx2trt_utils.cpp:346, 748 of onnx-tensorrt, release 8.6; importerUtils.cpp:
        convertDtype, 10.1
    """
    retype(
        editor,
        Retyping(
            narrow=_UINT32,
            wide=TensorProto.INT64,
            refused=_uint32_refused,
            forms={
                **_integers.forms(_UINT32, TensorProto.INT64),
                **_integers.by_comparison(),
                "ReduceSum": _integers.summed,
            },
            rounds=_integers.samples_linearly,
            said="means are taken in float32, which rounds numbers beyond 2^24",
            wrapped=_integers.wrapped,
            constant=_uint32_wide,
        ),
    )


def _uint32_refused(view: NodeView) -> str:
    return _integers.refused(view, _UINT32, _UINT32_TAKEN)


def _uint32_wide(array: Array) -> Array:
    return array.astype(np.int64)
