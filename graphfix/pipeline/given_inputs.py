"""Inputs as users have them: ranges of numbers, pictures, sounds, arrays in files."""

from __future__ import annotations

import wave
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TypeProto, ValueInfoProto

from graphfix.errors import UsageError
from graphfix.ir.addressing import unknown
from graphfix.ir.graph import shape_of_type
from graphfix.ir.protos import required_inputs
from graphfix.ir.storage.weights import numpy_dtype
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.inputs.ranges import Range, drawn_from
from graphfix.proving.inputs.user import read_inputs
from graphfix.proving.values.kinds import Array, is_floating

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".ppm", ".pgm")
_BYTES = {1: np.uint8, 2: np.int16, 4: np.int32}
_COLOURS = {1: "L", 3: "RGB", 4: "RGBA"}


def given_inputs(
    proto: ModelProto,
    *,
    inputs: Path | None = None,
    ranges: Mapping[str, Range] | None = None,
    files: Mapping[str, Path] | None = None,
    seed: int = 0,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> dict[str, Any]:
    """Return one input set for a model.

    Args:
        proto: The model.
        inputs: An .npz file of all inputs; None to make those that nothing else gives.
        ranges: Input -> least and largest number; drawn evenly, both ends included.
        files: Input -> a picture, a .wav file or an .npy file.
        seed: For what is drawn.
        shapes: Input -> sizes, for dynamic inputs.

    Raises:
        UsageError: An input is not there, or a file or range does not fit it.
        EngineFailed: An input has no known type.
    """
    known = {info.name: info for info in required_inputs(proto.graph)}
    for option, named in (("--range", ranges or {}), ("--input", files or {})):
        for name in named:
            if name not in known:
                raise unknown("input", name, known, f"{option} {name}")
    feed: dict[str, Any] = {}
    if inputs is not None:
        feed.update(read_inputs(inputs, proto))
    else:
        feed.update(FeedMaker(proto, seed, dict(shapes or {})).draw(0))
    rng = np.random.default_rng(seed)
    for name, (low, high) in (ranges or {}).items():
        feed[name] = drawn_from(feed[name], low, high, rng, f"--range {name}")
    for name, path in (files or {}).items():
        feed[name] = _read(path, known[name], f"--input {name}={path}")
    return feed


def _read(path: Path, info: ValueInfoProto, where: str) -> Array:
    if not path.is_file():
        raise UsageError("no such file", where=where)
    readers: dict[str, Callable[[Path, TypeProto, str], Array]] = {
        ".npy": _array,
        ".wav": _sound,
        **dict.fromkeys(PICTURES, _picture),
    }
    read = readers.get(path.suffix.lower())
    if read is None:
        raise UsageError(
            f"{path.suffix or 'a file without a suffix'} is not read",
            where=where,
            hint=f"one of {' '.join(readers)}",
        )
    return read(path, info.type, where)


def _array(path: Path, kind: TypeProto, where: str) -> Array:
    try:
        array: Array = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read as .npy: {error}", where=where) from None
    wanted = numpy_dtype(kind.tensor_type.elem_type)
    if array.dtype != wanted:
        raise UsageError(f"is of {array.dtype}, the input of {wanted}", where=where)
    return array


def _picture(path: Path, kind: TypeProto, where: str) -> Array:
    """Return a picture in the layout and size of an input; floats are from 0 to 1."""
    elem, shape = shape_of_type(kind)
    if shape is None or len(shape) not in (3, 4):
        raise UsageError("a picture goes to an input of rank 3 or 4", where=where)
    sizes = shape[-3:]
    first = sizes[0] in _COLOURS
    channels, height, width = sizes if first else (sizes[2], sizes[0], sizes[1])
    mode = _COLOURS.get(channels) if isinstance(channels, int) else None
    if mode is None:
        raise UsageError("no axis of the input is of 1, 3 or 4 channels", where=where)
    if find_spec("PIL") is None:
        raise UsageError("pictures need Pillow", where=where, hint="pip install 'graphfix[images]'")
    image: Any = import_module("PIL.Image")
    try:
        with image.open(path) as opened:
            picture = opened.convert(mode)
            size = (
                width if isinstance(width, int) else picture.width,
                height if isinstance(height, int) else picture.height,
            )
            pixels: Array = np.asarray(picture.resize(size))
    except OSError as error:
        raise UsageError(f"cannot be read as a picture: {error}", where=where) from None
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    if first:
        pixels = pixels.transpose(2, 0, 1)
    wanted = numpy_dtype(elem)
    array = (pixels / 255.0).astype(wanted) if is_floating(wanted) else pixels.astype(wanted)
    return array if len(shape) == 3 else array[None]


def _sound(path: Path, kind: TypeProto, where: str) -> Array:
    """Return a sound as one channel from -1 to 1, cut or filled with silence to a fixed length."""
    elem, shape = shape_of_type(kind)
    wanted = numpy_dtype(elem)
    if not shape or not is_floating(wanted):
        raise UsageError("a sound goes to an input of floats with at least one axis", where=where)
    try:
        with wave.open(str(path)) as opened:
            width, channels = opened.getsampwidth(), opened.getnchannels()
            raw = opened.readframes(opened.getnframes())
    except (wave.Error, EOFError, OSError) as error:
        raise UsageError(f"cannot be read as .wav: {error}", where=where) from None
    if width not in _BYTES:
        raise UsageError(f"samples of {8 * width} bits are not read", where=where, hint="16 bits")
    samples = np.frombuffer(raw, _BYTES[width]).astype(np.float64)
    samples = (samples - 128) / 128 if width == 1 else samples / 2.0 ** (8 * width - 1)
    samples = samples.reshape(-1, channels).mean(axis=1)
    length = shape[-1]
    if isinstance(length, int):
        samples = np.pad(samples[:length], (0, max(0, length - len(samples))))
    return samples.astype(wanted).reshape(*(1 for _ in shape[:-1]), -1)
