"""What a value of a model is in Python, and how element types map to numpy.

Tensors are numpy arrays (types that numpy lacks as ml_dtypes, which onnx itself depends on),
string tensors are arrays of objects, sequences are lists, maps are dicts, an absent optional is
None.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Value: TypeAlias = "Array | list[Any] | dict[Any, Any] | None"
Feed: TypeAlias = dict[str, Value]

_FLOATS = ("float16", "float32", "float64", "bfloat16")


@cache
def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype holds rounded numbers: the IEEE types, bfloat16, float8 and float4."""
    return dtype.kind == "f" or dtype.name.startswith(("bfloat", "float"))


@cache
def is_wide_float(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is a floating type that arithmetic is done in (16 bits and more)."""
    return dtype.name in _FLOATS


@cache
def is_integer(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype holds integers, the 4-bit and 2-bit ones included."""
    return dtype.kind in "iu" or dtype.name in ("int4", "uint4", "int2", "uint2")


def is_native(dtype: np.dtype[Any]) -> bool:
    """Whether onnxruntime's Python interface can exchange arrays of this dtype."""
    return dtype.kind in "fiubO" and dtype.isbuiltin == 1


def leaves(value: Value, label: str = "") -> Iterator[tuple[str, Array | None]]:
    """Yield the tensors inside a value with a label for each, in a fixed order."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{label}[{index}]")
    elif isinstance(value, dict):
        for key in sorted(value, key=repr):
            yield from leaves(value[key], f"{label}[{key!r}]")
    elif value is None:
        yield label, None
    else:
        yield label, np.asarray(value)
