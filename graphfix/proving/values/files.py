"""Values between two processes, and in folders: a JSON tree next to their bytes, never a pickle.

What is kept in a folder is an .npz, which other programs read. Between processes the bytes are as
they lie in memory: to pack and unpack small arrays as .npz takes longer than to compute them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from graphfix.ir.storage.weights import numpy_dtype
from graphfix.proving.values.kinds import Array, Value

_RAW = ".raw"


def write_values(path: Path, values: list[dict[str, Value]]) -> None:
    """Write named values to ``path`` (JSON) and ``path`` with the ending .npz."""
    arrays: dict[str, Array] = {}
    tree = [{name: _packed(value, arrays) for name, value in item.items()} for item in values]
    path.write_text(json.dumps(tree), encoding="utf-8")
    with path.with_suffix(".npz").open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def read_values(path: Path) -> list[dict[str, Value]]:
    """Read what `write_values` wrote."""
    tree = json.loads(path.read_text(encoding="utf-8"))
    with np.load(path.with_suffix(".npz"), allow_pickle=False) as arrays:
        return [{name: _unpacked(value, arrays) for name, value in item.items()} for item in tree]


def send_values(path: Path, values: list[dict[str, Value]]) -> None:
    """Write named values for a process of this machine that takes them with `received_values`."""
    arrays: dict[str, Array] = {}
    tree = [{name: _packed(value, arrays) for name, value in item.items()} for item in values]
    table = {key: [array.dtype.str, array.shape] for key, array in arrays.items()}
    path.write_text(json.dumps([tree, table]), encoding="utf-8")
    with path.with_suffix(_RAW).open("wb") as file:
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).data)


def received_values(path: Path) -> list[dict[str, Value]]:
    """Read what `send_values` wrote.

    Raises:
        EOFError: It was not written to its end.
    """
    tree, table = json.loads(path.read_text(encoding="utf-8"))
    arrays: dict[str, Array] = {}
    with path.with_suffix(_RAW).open("rb") as file:
        for key, (kind, shape) in table.items():
            arrays[key] = array = np.empty(shape, kind)
            if file.readinto(array.data) != array.nbytes:
                raise EOFError(f"{path}: less is written than said")
    return [{name: _unpacked(value, arrays) for name, value in item.items()} for item in tree]


def _packed(value: Value, arrays: dict[str, Array]) -> dict[str, Any]:
    if value is None:
        return {"kind": "none"}
    if isinstance(value, list):
        return {"kind": "sequence", "items": [_packed(item, arrays) for item in value]}
    if isinstance(value, dict):
        pairs = [[_plain(key), _plain(item)] for key, item in value.items()]
        return {"kind": "map", "pairs": pairs}
    array = np.asarray(value)
    if array.dtype.kind in "OUS":
        texts = [_text(item) for item in array.reshape(-1)]
        return {"kind": "strings", "shape": list(array.shape), "items": texts}
    key = f"a{len(arrays)}"
    if array.dtype.isbuiltin == 1:
        arrays[key] = array
        return {"kind": "tensor", "key": key}
    element = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    arrays[key] = np.ascontiguousarray(array).view(np.dtype(f"u{array.dtype.itemsize}"))
    return {"kind": "tensor", "key": key, "element": int(element), "shape": list(array.shape)}


def _plain(item: Any) -> object:
    return item.item() if hasattr(item, "item") else item


def _text(item: object) -> str:
    return item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)


def _unpacked(tree: dict[str, Any], arrays: Any) -> Value:
    kind = tree["kind"]
    if kind == "none":
        return None
    if kind == "sequence":
        return [_unpacked(item, arrays) for item in tree["items"]]
    if kind == "map":
        pairs: list[tuple[Any, Any]] = tree["pairs"]
        return dict(pairs)
    if kind == "strings":
        result: Array = np.empty(len(tree["items"]), dtype=object)
        result[:] = tree["items"]
        return result.reshape(tree["shape"])
    array: Array = np.asarray(arrays[tree["key"]])
    if "element" in tree:
        shape: list[int] = tree["shape"]
        return array.view(numpy_dtype(tree["element"])).reshape(shape)
    return array
