"""Saving a model: the old file or the new one is there at any moment, data before the model."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from onnx import ModelProto, TensorProto

from graphfix.errors import UsageError
from graphfix.ir.storage.aside import LEAST, PAGE, is_aside, refer
from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.weights import external_span, is_external

PROTO_LIMIT = (1 << 31) - (1 << 20)  # protobuf's 2 GiB, less room for what is not weights
FICLONE = 0x40049409
_CHUNK = 1 << 24
OUTLINE_BYTES = 1024


def save_model(proto: ModelProto, path: Path, *, base_dir: str, data: str = "keep") -> None:
    """Write `proto` to `path`; `proto` is changed where its external data moves.

    Args:
        proto: The model; external tensors refer to files in `base_dir`.
        path: The .onnx file to write.
        base_dir: The folder that the external data lies in.
        data: ``keep`` re-uses data files in the same folder and copies them to another one,
            ``copy`` copies always, ``link`` makes hard links, ``inline`` takes the values in.

    Raises:
        UsageError: The folder is missing, cannot be written, has too little space, or the model
            is too big to be inlined.
    """
    path = Path(os.path.realpath(path))  # the data goes where the file itself lies
    folder = path.parent
    if not folder.is_dir():
        raise UsageError("the folder does not exist", where=str(folder), hint="make it first")
    try:
        _place_data(proto, path, Path(base_dir), data)
        if inline_bytes(proto) > PROTO_LIMIT:
            if data == "inline":
                raise UsageError(
                    "the model is over 2 GiB and cannot be one file",
                    where=str(path),
                    hint="leave --data inline out",
                )
            outline(proto, path)
        raw = proto.SerializeToString()
        write_atomically(path, lambda descriptor: write_all(descriptor, raw))
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(path)) from error


def write_all(descriptor: int, raw: bytes) -> None:
    """Write all of `raw`, whatever the system takes at once."""
    view = memoryview(raw)
    while view:
        view = view[os.write(descriptor, view[: 1 << 30]) :]


def write_atomically(path: Path, fill: Callable[[int], None]) -> None:
    """Let `fill` write a file aside, make it durable, and rename it to `path`.

    A symbolic link is followed, and a file that is replaced hands its permissions on.

    Raises:
        UsageError: `path` is there and is no regular file (a rename would replace a device).
        OSError: The folder cannot be written.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise UsageError("is not a regular file", where=str(path), hint="give a file name")
    # The name is not made from that of the file, which may be as long as names can be.
    descriptor, name = tempfile.mkstemp(prefix=".graphfix-", suffix=".tmp", dir=path.parent)
    try:
        try:
            fill(descriptor)
            os.fsync(descriptor)
            os.chmod(name, _mode_for(path))  # fchmod is not everywhere
        finally:
            os.close(descriptor)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(path.parent)


def _mode_for(path: Path) -> int:
    with contextlib.suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _place_data(proto: ModelProto, path: Path, base: Path, data: str) -> None:
    tensors = [t for t in walk_tensors(proto) if is_external(t)]
    if not tensors:
        return
    if data == "inline":
        for tensor in tensors:
            take_in(tensor, base)
        return
    if any(is_aside(external_span(tensor)[0]) for tensor in tensors):
        gather(tensors, path, base)
        return
    same = base.resolve() == path.parent.resolve()
    if same and data in ("keep", "link"):
        return
    names: dict[str, str] = {}
    for tensor in tensors:
        location = external_span(tensor)[0]
        if location not in names:
            names[location] = _free_name(path, location, base / location)
    _check_space(path.parent, [base / location for location in names] if data != "link" else [])
    for location, name in names.items():
        target = path.parent / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if data == "link":
            _link(base / location, target)
        else:
            write_atomically(target, _copier(base / location))
    for tensor in tensors:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = names[entry.value]


def gather(tensors: Sequence[TensorProto], path: Path, base: Path) -> None:
    """Write what a model reads of all its data files to one file, each part once.

    What passes wrote again is not read any more, and would be most of the file.
    """
    spans: dict[tuple[str, int, int], int] = {}
    end = 0
    for tensor in tensors:
        span = external_span(tensor)
        if span not in spans:
            start = -(-end // PAGE) * PAGE if span[2] >= LEAST else end
            spans[span] = start
            end = start + span[2]
    sources = {(base / location).resolve() for location, _, _ in spans}
    target = data_file(path)
    if target.resolve() in sources:  # a file is never changed that a model may refer to
        target = path.parent / _free_name(path, target.name, base)
    if end > shutil.disk_usage(path.parent).free:
        raise UsageError(f"the data needs {end / 2**30:.1f} GiB", where=str(path.parent))

    def fill(descriptor: int) -> None:
        for (location, offset, length), start in spans.items():
            os.lseek(descriptor, start, os.SEEK_SET)
            with (base / location).open("rb") as stream:
                stream.seek(offset)
                while length and (chunk := stream.read(min(length, _CHUNK))):
                    write_all(descriptor, chunk)
                    length -= len(chunk)

    write_atomically(target, fill)
    for tensor in tensors:
        location, offset, length = external_span(tensor)
        start = spans[location, offset, length]
        refer(tensor, target.name, start, length)


def _free_name(path: Path, location: str, source: Path) -> str:
    """Return the location itself where it is free, else a name after the output."""
    target = path.parent / location
    if not target.exists():
        return location
    name = f"{path.name}.{Path(location).name}"
    count = 1
    while (path.parent / name).exists() and not (path.parent / name).samefile(source):
        name = f"{path.name}.{count}.{Path(location).name}"
        count += 1
    return name


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source.resolve(), target)
    except OSError as error:
        raise UsageError(
            f"the data file cannot be linked: {error.strerror}",
            where=str(target),
            hint="use --data copy",
        ) from error


def _check_space(folder: Path, sources: list[Path]) -> None:
    needed = sum(_held(source) for source in sources)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise UsageError(
            f"the external data needs {needed / 2**30:.1f} GiB, {free / 2**30:.1f} GiB are free",
            where=str(folder),
            hint="write next to the model, or use --data link",
        )


def _held(source: Path) -> int:
    """Return the bytes that a file takes on disk, or its size where the system does not say."""
    found = source.stat()
    return found.st_blocks * 512 if hasattr(found, "st_blocks") else found.st_size


def _copier(source: Path) -> Callable[[int], None]:
    def copy(descriptor: int) -> None:
        with source.open("rb") as stream:
            if _reflink(stream.fileno(), descriptor):
                return
            if hasattr(os, "SEEK_DATA"):
                _copy_sparse(stream.fileno(), descriptor, source.stat().st_size)
                return
            while chunk := stream.read(_CHUNK):
                write_all(descriptor, chunk)

    return copy


def _reflink(source: int, target: int) -> bool:
    try:
        import fcntl

        fcntl.ioctl(target, FICLONE, source)
    except (ImportError, OSError):
        return False
    return True


def _copy_sparse(source: int, target: int, size: int) -> None:
    os.ftruncate(target, size)
    position = 0
    while position < size:
        try:
            start = os.lseek(source, position, os.SEEK_DATA)
        except OSError:
            return  # nothing but a hole is left
        end = os.lseek(source, start, os.SEEK_HOLE)
        os.lseek(source, start, os.SEEK_SET)
        os.lseek(target, start, os.SEEK_SET)
        left = end - start
        while left > 0:
            chunk = os.read(source, min(left, _CHUNK))
            if not chunk:
                return
            write_all(target, chunk)
            left -= len(chunk)
        position = end


def take_in(tensor: TensorProto, base: Path) -> None:
    """Read the values of an external tensor into the proto; `base` is the folder of its file."""
    location, offset, length = external_span(tensor)
    with (base / location).open("rb") as stream:
        stream.seek(offset)
        tensor.raw_data = stream.read(length)
    del tensor.external_data[:]
    tensor.data_location = TensorProto.DEFAULT


def inline_bytes(proto: ModelProto) -> int:
    """Return the bytes of the raw weights that lie inside a model."""
    return sum(len(t.raw_data) for t in walk_tensors(proto) if not is_external(t))


def data_file(path: Path) -> Path:
    """Return the file that `outline` writes next to a model."""
    return path.parent / f"{path.name}.data"


def outline(proto: ModelProto, path: Path) -> None:
    """Move the inline weights of the main graph into ``<out>.data``.

    Args:
        proto: The model, which is changed.
        path: The .onnx file that it will be written to.

    Raises:
        OSError: The file cannot be written.
    """
    name = data_file(path).name
    moved = [
        t
        for t in proto.graph.initializer
        if len(t.raw_data) >= OUTLINE_BYTES and not is_external(t)
    ]

    def fill(descriptor: int) -> None:
        for tensor in moved:
            write_all(descriptor, tensor.raw_data)

    write_atomically(data_file(path), fill)
    offset = 0
    for tensor in moved:
        length = len(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", name), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        offset += length
