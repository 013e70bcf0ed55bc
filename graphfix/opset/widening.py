"""Casting around an operator whose other form takes fewer element types, where that is exact."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.opset.fitting import Narrow
from graphfix.schemas import Form

_F32: int = TensorProto.FLOAT
_I32: int = TensorProto.INT32

# Every value of the first type is one of the second, so a cast there and back changes nothing.
_FLOATS: dict[int, int] = {TensorProto.BFLOAT16: _F32, TensorProto.FLOAT16: _F32}
_INTS: dict[int, int] = {
    TensorProto.INT8: _I32,
    TensorProto.UINT8: _I32,
    TensorProto.INT16: _I32,
    TensorProto.UINT16: _I32,
    TensorProto.BOOL: _I32,
}

# Operators that give out values that came in (or 0), or compare them: exact in any wider type.
_SELECTING = (
    "Clip", "Compress", "DepthToSpace", "Equal", "Expand", "Flatten", "Gather", "GatherElements",
    "GatherND", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "MaxPool", "Min",
    "NonZero", "OneHot", "Pad", "ReduceMax", "ReduceMin", "Relu", "Reshape", "ReverseSequence",
    "ScatterElements", "ScatterND", "Slice", "SpaceToDepth", "Squeeze", "Tile", "TopK",
    "Transpose", "Trilu", "Unique", "Unsqueeze", "Where", "Identity",
)  # fmt: skip
# Operators whose result in the narrow float type is that of float32, rounded once.
_ROUNDED = (
    "Abs", "Acos", "Acosh", "Add", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Div",
    "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "IsInf", "IsNaN", "LeakyRelu", "Log", "Mul",
    "Neg", "PRelu", "Pow", "Reciprocal", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh",
    "Softplus", "Softsign", "Sqrt", "Sub", "Tan", "Tanh", "ThresholdedRelu",
)  # fmt: skip

WIDER: Mapping[str, Mapping[int, int]] = {
    **{op: {**_FLOATS, **_INTS} for op in _SELECTING},
    **dict.fromkeys(_ROUNDED, _FLOATS),
}


def widen(node: NodeView, target: Form, build: Builder, narrow: Narrow) -> tuple[Value | None, ...]:
    """Emit the node between casts to and from a type that the target form takes.

    Raises:
        Refuse: The target form takes no type that holds every value exactly.
    """
    kinds = WIDER[node.op]
    by_name: dict[str, int] = {}
    formal = target.schema.inputs
    inputs: list[Value | None] = []
    for position, value in enumerate(node.inputs):
        parameter = formal[min(position, len(formal) - 1)]
        if value is None:
            inputs.append(None)
            continue
        if not value.elem_type:
            raise narrow
        if _tensor_type(value.elem_type) in parameter.types:
            inputs.append(value)
            continue
        wider = kinds.get(value.elem_type)
        if wider is None or _tensor_type(wider) not in parameter.types:
            raise narrow
        by_name[parameter.type_str] = value.elem_type
        inputs.append(build.Cast(value, to=wider))
    if not by_name:
        raise narrow
    attributes = {name: node.node.attrs[name] for name in node.attributes}
    if any(name not in target.attributes for name in attributes):
        raise Refuse(narrow.reason)
    made = build.multi(node.op, *inputs, outputs=len(node.outputs), **attributes)
    outputs: list[Value | None] = []
    for position, value in enumerate(made):
        parameter = target.schema.outputs[min(position, len(target.schema.outputs) - 1)]
        narrowed = by_name.get(parameter.type_str)
        old = node.output(position)
        if old is None:
            outputs.append(None)
        else:
            outputs.append(value if narrowed is None else build.Cast(value, to=narrowed))
    return tuple(outputs)


def _tensor_type(elem_type: int) -> str:
    return f"tensor({str(TensorProto.DataType.Name(elem_type)).lower()})"
