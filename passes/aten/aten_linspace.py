"""Replace linspace and logspace of which an end is a tensor.

What it does: Adds multiples of the step to the first end, and takes those of the second half off
    the other, as PyTorch does; logspace raises its base to them.
Why engines need it: An end that is computed makes the trace hold the call, and no engine has an
    importer for ATen.
Before:
    y = org.pytorch.aten.ATen <operator = "linspace", overload_name = "Tensor_Tensor"> (a, b, 3, 6)
After:
    step = Div (Sub (b, a), 2)
    y = Where ([True, False, False], Add (a, Mul (step, [0, 1, 2])), Sub (b, Mul (step, [2, 1, 0])))
When it refuses: The number of steps or the base is computed at run time, the type that is asked for
    is not float32 or float64, or the opset is below 9. One step gives the first end.
Accuracy: Exact up to rounding for linspace; approximate for logspace, whose powers engines compute
    in other steps: 2e-6 of the value.
References: pytorch/pytorch aten/src/ATen/native/RangeFactories.cpp (linspace_out, logspace_out)
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    EXACT,
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
)

from ._arguments import ArrayCall, Call, replacing
from ._family import Family, Function
from ._promoting import asked_dtype
from ._spacing import evenly

NOTE = "powers: off by at most 2e-6 of the value"
_MOST = 1 << 20
_TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}


def _asked(call: Call) -> tuple[int, np.dtype[Any]]:
    steps, dtype = call.number("steps"), asked_dtype(call) or np.dtype(np.float32)
    if dtype.name not in _TYPES:
        raise Refuse(f"the result must be float32 or float64; it is {dtype}")
    if steps is None or not 0 <= int(steps) <= _MOST:
        raise Refuse(f"steps must be from 0 to {_MOST}; it is {steps}")
    return int(steps), dtype


def _ends(build: Builder, call: Call, dtype: np.dtype[Any]) -> list[Value]:
    found: list[Value] = []
    for name in ("start", "end"):
        value = call.need(name)
        known = build.const(value)
        if known is not None:
            found.append(build.constant(known.astype(dtype).reshape(())))
            continue
        if value.rank != 0:
            raise Refuse(f"{name} must have no axes; it has {value.rank}")
        kind = _TYPES[dtype.name]
        found.append(value if value.elem_type == kind else build.Cast(value, to=kind))
    return found


def _line(build: Builder, call: Call) -> Value:
    steps, dtype = _asked(call)
    build.need_opset(9, ", which has Where")
    if steps == 0:
        call.irrelevant(*_ENDS)
        return build.constant(np.zeros(0, dtype))
    start, end = _ends(build, call, dtype)
    if steps == 1:
        return build.Unsqueeze(start, axes=[0])
    return evenly(build, start, end, steps)


def _powers(build: Builder, call: Call) -> Value:
    base = float(call.number("base", 10))
    line = _line(build, call)
    if line.dtype is None or not line.dim(0):
        return line
    if base < 0:
        raise Refuse(f"the base must not be negative; it is {base}")
    return build.Pow(build.constant(np.array(base, line.dtype)), line)


def _model(function: Callable[[ArrayCall, Array], Array]) -> Callable[[ArrayCall], Any]:
    def model(call: ArrayCall) -> Any:
        dtype = asked_dtype(call) or np.dtype(np.float32)
        low, high = (float(call.need(name).astype(dtype)) for name in _ENDS)
        return function(call, np.linspace(low, high, int(call.number("steps")))).astype(dtype)

    return model


_ENDS = ("start", "end")
_FURTHER = ("dtype", "layout", "device", "pin_memory")
_EVEN = Function((*_ENDS, "steps", *_FURTHER), _line, _model(lambda _, line: line))
_RAISED = Function(
    (*_ENDS, "steps", "base", *_FURTHER), _powers,
    _model(lambda call, line: np.power(float(call.number("base", 10)), line)), NOTE,
)  # fmt: skip
FAMILY = Family({"linspace": _EVEN, "logspace": _RAISED})


@replacing(
    FAMILY.names,
    emits="Add Cast Div Mul Pow Sub Unsqueeze Where",
    accuracy=APPROXIMATE,
    evaluate=FAMILY.evaluate,
)
def aten_linspace(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the line out, see the module."""
    result = FAMILY.write(node, build)
    powers = any(drafted.op == "Pow" for drafted in build.nodes)
    build.declare(APPROXIMATE if powers else EXACT, NOTE if powers else "")
    return result
