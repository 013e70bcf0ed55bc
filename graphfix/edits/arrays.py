"""Values that users give: numbers on the command line, or an .npy file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphfix.errors import UsageError
from graphfix.ir.storage.weights import dtype_of, type_name

Array = np.ndarray[Any, Any]


def array_of(
    value: str | Array, elem_type: int, sizes: Sequence[int | None] | None, where: str
) -> Array:
    """Return a value with an element type and a shape.

    Args:
        value: An array, ``@file.npy``, or numbers separated by commas.
        elem_type: TensorProto.DataType.
        sizes: The shape, None for a size that is open; None where the rank is not known.
        where: What asks for it.

    Raises:
        UsageError: It cannot be read, has another shape, or the type does not hold it.
    """
    dtype = dtype_of(elem_type)
    if isinstance(value, str) and dtype is not None and dtype.kind == "O" and value[:1] != "@":
        given = np.array(value.split(","), object)
    else:
        given = _loaded(value, where) if isinstance(value, str) else np.asarray(value)
    if dtype is not None and dtype.kind == "O" and given.dtype.kind not in "OSU":
        raise UsageError("an input of text takes no numbers", where=where)
    if dtype is None:
        raise UsageError(f"there are no values of type {type_name(elem_type)}", where=where)
    with np.errstate(all="ignore"):
        array = given.astype(dtype)
    numbers_both = given.dtype.kind in "biuf" and dtype.kind in "biu"
    if numbers_both and not np.array_equal(array.astype(float), given.astype(float)):
        raise UsageError(f"{type_name(elem_type)} does not hold the value", where=where)
    return _shaped(array, sizes, where)


def _shaped(array: Array, sizes: Sequence[int | None] | None, where: str) -> Array:
    if sizes is None:
        return array
    if array.size == 1 and array.ndim <= 1 and None not in sizes:
        return np.full([size or 0 for size in sizes], array.reshape(-1)[0], array.dtype)
    if array.ndim != len(sizes) or any(
        wanted is not None and wanted != size
        for wanted, size in zip(sizes, array.shape, strict=True)
    ):
        open_text = ", ".join("?" if size is None else str(size) for size in sizes)
        raise UsageError(
            f"the value has shape {list(array.shape)}, the model has [{open_text}]", where=where
        )
    return array


def _loaded(text: str, where: str) -> Array:
    if text.startswith("@"):
        path = Path(text[1:])
        try:
            found: Any = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            said = getattr(error, "strerror", None) or "is no .npy file"
            raise UsageError(f"{path}: {said}", where=where) from None
        if isinstance(found, np.lib.npyio.NpzFile):
            raise UsageError(
                f"{path}: holds several arrays, and one is needed",
                where=where,
                hint="save it with numpy.save, as a .npy file",
            )
        return np.asarray(found)
    return numbers(text, where)


def numbers(text: str, where: str) -> Array:
    """Return the numbers of ``1``, ``0.5,0.25``, ``true``.

    Raises:
        UsageError: They are none.
    """
    words = {"true": 1.0, "false": 0.0}
    try:
        values = [words.get(part.strip().lower(), part) for part in text.split(",")]
        exact = [int(v) if isinstance(v, str) and _whole(v) else float(v) for v in values]
    except ValueError:
        raise UsageError(
            f"{text!r} is no value", where=where, hint="numbers such as 0.5,2, or @file.npy"
        ) from None
    return np.asarray(exact)


def _whole(text: str) -> bool:
    return text.strip().lstrip("+-").isdecimal()
