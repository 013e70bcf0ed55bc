"""What is no plain file: pipes, links, folders, sparse files, external data of nothing good."""

from __future__ import annotations

import os
from pathlib import Path

from onnx import TensorProto, helper

from benchmarks.fuzz.built_bombs import LEAST, MOST, single


def _external(location: str, *, length: str | None = None, offset: str | None = None) -> bytes:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 3])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    if length is not None:
        tensor.external_data.add(key="length", value=length)
    if offset is not None:
        tensor.external_data.add(key="offset", value=offset)
    return single(helper.make_node("Mod", ["x", "w"], ["y"], fmod=1), tensor)


def traps(folder: Path) -> list[Path]:
    """Lay out files that are none, or that lead somewhere else; return what to give to graphfix."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data.bin").write_bytes(bytes(64))
    os.symlink("loop-b", folder / "loop-a")
    os.symlink("loop-a", folder / "loop-b")
    os.symlink("/etc/hostname", folder / "leaving")
    os.mkfifo(folder / "pipe.onnx")
    os.mkfifo(folder / "data-pipe")
    (folder / "folder.onnx").mkdir()
    with (folder / "sparse.onnx").open("wb") as stream:
        stream.truncate(1 << 42)
    with (folder / "sparse-data").open("wb") as stream:
        stream.truncate(1 << 42)
    os.symlink("loop-a", folder / "link.onnx")
    made = {
        "dot": _external("."),
        "dot-dot": _external(".."),
        "slash": _external("/"),
        "backslash": _external("\\"),
        "dots": _external("./././."),
        "empty": _external(""),
        "short": _external("data.bin", length="3"),
        "zero": _external("data.bin", length="0"),
        "long": _external("data.bin", length="64"),
        "length-most": _external("data.bin", length=str(MOST)),
        "length-beyond": _external("data.bin", length="9" * 5000),
        "length-words": _external("data.bin", length="many"),
        "offset-least": _external("data.bin", offset=str(LEAST)),
        "name-long": _external("d" * 5000),
        "path-long": _external("d/" * 5000),
        "data-in-loop": _external("loop-a"),
        "leaving": _external("leaving"),
        "data-in-pipe": _external("data-pipe"),
        "nul": _external("da\0ta"),
        "surrogate": _external("data.bin").replace(b"data.bin", b"data\xff\xfe\xfd\xfc"),
        "sparse-data": _external("sparse-data", length=str(1 << 42)),
        "itself": _external("itself.onnx"),
    }
    for name, raw in made.items():
        (folder / f"{name}.onnx").write_bytes(raw)
    special = ["pipe.onnx", "folder.onnx", "sparse.onnx", "link.onnx", "missing.onnx"]
    return [folder / name for name in (*(f"{n}.onnx" for n in made), *special)]
