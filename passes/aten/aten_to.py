"""Replace changes of type and tensors of one element: to, type_as, full_like, zeros_like, and such.

What it does: Writes to, type_as, _to_copy and the casts of one type with Cast; full_like,
    zeros_like, ones_like, new_full, new_zeros, new_ones, full, zeros and ones with Expand of one
    number.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "full_like"> (x, 2.5)         # x: float[N, 3]
After: y = Expand (2.5, Shape (x))
When it refuses: A type is unknown or none that numpy has, sizes or the number are computed at run
    time, or a type is not given where PyTorch's default would have to be known.
Accuracy: Exact. What a cast makes of numbers that the type has not is left to the engine, as
    PyTorch leaves it to the processor.
References: pytorch/pytorch aten/src/ATen/native/TensorConversions.cpp, TensorFactories.cpp
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import helper

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function
from ._promoting import asked_dtype

_NAMED = {
    "_cast_Byte": np.uint8, "_cast_Char": np.int8, "_cast_Short": np.int16, "_cast_Int": np.int32,
    "_cast_Long": np.int64, "_cast_Half": np.float16, "_cast_Float": np.float32,
    "_cast_Double": np.float64,
}  # fmt: skip


def _target(call: Call) -> tuple[Value, int]:
    """Return what is cast, and to which type."""
    x = call.need("self")
    if not x.elem_type:
        raise Refuse(f"the dtype of {x.name} must be known")
    if call.operator in _NAMED:
        return x, helper.np_dtype_to_tensor_dtype(np.dtype(_NAMED[call.operator]))
    if "other" in call.schema:
        other = call.need("other")
        if not other.elem_type:
            raise Refuse(f"the dtype of {other.name} must be known")
        return x, other.elem_type
    dtype = asked_dtype(call)
    return x, x.elem_type if dtype is None else helper.np_dtype_to_tensor_dtype(dtype)


def _cast(build: Builder, call: Call) -> Value:
    x, kind = _target(call)
    return build.Identity(x) if kind == x.elem_type else build.Cast(x, to=kind)


def _cast_model(name: str) -> Callable[[ArrayCall], Any]:
    def model(call: ArrayCall) -> Any:
        x = call.need("self")
        if name in _NAMED:
            return x.astype(_NAMED[name])
        if "other" in call.schema:
            return x.astype(call.need("other").dtype)
        dtype = asked_dtype(call)
        return x if dtype is None else x.astype(dtype)

    return model


def _casting(name: str, *schema: str) -> Function:
    return Function(schema, _cast, _cast_model(name))


def _own_dtype(call: Call) -> np.dtype[Any]:
    """Return the type of a tensor of one element."""
    dtype = asked_dtype(call)
    if dtype is not None:
        if "size" in call.schema:
            call.irrelevant("self")  # neither its shape nor its type are asked for
        return dtype
    own = call.need("self").dtype if "self" in call.schema else None
    if own is None:
        raise Refuse("the dtype must be given, or that of the tensor be one that numpy has")
    return own


def _filled(number: float | None) -> Callable[[Builder, Call], Value]:
    def write(build: Builder, call: Call) -> Value:
        value = number if number is not None else call.number("fill_value")
        one = build.constant(np.asarray(value).astype(_own_dtype(call)))
        if "size" not in call.schema:
            return build.Expand(one, build.Shape(call.need("self")))
        return build.Expand(one, build.constant(np.array(_sizes(call), np.int64)))

    return write


def _sizes(call: Call | ArrayCall) -> tuple[int, ...]:
    sizes = call.entries("size")
    if sizes is None or any(size is None or int(size) < 0 for size in sizes):
        raise Refuse("the sizes must be given")
    return tuple(int(size) for size in sizes)


def _filled_model(number: float | None) -> Callable[[ArrayCall], Any]:
    def model(call: ArrayCall) -> Any:
        dtype = asked_dtype(call)
        call.irrelevant("self")
        value = number if number is not None else call.number("fill_value")
        shape = _sizes(call) if "size" in call.schema else call.need("self").shape
        return np.full(shape, value, dtype if dtype is not None else call.need("self").dtype)

    return model


def _filling(number: float | None, *schema: str) -> Function:
    further = ("dtype", "layout", "device", "pin_memory", "memory_format")
    return Function((*schema, *further), _filled(number), _filled_model(number))


_LATER = ("non_blocking", "copy", "memory_format")
_PLACED = ("layout", "device", "pin_memory")
FAMILY = Family(
    {
        "to.dtype": _casting("to", "self", "dtype", *_LATER),
        "to.device": _casting("to", "self", "device", "dtype", *_LATER),
        "to.dtype_layout": _casting("to", "self", "dtype", *_PLACED, *_LATER),
        "to.other": _casting("to", "self", "other", *_LATER),
        "_to_copy": _casting("_to_copy", "self", "dtype", *_PLACED, *_LATER[::2]),
        "type_as": _casting("type_as", "self", "other"),
        **{name: _casting(name, "self", "non_blocking") for name in _NAMED},
        "full_like": _filling(None, "self", "fill_value"),
        "zeros_like": _filling(0, "self"),
        "ones_like": _filling(1, "self"),
        "new_full": _filling(None, "self", "size", "fill_value"),
        "new_zeros": _filling(0, "self", "size"),
        "new_ones": _filling(1, "self", "size"),
        "full": _filling(None, "size", "fill_value"),
        "zeros": _filling(0, "size"),
        "ones": _filling(1, "size"),
    }
)


aten_to = FAMILY.replaced(__name__, emits="Cast Expand Identity Shape")
