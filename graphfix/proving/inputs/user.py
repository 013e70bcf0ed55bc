"""The user's own inputs: an .npz file whose array names are input names."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import onnx

from graphfix.errors import UsageError
from graphfix.ir.protos import required_inputs
from graphfix.ir.storage.weights import numpy_dtype
from graphfix.proving.values.kinds import Array, Feed


def read_inputs(path: Path, model: onnx.ModelProto) -> Feed:
    """Read one input set for a model.

    Every required input must be there, with the dtype and shape that the model declares; an
    input with an initializer may be there. Types that numpy lacks (bfloat16, float8) are given
    as float32.

    Raises:
        UsageError: The file cannot be read, or an array is unknown, missing, or of another dtype
            or shape.
    """
    arrays = _load(path)
    required = {info.name: info for info in required_inputs(model.graph)}
    known = {info.name: info for info in model.graph.input}
    for name in arrays:
        if name not in known:
            raise UsageError(
                f"the model has no input {name!r}",
                where=str(path),
                hint=f"its inputs are {', '.join(known) or 'none'}",
            )
    for name in required:
        if name not in arrays:
            raise UsageError(
                f"input {name!r} of the model is missing",
                where=str(path),
                hint=f"the file has {', '.join(arrays) or 'no arrays'}",
            )
    return {name: _checked(array, known[name], path) for name, array in arrays.items()}


def _load(path: Path) -> dict[str, Array]:
    try:
        # numpy takes any other file for a pickle, and its advice is to trust it.
        if path.exists() and not zipfile.is_zipfile(path):
            raise ValueError("it is not a zip archive")
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise UsageError("no such file", where=str(path)) from None
    except (OSError, ValueError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise UsageError(
            f"cannot be read as .npz: {error}",
            where=str(path),
            hint="write it with numpy.savez; strings as a unicode array, not as objects",
        ) from None


def _checked(array: Array, info: onnx.ValueInfoProto, path: Path) -> Array:
    kind = info.type
    if kind.WhichOneof("value") == "optional_type":
        kind = kind.optional_type.elem_type
    if kind.WhichOneof("value") != "tensor_type":
        raise UsageError(
            f"input {info.name!r} is no tensor and cannot come from a file", where=str(path)
        )
    expected = numpy_dtype(kind.tensor_type.elem_type)
    if expected.kind == "O":
        if array.dtype.kind not in "US":
            raise UsageError(
                f"input {info.name!r} wants strings, the file has {array.dtype}", where=str(path)
            )
        array = array.astype(str).astype(object)
    elif expected.isbuiltin != 1 and array.dtype == np.float32:
        array = array.astype(expected)
    elif array.dtype != expected:
        raise UsageError(
            f"input {info.name!r} wants {expected}, the file has {array.dtype}", where=str(path)
        )
    if kind.tensor_type.HasField("shape"):
        dims = [
            dim.dim_value if dim.WhichOneof("value") == "dim_value" else None
            for dim in kind.tensor_type.shape.dim
        ]
        fits = len(dims) == array.ndim and all(
            size is None or size <= 0 or size == given
            for size, given in zip(dims, array.shape, strict=True)
        )
        if not fits:
            text = "x".join("?" if size is None else str(size) for size in dims)
            raise UsageError(
                f"input {info.name!r} wants shape {text or 'scalar'}, "
                f"the file has {'x'.join(map(str, array.shape)) or 'scalar'}",
                where=str(path),
            )
    return array
