"""Convert ONNX files with pnnx and run them in ncnn: stand-alone, for a Python that has both.

pnnx is called as its own program, as ``pnnx model.onnx inputshape=... fp16=0``: its Python package
imports PyTorch, which nothing here needs. ``onnx`` is read for the types of the inputs alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from importlib import import_module
from importlib.metadata import distribution
from importlib.metadata import version as version_of
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Array = npt.NDArray[Any]

onnx: Any = import_module("onnx")
ncnn: Any = import_module("ncnn")

# The types of inputs that pnnx has names for: tools/pnnx/src/utils.cpp
_TYPES = {
    1: "f32",
    2: "u8",
    3: "i8",
    5: "i16",
    6: "i32",
    7: "i64",
    10: "f16",
    11: "f64",
    14: "c64",
    15: "c128",
}
# What pnnx leaves out of the sizes is the batch, at this place; 233 says that there is none.
_GIVEN = re.compile(r'ex\.input\("(in\d+)", .*batch_index=(\d+)\)')
_TAKEN = re.compile(r"(out\d+)\.numpy\(batch_index=(\d+)\)")
_DECLARED = re.compile(r"^pnnx\.Output +(out\d+) .*=\(([\d,]*)\)\w+", re.MULTILINE)
_NONE = 233
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LAST = 6  # lines of what it printed


class RefusedError(Exception):
    """What pnnx or ncnn said, and where.

    Attributes:
        stage: ``convert``, ``load`` or ``run``.
    """

    def __init__(self, stage: str, said: str) -> None:
        """Keep the stage."""
        super().__init__(said)
        self.stage = stage


def version() -> str:
    """Return the version of the wheel."""
    return version_of("ncnn")


def load(path: str, shapes: dict[str, list[int]]) -> Callable[[dict[str, Array]], dict[str, Array]]:
    """Convert a file and load what came of it.

    Args:
        path: The .onnx file.
        shapes: The name of an input -> its shape.

    Returns:
        A function from the inputs by name to the outputs by name. For inputs of other shapes it
        converts the file again.

    Raises:
        RefusedError: The converter or ncnn does not take the file.
    """
    loaded = [(shapes, _Loaded(path, shapes))]

    def run(feed: dict[str, Array]) -> dict[str, Array]:
        given = {name: list(array.shape) for name, array in feed.items()}
        if given != loaded[-1][0]:
            loaded[:] = [(given, _Loaded(path, given))]
        return loaded[-1][1].run(feed)

    return run


class _Loaded:
    """A file that was converted for inputs of certain shapes."""

    def __init__(self, path: str, shapes: dict[str, list[int]]) -> None:
        graph = onnx.load(path, load_external_data=False).graph
        stored = {tensor.name for tensor in graph.initializer}
        inputs = [info for info in graph.input if info.name not in stored]
        self._inputs = [info.name for info in inputs]
        self._outputs = [info.name for info in graph.output]
        kinds = [info.type.tensor_type for info in graph.output]
        self._scalar = [kind.HasField("shape") and not kind.shape.dim for kind in kinds]
        with tempfile.TemporaryDirectory() as folder:
            stem = os.path.join(folder, "model")
            _copy_weights(path, graph, folder)
            sizes = ",".join(_text(info, shapes.get(info.name, [])) for info in inputs)
            _convert(path, stem, sizes)
            with open(f"{stem}.pnnx.param", encoding="utf-8") as stream:
                declared = dict(_DECLARED.findall(stream.read()))
            with open(f"{stem}_ncnn.py", encoding="utf-8") as stream:
                example = stream.read()
            self._net = _opened(stem)
        self._given = {name: int(place) for name, place in _GIVEN.findall(example)}
        self._taken = {name: int(place) for name, place in _TAKEN.findall(example)}
        self._shapes = {name: _numbers(text) for name, text in declared.items()}

    def run(self, feed: dict[str, Array]) -> dict[str, Array]:
        """Return the outputs by name, in the shapes that pnnx knows."""
        found: dict[str, Array] = {}
        with self._net.create_extractor() as extractor:
            for number, name in enumerate(self._inputs):
                if f"in{number}" in self._given:
                    batch = self._given[f"in{number}"]
                    extractor.input(f"in{number}", _mat(feed[name], batch))
            for number, name in enumerate(self._outputs):
                failed, mat = extractor.extract(f"out{number}")
                if failed or mat.empty():
                    raise RefusedError("run", f"it gives nothing for output {name}")
                array = np.array(mat.numpy(batch_index=self._taken.get(f"out{number}", _NONE)))
                shape = self._shapes.get(f"out{number}")
                if array.size == 1 and self._scalar[number]:
                    shape = ()
                fits = shape is not None and int(np.prod(shape)) == array.size
                found[name] = array.reshape(shape) if fits else array
        return found


def _copy_weights(path: str, graph: Any, folder: str) -> None:
    """Put copies of the files of weights next to what pnnx is given: it follows no link to them."""
    adjacent = os.path.dirname(os.path.abspath(path))
    names = {
        os.path.normpath(entry.value)
        for tensor in graph.initializer
        for entry in tensor.external_data
        if entry.key == "location"
    }
    for name in names:
        inside = not os.path.isabs(name) and not name.startswith(os.pardir)
        if inside and os.path.isfile(os.path.join(adjacent, name)):
            copy = os.path.join(folder, name)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(os.path.join(adjacent, name), copy)


def _text(info: Any, sizes: list[int]) -> str:
    """Return an input as pnnx wants it to be described."""
    kind = info.type.tensor_type.elem_type
    if kind not in _TYPES:
        said = f"pnnx has no name for the type of {info.name}, {kind}"
        raise RefusedError("convert", said)
    return "[" + ",".join(map(str, sizes)) + "]" + _TYPES[kind]


def _convert(path: str, stem: str, sizes: str) -> None:
    """Run pnnx; the files that it makes begin with a stem."""
    files = {
        "pnnxparam": ".pnnx.param",
        "pnnxbin": ".pnnx.bin",
        "pnnxpy": "_pnnx.py",
        "pnnxonnx": ".pnnx.onnx",
        "ncnnparam": ".ncnn.param",
        "ncnnbin": ".ncnn.bin",
        "ncnnpy": "_ncnn.py",
    }
    os.symlink(path, f"{stem}.onnx")  # it writes a simplified file next to the one that it is given
    words = [str(distribution("pnnx").locate_file("pnnx/pnnx")), f"{stem}.onnx", "fp16=0"]
    words += [f"{key}={stem}{end}" for key, end in files.items()]
    ended = subprocess.run(
        [*words, f"inputshape={sizes}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        cwd=os.path.dirname(stem),
    )
    if ended.returncode or not os.path.isfile(f"{stem}.ncnn.param"):
        said = _COLOUR.sub("", ended.stdout.decode("utf-8", "replace")).strip().splitlines()
        why = f"pnnx ended with {ended.returncode}: " + " ".join(said[-_LAST:])
        raise RefusedError("convert", why)


def _opened(stem: str) -> Any:
    """Return the net; what ncnn says of it goes to the C streams."""
    with open(f"{stem}.ncnn.param", encoding="utf-8") as stream:
        layers = {line.split()[0] for line in stream.read().splitlines()[2:] if line.strip()}
    known = {name for name in layers if ncnn.layer_to_index(name) >= 0}
    if layers - known:
        lacking = ", ".join(sorted(layers - known))
        raise RefusedError("load", f"layer {lacking} not exists or registered")
    net = ncnn.Net()
    net.opt.num_threads = 1
    for half in ("packed", "storage", "arithmetic"):
        setattr(net.opt, f"use_fp16_{half}", False)
    if net.load_param(f"{stem}.ncnn.param") or net.load_model(f"{stem}.ncnn.bin"):
        raise RefusedError("load", "ncnn does not load what pnnx wrote")
    return net


def _mat(array: Array, batch: int) -> Any:
    kept = array.astype(np.int32 if array.dtype.kind in "iu" else np.float32)
    return ncnn.Mat(np.ascontiguousarray(kept), batch_index=batch).clone()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part)
