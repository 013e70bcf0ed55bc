"""RKNN: numbers beyond the largest of float16."""

from __future__ import annotations

from graphfix.engines.magnitude_estimate import grows_beyond_float16
from graphfix.engines.rknn.rules.toolkit import TOOLKIT

GROWN_BEYOND_FLOAT16 = grows_beyond_float16(
    versions="rknn",
    source=f"{TOOLKIT}: of two products in a row by sixteen weights each, in MatMul and Gemm, those"
    " of weights of 60 give infinities, and those of 0.5 are right",
)
