"""Text of quantized operators with constant scales and zero points."""

from typing import Any

import numpy as np

from tests.passes.lowering_models import written

MICROSOFT = ', "com.microsoft" : 1'
ONNX_NAME = {"int8": "int8", "uint8": "uint8", "int32": "int32", "float32": "float"}


def constant(name: str, values: Any) -> str:
    """Return a statement that defines a constant; the name begins with @."""
    array = np.asarray(values)
    dims = f"[{', '.join(map(str, array.shape))}]" if array.ndim else ""
    numbers = ", ".join(str(v) for v in array.reshape(-1).tolist())
    return f"{name} = Constant <value = {ONNX_NAME[array.dtype.name]}{dims} {{{numbers}}}> ()\n"


def parameters(dtype: Any, **values: float) -> str:
    """Define scales (names that end with s) as float32 and zero points (with z) as `dtype`."""
    return "".join(
        constant(f"@{name}", np.array(value, np.float32 if name.endswith("s") else dtype))
        for name, value in values.items()
    )


def quantized(body: str, inputs: str, output: str, *, opset: int = 17, place: str = "main") -> str:
    """Return a model that may use onnxruntime's operators."""
    return written(body, inputs, output, opset=opset, place=place, imports=MICROSOFT)


def numbers(dtype: Any, *shape: int, seed: int = 0, most: int = 255) -> Any:
    """Return numbers of 8 bits, at most `most` in size."""
    info = np.iinfo(dtype)
    low, high = max(info.min, -most), min(info.max, most)
    return np.random.default_rng(seed).integers(low, high + 1, shape).astype(dtype)


def every(dtype: Any) -> Any:
    """Return all 256 numbers of a type."""
    return np.arange(256).astype(np.uint8).view(dtype).reshape(16, 16)
