"""Compute on integers in a wider type, or in floats, where an engine takes none."""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    COMPARISONS,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_type,
    rewrite,
)

from ._integers import WRAPPING, resized_in_float, samples_linearly

_BYTES = (TensorProto.INT8, TensorProto.UINT8)
_NARROW = (*_BYTES, TensorProto.INT16, TensorProto.UINT16)
_PLACES = ("DepthToSpace", "SpaceToDepth")
_FLOATS = (*_PLACES, "MaxPool")
_SIGNS = ("Abs", "Neg")
_WHOLE = ("Clip", "Max", "Min", "Mod", *(op for op in WRAPPING if op not in _SIGNS))
_MOD = 10  # the opset that it came with
_TAKEN = (*_WHOLE, "Where", *sorted(COMPARISONS))


@rewrite(
    (*_FLOATS, *_TAKEN),
    removes=(
        *(f"dtype:{op}.{name}" for op in _FLOATS for name in ("int8", "uint8")),
        *(f"dtype:{op}.int32" for op in _PLACES),
        *(f"dtype:{op}.{n}" for op in _TAKEN for n in ("int8", "uint8", "int16", "uint16")),
    ),
    emits=(*_FLOATS, *_TAKEN, "Add", "Cast", "Mod", "Sub"),
    since=7,
)
def bytes_through_wider(node: NodeView, build: Builder) -> Value:
    """Compute on 8 and 16 bit integers in a wider type where an engine takes none.

    What it does: Casts int8, uint8, int16 and uint16 to int32, and the result back: for Clip, Mod,
        Where, sums, products, extremes and comparisons; products of uint16 go through int64,
        DepthToSpace, SpaceToDepth and MaxPool of 8 bits through float32, the first two of int32
        through float64. What wraps around is taken modulo the range of the type.
    Why engines need it: TensorRT's Clip takes floats and int32 only, its Mod int32, and its MaxPool
        no uint8. onnxruntime 1.10 adds, multiplies, compares and chooses no narrow integers, and
        has DepthToSpace of floats alone.
    Before: y = Clip (x, low, high)        # int8
    After: y = Cast <to = 3> (Clip (Cast <to = 6> (x), Cast <to = 6> (low), Cast <to = 6> (high)))
    When it refuses: The elements are not such integers, there are several outputs, or a result that
        wraps around would need Mod below opset 10.
    Accuracy: Exact: the wider type holds all results, and what would wrap around is taken modulo
        its range.
    References: builtin_op_importers.cpp:464-481, 3072 of onnx-tensorrt, release 8.6;
        https://onnx.ai/onnx/operators/onnx__Clip.html; onnxruntime 1.10.0, measured
    """
    first = int(node.op == "Where")  # after the condition
    x = node.need(first)
    moved = (*_BYTES, TensorProto.INT32) if node.op in _PLACES else _BYTES
    need_type(x, moved if node.op in _FLOATS else _NARROW)
    kind = TensorProto.FLOAT if node.op in _FLOATS else TensorProto.INT32
    if x.elem_type == TensorProto.INT32:
        kind = TensorProto.DOUBLE  # float32 does not hold all of them
    if node.op == "Mul" and x.elem_type == TensorProto.UINT16:
        kind = TensorProto.INT64  # int32 does not hold all products
    if len(node.outputs) > 1:
        raise Refuse("there must be one output; there is a second")
    if node.op in WRAPPING and build.opset < _MOD:
        raise Refuse(f"the opset must have Mod, from {_MOD} on; it is {build.opset}")
    result = _computed(node, build, kind, first)
    if node.op in COMPARISONS:
        return result
    if node.op in WRAPPING:
        result = _wrapped(result, x, build)
    return build.Cast(result, to=x.elem_type)


def _computed(node: NodeView, build: Builder, kind: int, first: int = 0) -> Value:
    """Compute on what is cast to a wider type, from the operand `first` on."""
    wide = [None if v is None else build.Cast(v, to=kind) for v in node.inputs[first:]]
    attributes = {name: node.attr(name) for name in node.attributes}
    (result,) = build.multi(node.op, *node.inputs[:first], *wide, **attributes)
    return result


def _wrapped(result: Value, x: Value, build: Builder) -> Value:
    """Take wider integers modulo the range of the type of `x`."""
    assert x.dtype is not None
    assert result.dtype is not None
    limits, wide = np.iinfo(x.dtype), result.dtype.type
    span, low = wide(int(limits.max) - int(limits.min) + 1), wide(limits.min)
    if not low:
        return build.Mod(result, span)
    return build.Add(build.Mod(build.Sub(result, low), span), low)


@rewrite("Cast", removes="form:Cast.uint8-to-float32", emits="Cast")
def bytes_to_floats_through_int32(node: NodeView, build: Builder) -> Value:
    """Cast bytes to float32 through int32.

    What it does: Casts uint8 to int32 first, and that to float32.
    Why engines need it: QNN casts uint8 to float32 as if it were bool: what is not 0 becomes 1.
    Before: y = Cast <to = 1> (x)                      # x: uint8
    After: y = Cast <to = 1> (Cast <to = 6> (x))
    When it refuses: The input is not uint8, or the result not float32.
    Accuracy: Exact: int32 and float32 have all numbers of uint8.
    References: https://onnx.ai/onnx/operators/onnx__Cast.html; measured with onnxruntime-qnn 2.7.0
    """
    x = node.need(0)
    need_type(x, (TensorProto.UINT8,))
    if node.attr("to") != TensorProto.FLOAT:
        raise Refuse(f"the result must be float32; it is of element type {node.attr('to')}")
    return build.Cast(build.Cast(x, to=TensorProto.INT32), to=TensorProto.FLOAT)


_SIGNED = (TensorProto.INT8, TensorProto.INT16, TensorProto.INT32)


@rewrite("Where", removes="dtype:Where.int32 dtype:Where.int8", emits="Cast Where", since=9)
def where_through_int64(node: NodeView, build: Builder) -> Value:
    """Choose between integers as int64.

    What it does: Casts what Where chooses between to int64, and its result back.
    Why engines need it: rknn-toolkit2 ends its process on Where of int32, "Meet unsupported tensor
        dtype", and refuses int8; it takes int64.
    Before: y = Where (c, a, b)                  # a, b: int32
    After: y = Cast <to = 6> (Where (c, Cast <to = 7> (a), Cast <to = 7> (b)))
    When it refuses: The numbers are neither int8, int16 nor int32.
    Accuracy: Exact.
    References: https://onnx.ai/onnx/operators/onnx__Where.html; measured in the simulator of
        rknn-toolkit2 2.3.2
    """
    need_type(node.need(1), _SIGNED)
    return build.Cast(_computed(node, build, TensorProto.INT64, 1), to=node.need(1).elem_type)


_OF_UINT64 = ("Add", "Mul", "Sub", "Split", *sorted(COMPARISONS))


@rewrite(
    _OF_UINT64,
    removes=tuple(f"dtype:{op}.uint64" for op in _OF_UINT64),
    emits=(*_OF_UINT64, "Cast"),
    since=7,
)
def uint64_through_int64(node: NodeView, build: Builder) -> tuple[Value, ...]:
    """Compute on uint64 by the same bits as int64 where an engine has no kernel for it.

    What it does: Casts uint64 to int64 and the result back: sums, differences and products wrap
        around in the same bits whatever the sign. Comparisons first shift both by 2^63, which keeps
        their order; Split moves what it gets.
    Why engines need it: onnxruntime up to 1.20 adds, multiplies and compares no uint64, up to 1.12
        it splits none.
    Before: y = Add (a, b)                 # uint64
    After: y = Cast <to = 13> (Add (Cast <to = 7> (a), Cast <to = 7> (b)))
    When it refuses: The elements are not uint64, or an operand is missing.
    Accuracy: Exact: a cast between the two keeps the bits, and integers of 64 bits wrap around.
    References: graphfix/engines/onnxruntime/facts/kernels.json, measured;
        https://onnx.ai/onnx/operators/onnx__Cast.html
    """
    first = node.need(0)
    need_type(first, (TensorProto.UINT64,))
    attributes = {name: node.attr(name) for name in node.attributes}
    signed = build.Cast(first, to=TensorProto.INT64)
    if node.op == "Split":
        parts = build.multi(
            "Split", signed, *node.inputs[1:], outputs=len(node.outputs), **attributes
        )
        return tuple(build.Cast(part, to=TensorProto.UINT64) for part in parts)
    other = build.Cast(node.need(1), to=TensorProto.INT64)
    if node.op in COMPARISONS and node.op != "Equal":
        lowest = np.int64(np.iinfo(np.int64).min)  # adding it turns the highest bit over
        signed, other = build.Add(signed, lowest), build.Add(other, lowest)
    (result,) = build.multi(node.op, signed, other, **attributes)
    return (result if node.op in COMPARISONS else build.Cast(result, to=TensorProto.UINT64),)


_WIDE = 8


@rewrite(
    "Div",
    removes=tuple(f"dtype:Div.{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    emits="Cast Div",
)
def integer_div_through_float(node: NodeView, build: Builder) -> Value:
    """Divide integers in floats and cut the fraction off.

    What it does: Casts both operands to float64, divides, and casts back, which cuts off towards
        zero, as a division of integers does.
    Why engines need it: OpenCV 4 computes all in floats and leaves the fraction: 7 / 2 is 3.5,
        without a word.
    Before: y = Div (a, b)                   # int32
    After: y = Cast <to = 6> (Div (Cast <to = 11> (a), Cast <to = 11> (b)))
    When it refuses: The operands are no integers.
    Accuracy: Exact for integers of up to 32 bits, whose quotients differ from integers by more than
        float64 rounds. Approximate for 64 bits: a dividend or a divisor beyond 2^53 is rounded. An
        engine that computes in float32 does so beyond 2^23. A division by 0 is not defined.
    References: https://onnx.ai/onnx/operators/onnx__Div.html; measured on OpenCV 4.8.1 and 4.10.0
    """
    a = node.need(0)
    if a.dtype is None or a.dtype.kind not in "iu":
        raise Refuse(f"{a.name} must be an integer; it is {a.type_name}")
    if a.dtype.itemsize >= _WIDE:
        build.declare(APPROXIMATE, "operands beyond 2^53 in size are rounded")
    return build.Cast(_computed(node, build, TensorProto.DOUBLE), to=a.elem_type)


_MOST = 2.0**24


def _is_whole(exponents: np.ndarray[Any, Any] | None) -> bool:
    """Say whether constants are integers that float32 holds: no fraction is cut off then."""
    if exponents is None or exponents.dtype not in (np.float32, np.float64):
        return False
    wide = exponents.astype(np.float64)
    return bool((np.isfinite(wide) & (np.abs(wide) <= _MOST) & (wide == np.floor(wide))).all())


@rewrite(
    "Pow",
    removes="dtype:Pow.int32 dtype:Pow.int64",
    emits="Cast Pow Round",
    accuracy=APPROXIMATE,
    since=12,
)
def integer_pow_through_float(node: NodeView, build: Builder) -> Value:
    """Compute powers of integers in floats.

    What it does: Casts base and exponent to float32, takes the power, and rounds it to the nearest
        integer.
    Why engines need it: TensorRT refuses Pow of integers up to 10.11.
    Before: y = Pow (x, n)            # int32
    After: y = Cast <to = 6> (Round (Pow (Cast <to = 1> (x), Cast <to = 1> (n))))
    When it refuses: The base is no integer, the exponent neither integer nor a constant of float32
        or float64 that is whole and up to 2^24, or the opset is below 12, where integers have no
        power.
    Accuracy: Approximate: powers beyond 2^24 in size are rounded, and what overflows is not
        defined.
    References: onnx2trt_utils.cpp:865 of onnx-tensorrt, release 8.6;
        https://onnx.ai/onnx/operators/onnx__Pow.html
    """
    x, n = node.need(0), node.need(1)
    if x.dtype is None or x.dtype.kind not in "iu":
        raise Refuse(f"{x.name} must be an integer; it is {x.type_name}")
    if (n.dtype is None or n.dtype.kind not in "iu") and not _is_whole(build.const(n)):
        raise Refuse(f"{n.name} must be integers; it is {n.type_name}, and not known to be whole")
    build.declare(APPROXIMATE, "powers beyond 2^24 in size are rounded")
    power = build.Pow(build.Cast(x, to=TensorProto.FLOAT), build.Cast(n, to=TensorProto.FLOAT))
    return build.Cast(build.Round(power), to=x.elem_type)


_NAMES = ("int8", "uint8", "int32")
_SOURCES = frozenset({getattr(TensorProto, name.upper()) for name in _NAMES})


@rewrite(
    "Resize",
    removes=(
        *(f"dtype:Resize.{name}" for name in _NAMES),
        *(f"{kind}:Resize.*" for kind in ("attr", "form", "rank")),
    ),
    emits="Cast Resize",
    accuracy=APPROXIMATE,
    since=10,
)
def integer_resize_through_float(node: NodeView, build: Builder) -> Value:
    """Resize integers linearly in float32.

    What it does: Casts the integers to float32, resizes these, and casts the means back, which cuts
        off their fractions.
    Why engines need it: TensorRT 7 resizes no int32 ("This version of TensorRT does not support
        INT32 or BOOL input for the Resize operator."), later ones no uint8; and what stands for a
        Resize that an engine lacks multiplies floats.
    Before: y = Resize <mode = "linear"> (x, , scales)        # x: int32
    After: y = Cast <to = 6> (Resize <mode = "linear"> (Cast <to = 1> (x), , scales))
    When it refuses: The elements are not of int8, uint8 or int32, the mode is not linear, or there
        is antialias, for which onnxruntime has integer weights. What the engine lacks of the Resize
        of floats is computed in other steps (a product of matrices, for example): a mean of 4 that
        is rounded to 3.9999998 there is cut off to 3.
    Accuracy: Approximate: onnxruntime weights in float32 too and cuts off, so that it gives the
        same; where an engine rounds a whole mean to less than it is, the result is one less.
    References: onnxruntime/core/providers/cpu/tensor/upsample.h: UpsampleBilinear;
        builtin_op_importers.cpp:2538 of onnx-tensorrt, release 7.1, and 3733 of 8.6
    """
    x = node.need(0)
    need_type(x, _SOURCES)
    if not samples_linearly(node):
        raise Refuse(
            f"the mode must be linear, without antialias; it is {node.attr('mode', 'nearest')}"
        )
    build.declare(APPROXIMATE, "one less where a whole mean is rounded to less than it is")
    return resized_in_float(node, list(node.inputs), x.elem_type, build)


_OPERATORS = ("ArgMax", "ArgMin", "TopK")
_BYTES_EXACT = 2
_DIGIT = 2**16
_AFTER = 4.0 * _DIGIT  # more than two digits differ by


@rewrite(
    _OPERATORS,
    removes=tuple(f"dtype:{op}.*" for op in _OPERATORS),
    emits=(*_OPERATORS, "Add", "Cast", "Div", "Mul", "ReduceMax", "ReduceMin", "Sub"),
)
def topk_of_integers_through_float(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Rank integers as floats.

    What it does: Casts the integers to float32, ranks them there, and casts the values back. The
        place of the largest or smallest of wider integers than 16 bits is sought digit by digit, of
        16 bits each: what is after in one digit gets so much less in the next that it stays after.
    Why engines need it: TensorRT 7 ranks floats only; TopK, ArgMax and ArgMin of integers stop its
        parser.
    Before: values, indices = TopK (x, k)        # x: int32
    After:
        f, indices = TopK (Cast <to = 1> (x), k)
        values = Cast <to = 6> (f)

        place = ArgMax (x)                   # x: int32

        first = Cast <to = 1> (Div (x, 65536))
        second = Cast <to = 1> (Sub (x, Mul (Div (x, 65536), 65536)))
        place = ArgMax (Sub (second, Mul (Sub (ReduceMax (first), first), 262144)))
    When it refuses: The elements are no integers.
    Accuracy: Exact for ArgMax and ArgMin, and for TopK of 8 and 16 bits. Wider integers beyond 2^24
        in size are rounded by TopK, and such that differ by less than the rounding may be taken for
        each other: approximate.
    References: builtin_op_importers.cpp:3130 of onnx-tensorrt, release 7.0; onnx-tensorrt issue
        450; https://onnx.ai/onnx/operators/onnx__TopK.html
    """
    x = node.need(0)
    dtype = x.dtype
    if dtype is None or dtype.kind not in "iu":
        raise Refuse(f"{x.name} must be an integer; it is {x.type_name}")
    if dtype.itemsize > _BYTES_EXACT and node.op != "TopK":
        return build.multi(
            node.op,
            _ranked_by_digits(node, x, dtype.itemsize // 2, build),
            **{name: node.attr(name) for name in node.attributes},
        )
    if dtype.itemsize > _BYTES_EXACT:
        build.declare(APPROXIMATE, "integers beyond 2^24 are rounded before they are ranked")
    others = [node.need(index) for index in range(1, len(node.inputs))]
    attributes = {name: node.attr(name) for name in node.attributes}
    wide = build.Cast(x, to=TensorProto.FLOAT)
    if node.op != "TopK":
        return build.multi(node.op, wide, *others, **attributes)
    values, indices = build.multi("TopK", wide, *others, outputs=2, **attributes)
    results = (build.Cast(values, to=x.elem_type), indices)
    return tuple(r if node.output(i) is not None else None for i, r in enumerate(results))[
        : len(node.outputs)
    ]


def _ranked_by_digits(node: NodeView, x: Value, digits: int, build: Builder) -> Value:
    """Return floats whose largest, or smallest, is where that of the integers does.

    Digits of a division that truncates may be negative; they order numbers all the same, the first
    one before the second.
    """
    smallest = node.op == "ArgMin"
    parts: list[Value] = []
    rest = x
    for _ in range(digits - 1):
        above = build.Div(rest, _DIGIT)
        parts.append(build.Sub(rest, build.Mul(above, _DIGIT)))
        rest = above
    score = build.Cast(rest, to=TensorProto.FLOAT)
    axes = [int(node.attr("axis", 0))]
    for part in reversed(parts):
        digit = build.Cast(part, to=TensorProto.FLOAT)
        if smallest:
            best = build.ReduceMin(score, axes=axes, keepdims=1)
            score = build.Add(digit, build.Mul(build.Sub(score, best), _AFTER))
        else:
            best = build.ReduceMax(score, axes=axes, keepdims=1)
            score = build.Sub(digit, build.Mul(build.Sub(best, score), _AFTER))
    return score
