"""Replace comparisons, logic and choices that exporters were told to leave as ATen nodes.

What it does: Brings the operands to the type that PyTorch computes in and writes eq, ne, lt, le,
    gt, ge, logical and bitwise operators, isnan, isinf, isfinite, isposinf, isneginf, isreal,
    signbit, isclose, isin, where and masked_fill, and their other names, with the operators of
    ONNX.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "ne"> (a, b)                  # a: float, b: int64
After: y = Not (Equal (a, Cast <to = 1> (b)))
When it refuses: A type is unknown, ranks are unknown where types differ, what is shifted is neither
    int32 nor int64, a tolerance is computed at run time, or PyTorch does not take the types either.
Accuracy: Exact. The sign of NaN is not looked at.
References: pytorch/pytorch aten/src/ATen/native/BinaryOps.cpp, TensorCompare.cpp (isclose, where),
    cpu/UnaryOpsKernel.cpp
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Refuse, Value, combined_bits, shifted

from ._arguments import ArrayCall, Call
from ._arithmetic import Arithmetic, Model, Write, held, is_float, one, two
from ._family import Family, Function
from ._promoting import of_one_type

_ALL = "biuf"


def _numbers(build: Builder, v: list[Any]) -> list[Any]:
    """Return operands that Less takes: booleans as integers."""
    if v[0].dtype.kind != "b":
        return v
    return [build.Cast(x, to=TensorProto.INT32) for x in v]


def _equal(build: Builder, _: Call, v: list[Any]) -> Value:
    if is_float(v[0]) and build.opset < 11:
        raise Refuse(f"the opset must be at least 11 to compare floats; it is {build.opset}")
    return build.Equal(v[0], v[1])


def _unequal(build: Builder, call: Call, v: list[Any]) -> Value:
    return build.Not(_equal(build, call, v))


def _less(build: Builder, _: Call, v: list[Any]) -> Value:
    a, b = _numbers(build, v)
    return build.Less(a, b)


def _greater(build: Builder, call: Call, v: list[Any]) -> Value:
    return _less(build, call, v[::-1])


def _at_most(build: Builder, call: Call, v: list[Any]) -> Value:
    # Not the other way round, which NaN would pass.
    return build.Or(_less(build, call, v), _equal(build, call, v))


def _at_least(build: Builder, call: Call, v: list[Any]) -> Value:
    return _at_most(build, call, v[::-1])


def _logical(op: str) -> Write:
    def write(build: Builder, _: Call, v: list[Any]) -> Value:
        return build.node(op, *(_truth(build, x) for x in v))

    return write


def _truth(build: Builder, x: Value) -> Value:
    return x if x.dtype is not None and x.dtype.kind == "b" else build.Cast(x, to=TensorProto.BOOL)


def _bitwise(op: str) -> Write:
    def write(build: Builder, _: Call, v: list[Any]) -> Value:
        if v[0].dtype.kind == "b":
            return build.node(op, *v)
        if op != "Not":
            return _by_bits(build, op, v)
        highest = -1 if v[0].dtype.kind == "i" else int(np.iinfo(v[0].dtype).max)
        return build.Sub(held(build, v[0], highest), v[0])

    return write


def _by_bits(build: Builder, op: str, v: list[Any]) -> Value:
    if build.opset >= 18:
        return build.node(f"Bitwise{op}", *v)
    x = v[0]
    if x.dtype.name == "uint64":
        raise Refuse(f"{x.name} must be of at most 32 bits, or signed; it is {x.dtype}")
    wide = np.dtype(np.int64 if x.dtype.name in ("int64", "uint32") else np.int32)
    a, b = (value for value in of_one_type(build, v, wide) if value is not None)
    if a.rank is None or b.rank is None:
        raise Refuse("the ranks of the operands must be known")
    found = combined_bits(op, a, b, build)
    return found if x.dtype == wide else build.Cast(found, to=x.elem_type)


def _shift(*, left: bool) -> Write:
    def write(build: Builder, _: Call, v: list[Any]) -> Value:
        x, by = v
        if x.dtype.name not in ("int32", "int64"):
            raise Refuse(f"{x.name} must be int32 or int64; it is {x.dtype}")
        bits = build.const(by)
        if bits is None or (bits < 0).any() or (bits >= 31).any():
            return shifted(x, by, build, left=left)
        powers = build.constant(np.left_shift(np.ones_like(bits), bits))
        if left:
            return build.Mul(x, powers)
        return build.Div(build.Sub(x, build.Mod(x, powers)), powers)  # rounds down

    return write


def _shift_model(function: Any, *, left: bool) -> Model:
    def model(_: ArrayCall, v: list[Any]) -> Any:
        x, by = v
        most = 8 * x.dtype.itemsize - 1
        outside = (by < 0) | (by > most)
        found = function(x, np.where(outside, most, by))
        return np.where(outside, 0, found) if left else found

    return model


def _isnan(build: Builder, _: Call, v: list[Any]) -> Value:
    return build.IsNaN(v[0]) if is_float(v[0]) else build.Not(build.Equal(v[0], v[0]))


def _is(number: float) -> Write:
    def write(build: Builder, call: Call, v: list[Any]) -> Value:
        if not is_float(v[0]):
            return build.Not(build.Equal(v[0], v[0]))
        return _equal(build, call, [v[0], held(build, v[0], number)])

    return write


def _isinf(build: Builder, call: Call, v: list[Any]) -> Value:
    return _is(np.inf)(build, call, [build.Abs(v[0])] if is_float(v[0]) else v)


def _isfinite(build: Builder, _: Call, v: list[Any]) -> Value:
    if not is_float(v[0]):
        return build.Equal(v[0], v[0])
    return build.Less(build.Abs(v[0]), held(build, v[0], np.inf))


def _isreal(build: Builder, _: Call, v: list[Any]) -> Value:
    x = v[0]
    same = build.Equal(x, x)
    return build.Or(same, build.Not(same))


def _signbit(build: Builder, _: Call, v: list[Any]) -> Value:
    x = v[0]
    if x.dtype.kind == "b":
        return build.And(x, build.Not(x))
    below = build.Less(x, held(build, x, 0))
    if not is_float(x):
        return below
    # Only the reciprocal tells the two zeros apart.
    return build.Or(below, build.Less(build.Reciprocal(x), held(build, x, 0)))


def _isclose(build: Builder, call: Call, v: list[Any]) -> Value:
    a, b = v
    relative, absolute = call.number("rtol", 1e-5), call.number("atol", 1e-8)
    same = _equal(build, call, v)
    if bool(call.number("equal_nan", 0)) and is_float(a):
        same = build.Or(same, build.And(build.IsNaN(a), build.IsNaN(b)))
    if not relative and not absolute:
        return same
    if not is_float(a):
        a, b = (build.Cast(x, to=TensorProto.FLOAT) for x in v)
    allowed = build.Add(build.Abs(build.Mul(b, float(relative))), float(absolute))
    apart = build.Abs(build.Sub(a, b))
    finite = build.Less(apart, held(build, a, np.inf))
    near = build.Not(build.Less(allowed, apart))
    return build.Or(same, build.And(finite, near))


def _isclose_model(call: ArrayCall, v: list[Any]) -> Any:
    a, b = (x if x.dtype.kind == "f" else x.astype(np.float32) for x in v)
    return np.isclose(
        a, b, float(call.number("rtol", 1e-5)), float(call.number("atol", 1e-8)),
        equal_nan=bool(call.number("equal_nan", 0)),
    )  # fmt: skip


def _chosen(build: Builder, condition: Value, a: Value, b: Value) -> Value:
    """Return a choice; of booleans by logic, which onnxruntime has no Where of."""
    truth = _truth(build, condition)
    if a.elem_type != TensorProto.BOOL:
        return build.Where(truth, a, b)
    return build.Or(build.And(truth, a), build.And(build.Not(truth), b))


def _where(build: Builder, call: Call, v: list[Any]) -> Value:
    return _chosen(build, call.need("condition"), v[0], v[1])


def _filled(build: Builder, call: Call, v: list[Any]) -> Value:
    return _chosen(build, call.need("mask"), v[1], v[0])


def _isin(build: Builder, call: Call, v: list[Any]) -> Value:
    x, among = v
    if x.rank is None or among.static_shape is None or 0 in among.static_shape:
        raise Refuse(f"the rank of {x.name} must be known, and {among.name} have known elements")
    equal = _equal(build, call, [build.Unsqueeze(x, axes=[x.rank]), build.Reshape(among, [-1])])
    ones = build.Cast(equal, to=TensorProto.INT32)
    found = build.Cast(build.ReduceMax(ones, axes=[x.rank], keepdims=0), to=TensorProto.BOOL)
    return build.Not(found) if bool(call.number("invert", 0)) else found


def _isin_function(first: str, second: str) -> Function:
    return Arithmetic(
        (first, second, "assume_unique", "invert"), (first, second), _isin,
        lambda c, v: np.isin(v[0], v[1], invert=bool(c.number("invert", 0))), kind="bool",
        takes=_ALL,
    ).function()  # fmt: skip


def _picked(condition: Array, a: Array, b: Array) -> Any:
    return np.where(condition.astype(np.bool_), a, b)


def _bits(function: Any) -> Model:
    return lambda _, v: function(v[0], v[1])


def _compared(write: Write, function: Any) -> Arithmetic:
    return two(write, lambda _, v: function(v[0], v[1]), kind="bool", takes=_ALL)


def _asked(write: Write, function: Any) -> Arithmetic:
    return one(write, lambda _, v: function(v[0]), kind="bool", takes=_ALL)


_EQ, _NE = _compared(_equal, np.equal), _compared(_unequal, np.not_equal)
_LT, _GT = _compared(_less, np.less), _compared(_greater, np.greater)
_LE, _GE = _compared(_at_most, np.less_equal), _compared(_at_least, np.greater_equal)
_TABLE = {
    "eq": _EQ, "ne": _NE, "not_equal": _NE, "lt": _LT, "less": _LT, "gt": _GT, "greater": _GT,
    "le": _LE, "less_equal": _LE, "ge": _GE, "greater_equal": _GE,
    "logical_and": _compared(_logical("And"), np.logical_and),
    "logical_or": _compared(_logical("Or"), np.logical_or),
    "logical_xor": _compared(_logical("Xor"), np.logical_xor),
    "logical_not": _asked(_logical("Not"), np.logical_not),
    "bitwise_and": two(_bitwise("And"), _bits(np.bitwise_and), takes="biu"),
    "bitwise_or": two(_bitwise("Or"), _bits(np.bitwise_or), takes="biu"),
    "bitwise_xor": two(_bitwise("Xor"), _bits(np.bitwise_xor), takes="biu"),
    "bitwise_not": one(_bitwise("Not"), lambda _, v: np.invert(v[0]), takes="biu"),
    "bitwise_left_shift": two(
        _shift(left=True), _shift_model(np.left_shift, left=True), takes="i"
    ),
    "bitwise_right_shift": two(
        _shift(left=False), _shift_model(np.right_shift, left=False), takes="i"
    ),
    "isnan": _asked(_isnan, np.isnan), "isinf": _asked(_isinf, np.isinf),
    "isfinite": _asked(_isfinite, np.isfinite),
    "isposinf": _asked(_is(np.inf), np.isposinf), "isneginf": _asked(_is(-np.inf), np.isneginf),
    "isreal": _asked(_isreal, np.isreal), "signbit": _asked(_signbit, np.signbit),
    "isclose": two(_isclose, _isclose_model, further=("rtol", "atol", "equal_nan"), kind="bool",
                   takes=_ALL),
    "where": Arithmetic(("condition", "self", "other"), ("self", "other"), _where,
                        lambda c, v: _picked(c.need("condition"), v[0], v[1]),
                        takes=_ALL),
    "masked_fill": Arithmetic(("self", "mask", "value"), ("self", "value"), _filled,
                              lambda c, v: _picked(c.need("mask"), v[1], v[0]),
                              takes=_ALL),
}  # fmt: skip
_AMONG = {
    "isin": _isin_function("elements", "test_elements"),
    "isin.Tensor_Scalar": _isin_function("elements", "test_element"),
}
FAMILY = Family({name: row.function() for name, row in _TABLE.items()} | _AMONG)


aten_comparison = FAMILY.replaced(
    __name__,
    emits=(
        "Abs Add And BitwiseAnd BitwiseOr BitwiseXor Cast Concat Div Equal Gather IsNaN Less Mod "
        "Mul Not Or Reciprocal ReduceMax ReduceSum Reshape Slice Squeeze Sub Unsqueeze Where Xor"
    ),
)
