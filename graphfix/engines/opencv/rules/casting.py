"""Numbers that OpenCV 4 leaves as they are: casts, and limits of integers."""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.opencv.rules.importing import is_computed_at_import
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value


@rule(
    "Cast",
    feature="form:Cast.truncates",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.8.1 and 4.10.0: all tensors are float32, and Cast leaves them alone",
)
def cast_changes_nothing(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 ignores Cast to integers or bool: all tensors are float32."""
    data, result = node.input(0), node.output(0)
    if data is None or result is None:
        return False
    before, after = data.dtype, result.dtype
    if before is None or after is None:
        return Unknown(f"dtype of {data.name}")
    if after.kind == "b" and before.kind != "b":
        return Yes(feature="form:Cast.to-bool")
    return before.kind == "f" and after.kind in "iu" and not _is_whole(data)


def _is_whole(value: Value, depth: int = 12) -> bool:
    """Say whether the values of a tensor of floats are known to have no fraction."""
    known = value.array()
    if known is not None:
        return bool((known == np.trunc(known)).all())
    maker = value.producer
    if maker is None or not depth:
        return False
    if maker.op in _ROUNDING:
        return True
    if maker.op == "Cast":
        source = maker.input(0)
        return source is not None and source.dtype is not None and source.dtype.kind in "biu"
    if maker.op not in _KEEP_WHOLE:
        return False
    operands = [operand for operand in maker.inputs if operand is not None]
    return all(
        _is_whole(operand, depth - 1) for operand in operands if operand.dtype == value.dtype
    )


_ROUNDING = frozenset({"Floor", "Ceil", "Round", "Sign"})
_KEEP_WHOLE = frozenset({
    "Abs", "Add", "Clip", "Concat", "Expand", "Flatten", "Gather", "Identity", "Max", "Min", "Mul",
    "Neg", "ReduceMax", "ReduceMin", "ReduceSum", "Reshape", "Slice", "Split", "Squeeze", "Sub",
    "Sum", "Tile", "Transpose", "Unsqueeze", "Where",
})  # fmt: skip


@rule(
    "Clip",
    feature="dtype:Clip.*",
    severity=WRONG,
    source="clip_layer.cpp:46 (5.0.0): one bound; measured on 4.8.1 and 4.10.0: any",
)
def clip_of_integers(node: NodeView, target: Target) -> Answer:
    """OpenCV 5 refuses Clip of integers with one bound; OpenCV 4 computes it wrongly."""
    data = node.input(0)
    if data is None or data.dtype is None or data.dtype.kind not in "iu":
        return False
    feature = f"dtype:Clip.{data.type_name}"
    if target.version < (5,):
        return Yes(feature=feature)
    both = node.input(1) is not None and node.input(2) is not None
    return not both and Yes(feature=feature, severity=REJECT)


@rule(
    "Div",
    feature="dtype:Div.*",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.8.1 and 4.10.0: all tensors are float32; what is known at import is int32"
    " and right",
)
def quotient_of_integers(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 divides integers as floats and keeps the fraction."""
    data = node.input(0)
    if data is None or is_computed_at_import(node):
        return False
    if data.dtype is None:
        return Unknown(f"dtype of {data.name}")
    return data.dtype.kind in "iu" and Yes(feature=f"dtype:Div.{data.type_name}")
