"""Operators on one tensor and activations: which element types they take."""

from __future__ import annotations

from graphfix.engines.tensorrt.rules.parsed import words

FLOAT_ONLY = words(
    "Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Reciprocal Round "
    "Sign Sin Sinh Sqrt Tan ReduceLogSumExp"
)
