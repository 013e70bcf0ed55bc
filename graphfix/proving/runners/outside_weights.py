"""Put the weights inside a model into a file, from which an engine maps them."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from onnx import ModelProto, TensorProto

from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.weights import is_external

# Smaller weights stay: inputs are chosen after what small constants say.
SMALLEST = 2**20
# Engines read vectors of numbers; no element type asks for more.
_ALIGNMENT = 64
_FILE = "weights.bin"


def bytes_inside(model: ModelProto) -> int:
    """Return the bytes of the weights of the main graph that lie inside the model."""
    return sum(_bytes_of(tensor) for tensor in model.graph.initializer)


def _bytes_of(tensor: TensorProto) -> int:
    return 0 if is_external(tensor) else tensor.ByteSize()


def outlined(model: ModelProto, scratch: Path) -> tuple[ModelProto, str] | None:
    """Move the big weights of the main graph into a new file.

    Args:
        model: The model; it is of no use afterwards if its weights were moved, and whoever holds
            it should let go of it, because a message keeps the memory of what it has lost.
        scratch: An empty place for files, with nothing else that the model refers to.

    Returns:
        The model with external data, and the folder of that; None where there is nothing to move,
        no room for it, or external data elsewhere: engines look in one folder for all of it.
    """
    moved = [t for t in model.graph.initializer if _can_move(t)]
    if not moved or any(is_external(tensor) for tensor in walk_tensors(model)):
        return None
    needed = sum(len(tensor.raw_data) + _ALIGNMENT for tensor in moved)
    if needed > free_bytes(scratch):
        return None
    folder = Path(tempfile.mkdtemp(prefix="weights-", dir=scratch))
    try:
        places = _written(moved, folder / _FILE)
    except OSError:  # someone else took the room
        (folder / _FILE).unlink(missing_ok=True)
        return None
    for tensor, (offset, length) in zip(moved, places, strict=True):
        _move(tensor, offset, length)
    light = ModelProto()
    light.CopyFrom(model)
    return light, str(folder)


def _written(tensors: list[TensorProto], path: Path) -> list[tuple[int, int]]:
    """Write the bytes of tensors to a file; return offset and length of each."""
    places: list[tuple[int, int]] = []
    with path.open("wb") as stream:
        for tensor in tensors:
            places.append((stream.tell(), stream.write(tensor.raw_data)))
            stream.write(b"\0" * (-stream.tell() % _ALIGNMENT))
    return places


def free_bytes(folder: Path) -> int:
    """Return how much room there is for files in a folder."""
    return shutil.disk_usage(folder).free


def _can_move(tensor: TensorProto) -> bool:
    return len(tensor.raw_data) >= SMALLEST and not is_external(tensor)


def _move(tensor: TensorProto, offset: int, length: int) -> None:
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", _FILE), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
