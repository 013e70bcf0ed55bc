"""Weights that several files hold, stored once: in a data file that all of them read.

At any moment each model reads what it did: the data is written first, under a name of its own, then
each model; what none of them reads any more is removed at the end.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onnx import TensorProto

from graphfix.errors import UsageError
from graphfix.ir.storage.aside import LEAST, PAGE, refer
from graphfix.ir.storage.equal_weights import CHUNK, STEPS, chunks_of
from graphfix.ir.storage.reading import read_model
from graphfix.ir.storage.saving import (
    OUTLINE_BYTES,
    gather,
    save_model,
    write_all,
    write_atomically,
)
from graphfix.ir.storage.weights import Weights, external_span, is_external

_Place = tuple[Path, int]  # a file, and which initializer of its main graph
_Key = tuple[Hashable, ...]
_Span = tuple[str, int, int]
_Read = Mapping[Path, Mapping[int, _Span]]  # where weights of files lie, if in data files
_NAMED = re.compile(r"shared-[0-9a-f]{12}\.data")
_VALUES = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data")


@dataclass(frozen=True, slots=True)
class Shared:
    """What became of weights that several files hold.

    Attributes:
        data: The data files that hold them.
        weights: How many weights of these files are read there.
        spared: The bytes by which models and data are smaller together.
    """

    data: tuple[str, ...]
    weights: int
    spared: int


def share_weights(paths: Sequence[Path]) -> Shared:
    """Let models of one folder read equal weights (element type, shape, bytes) at one place.

    Names stay, and so do weights below `OUTLINE_BYTES` and those of subgraphs, which not every
    engine reads from other files. One model is in memory at a time, and of data files what tells
    weights of one size apart.

    Args:
        paths: The models, which are written again.

    Raises:
        InvalidModel: One cannot be read.
        UsageError: They lie in several folders, or their folder cannot be written.
    """
    paths = list(dict.fromkeys(path.resolve() for path in paths))
    folders = {path.parent for path in paths}
    if len(folders) != 1:
        raise UsageError(
            f"the results lie in {len(folders)} folders, and a model reads its own folder alone",
            where="--share-weights",
            hint="let all go to one folder",
        )
    (folder,) = folders
    read = {path: dict(_external(path)) for path in paths}
    size = _bytes(folder, read)
    keys = _equal(read)
    homes = _homes(keys, read)
    try:
        homes |= _stored(folder, {key: place for place, key in keys.items() if key not in homes})
        for path in paths:
            _refer(path, {n: homes[key] for (file, n), key in keys.items() if file == path}, homes)
        now = {path: dict(_external(path)) for path in paths}
        size -= _bytes(folder, now)
        _remove_unread(folder, _data(read) - _data(now), paths)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(folder)) from error
    data = sorted({homes[key][0] for key in keys.values()})
    return Shared(tuple(data), len(keys), size)


def _data(read: _Read) -> set[str]:
    return {location for spans in read.values() for location, _, _ in spans.values()}


def _bytes(folder: Path, read: _Read) -> int:
    """Return the bytes of models and of the data files that they read."""
    files = [*read, *(folder / location for location in _data(read))]
    return sum(file.stat().st_size for file in files)


def _external(path: Path) -> Iterator[tuple[int, _Span]]:
    for number, tensor in enumerate(read_model(path).proto.graph.initializer):
        if is_external(tensor):
            yield number, external_span(tensor)


def _equal(read: _Read) -> dict[_Place, _Key]:
    """Return the weights that two files and more hold in two places, by what is equal of them."""
    keys: dict[_Place, _Key] = {}
    for step, key_of in enumerate(STEPS):
        for path in read:
            if step and not any(file == path for file, _ in keys):
                continue
            for number, tensor in enumerate(read_model(path).proto.graph.initializer):
                weights, place = Weights(tensor, str(path.parent)), (path, number)
                if place not in keys and (step or not _may_move(weights, tensor)):
                    continue
                found, before = key_of(weights), keys.pop(place, ())
                if found is not None:
                    keys[place] = (*before, found)
        files: dict[_Key, set[Path]] = defaultdict(set)
        spans: dict[_Key, set[_Span | _Place]] = defaultdict(set)
        for (path, number), key in keys.items():
            files[key].add(path)
            spans[key].add(read[path].get(number, (path, number)))
        several = {key for key in files if len(files[key]) > 1 and len(spans[key]) > 1}
        keys = {place: key for place, key in keys.items() if key in several}
    return keys


def _may_move(weights: Weights, tensor: TensorProto) -> bool:
    return is_external(tensor) or weights.nbytes >= OUTLINE_BYTES


def _homes(keys: Mapping[_Place, _Key], read: _Read) -> dict[_Key, _Span]:
    """Return where weights lie in a data file already; best in one that is of no single model."""
    found: dict[_Key, _Span] = {}
    for path, spans in read.items():
        for number, span in spans.items():
            key = keys.get((path, number))
            if key is None:
                continue
            if key not in found or (_removable(found[key][0], read) > _removable(span[0], read)):
                found[key] = span
    return found


def _removable(location: str, paths: Collection[Path]) -> bool:
    """Say whether graphfix named a data file: after one of the models, or after what it holds."""
    named = any(location.startswith(f"{path.name}.") for path in paths)
    return named or _NAMED.fullmatch(location) is not None


def _stored(folder: Path, places: Mapping[_Key, _Place]) -> dict[_Key, _Span]:
    """Write one of each to a file that is named after what it holds."""
    if not places:
        return {}
    digests = b"".join(key[-1] for key in places if isinstance(key[-1], bytes))
    name = f"shared-{hashlib.sha256(digests).hexdigest()[:12]}.data"
    spans: dict[_Key, _Span] = {}

    def fill(descriptor: int) -> None:
        end = 0
        for path in dict.fromkeys(path for path, _ in places.values()):
            tensors = read_model(path).proto.graph.initializer
            for key, (file, number) in places.items():
                if file != path:
                    continue
                weights = Weights(tensors[number], str(folder))
                start = -(-end // PAGE) * PAGE if weights.nbytes >= LEAST else end
                os.lseek(descriptor, start, os.SEEK_SET)
                end = start
                for chunk in chunks_of(weights, CHUNK):
                    write_all(descriptor, chunk)
                    end += len(chunk)
                spans[key] = (name, start, end - start)

    write_atomically(folder / name, fill)
    return spans


def _refer(path: Path, wanted: Mapping[int, _Span], homes: Mapping[_Key, _Span]) -> None:
    """Let weights of a model be read where they are wanted; keep none of what it read before."""
    proto = read_model(path).proto
    left = set[str]()
    moved = False
    for number, span in wanted.items():
        tensor = proto.graph.initializer[number]
        if is_external(tensor):
            if external_span(tensor) == span:
                continue
            left.add(external_span(tensor)[0])
        for values in _VALUES:
            tensor.ClearField(values)
        refer(tensor, *span)
        moved = True
    own = {name for name in left if name.startswith(f"{path.name}.")}
    own -= {location for location, _, _ in homes.values()}
    rest = [t for t in proto.graph.initializer if is_external(t) and external_span(t)[0] in own]
    if rest:  # the file would be holes for the most part
        gather(rest, path, path.parent)
    if moved:
        save_model(proto, path, base_dir=str(path.parent))


def _remove_unread(folder: Path, locations: Collection[str], paths: Collection[Path]) -> None:
    """Remove data files that graphfix named, unless a model of the folder reads them."""
    for location in locations:
        if _removable(location, paths) and not _is_named(folder, location):
            (folder / location).unlink()


def _is_named(folder: Path, location: str) -> bool:
    """Say whether any model of a folder has the name in it, in a weight or elsewhere."""
    return any(location.encode() in path.read_bytes() for path in folder.glob("*.onnx"))
