"""Floats of another width computed in float32."""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    COMPARISONS,
    GIVES_ELEMENTS,
    PLACES,
    Accuracy,
    Array,
    Builder,
    Editor,
    NodeView,
    Value,
    form_of,
)

from ._retyping import Operands, Retyping, Written, filled, retype, unhandled, with_type

# Operators that say with an attribute what they give.
_NAMED = {
    **dict.fromkeys(("EyeLike", "RandomNormal", "RandomNormalLike", "RandomUniform"), "dtype"),
    **dict.fromkeys(("Bernoulli", "Multinomial", "RandomUniformLike"), "dtype"),
    **dict.fromkeys(("BlackmanWindow", "HammingWindow", "HannWindow"), "output_datatype"),
    "MelWeightMatrix": "output_datatype",
}
_FLOAT = "tensor(float)"


def float_features(name: str) -> tuple[str, ...]:
    """Return the features that are gone with a type."""
    ops = ("Cast", "ConstantOfShape", *_NAMED)
    return (f"dtype:{name}", *(f"dtype:{op}.{name}" for op in ops))


# Operators that give elements that they got, or their opposites, or judge them.
_KEEPING = frozenset(
    {
        *(GIVES_ELEMENTS - {"ScatterElements", "ScatterND"}),  # which may add up
        *(COMPARISONS | PLACES.keys()),
        *("Abs", "ConstantOfShape", "EyeLike", "IsInf", "IsNaN", "Neg", "Sign"),
    }
)
_SHORT = frozenset(
    {
        *(TensorProto.BOOL, TensorProto.INT8, TensorProto.UINT8, TensorProto.BFLOAT16),
        *(TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2),
    }
)


# The operators of another type, computed in float32.
_ERRORS: dict[int, str] = {
    TensorProto.DOUBLE: "each operator rounds to 24 bits, not 53; beyond 3.4e38 it is infinite",
    TensorProto.FLOAT16: "each operator rounds to 24 bits, where 11 were kept",
    TensorProto.BFLOAT16: "each operator rounds to 24 bits, where 8 were kept",
}


def _rounds(view: NodeView, types: frozenset[int]) -> bool:
    """Say whether float32 gives other values than a shorter type does."""
    if view.domain or view.op in _KEEPING:
        return False
    result = view.output(0)
    into = result is not None and result.elem_type in types
    cast = view.op in ("Cast", "CastLike")
    return not (cast and (not into or view.need(0).elem_type in _SHORT))


def compute_in_float32(editor: Editor, narrow: int, inexact: Accuracy = APPROXIMATE) -> None:
    """Write what is computed in another float type in float32.

    Args:
        editor: What to edit with.
        narrow: The type that goes.
        inexact: The label of what is rounded differently.
    """
    types = frozenset({narrow})
    forms: dict[str, Written] = {
        "Cast": _cast(types),
        "CastLike": _cast(types),
        "ConstantOfShape": filled(TensorProto.FLOAT),
        **{op: with_type(name, types, TensorProto.FLOAT) for op, name in _NAMED.items()},
    }
    retype(
        editor,
        Retyping(
            narrow=types,
            wide=TensorProto.FLOAT,
            refused=lambda view: _refused(view, types),
            forms=forms,
            wrapped=_as_it_is,
            constant=_wide,
            rounds=lambda view: narrow == TensorProto.DOUBLE or _rounds(view, types),
            inexact=inexact,
            said=_ERRORS[narrow],
            unproved=True,
        ),
    )


def _refused(view: NodeView, types: frozenset[int]) -> str:
    form = form_of(view.op, view.opset, view.domain)
    if view.domain or form is None:
        return unhandled(view, types)
    if any(v is not None and not v.is_tensor for v in (*view.inputs, *view.outputs)):
        return f"{view.op} handles sequences of {unhandled(view, types)}"
    kinds = {c.type_param_str: c.allowed_type_strs for c in form.schema.type_constraints}
    formal = form.schema.inputs
    for place, value in enumerate(view.inputs):
        if value is None or value.elem_type not in types:
            continue
        parameter = formal[min(place, len(formal) - 1)].type_str
        if _FLOAT not in kinds.get(parameter, (parameter,)):
            return unhandled(view, types, f"{view.op}, which takes no float32,")
        known = value.array() if value.is_constant else None
        if known is not None and not _fits(known):
            return f"{value.name} has numbers that float32 does not reach"
    return ""


def _fits(array: Array) -> bool:
    wide = array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    return bool((np.abs(finite) <= np.finfo(np.float32).max).all())


def _cast(types: frozenset[int]) -> Written:
    def write(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
        result = view.output(0)
        assert result is not None
        target = TensorProto.FLOAT if result.elem_type in types else result.elem_type
        data = operands[0]
        assert data is not None
        if data.elem_type == target and data is not view.input(0):
            return (build.Identity(data),)
        return (build.Cast(data, to=target),)

    return write


def _as_it_is(view: NodeView, result: Value, elem_type: int, build: Builder) -> Value:
    return result


def _wide(array: Array) -> Array:
    return array.astype(np.float32)
