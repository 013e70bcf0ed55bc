"""TensorRT itself, to run a model: through its Python package, or `trtexec`.

The Python package hands numbers over as they are; polygraphy, NVIDIA's own library for that, keeps
the device's memory. `trtexec` prints floats with six digits, and 8-bit integers as characters,
which is why models with such outputs need the package.

Sources: samples/common/sampleOptions.cpp (options), sampleReporting.cpp and sampleUtils.h (what is
printed) and trtexec.cpp (the banner) of NVIDIA/TensorRT; polygraphy.backend.trt in
tools/Polygraphy of the same repository.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import onnx

from graphfix.engines.interface import Meant
from graphfix.errors import EngineFailed
from graphfix.ir.storage.weights import dtype_of

Array: TypeAlias = npt.NDArray[Any]

_BANNER = re.compile(r"\[TensorRT v(\d+)\]")
_BARE = re.compile(r"(?<![\w\"])(-?)(nan|inf)(?:inity)?(?![\w\"])", re.IGNORECASE)
_EXPLICIT_BATCH_MAJOR = 7
_LONG = 100_000
_REASON = 400


def found() -> type[TensorRT] | None:
    """Return the way to TensorRT that this machine has; None where it has none."""
    if importlib.util.find_spec("tensorrt") and importlib.util.find_spec("polygraphy"):
        return PackageEngine
    return ProgramEngine if shutil.which("trtexec") else None


def open_tensorrt(model: onnx.ModelProto, path: Path, meant: Meant) -> TensorRT:
    """Return TensorRT for a model file.

    Args:
        model: The model in the file.
        path: The file.
        meant: The version of TensorRT.

    Raises:
        EngineFailed: The machine has no TensorRT any more.
    """
    way = found()
    if way is None:
        raise EngineFailed("there is neither tensorrt with polygraphy nor trtexec")
    return way(model, path, meant)


class TensorRT:
    """One model in TensorRT; an engine is built for each set of input shapes.

    Attributes:
        name: The engine, for people.
        version: Of TensorRT, such as ``(8, 6)``; empty until it has run.
    """

    name = "TensorRT"

    def __init__(self, model: onnx.ModelProto, path: Path, meant: Meant) -> None:
        """Remember the model; see `open_tensorrt`."""
        self.version: tuple[int, ...] = ()
        self._path = path
        self._folder = tempfile.TemporaryDirectory(prefix="graphfix-trt-")
        self._built: dict[tuple[tuple[str, tuple[int, ...]], ...], Any] = {}
        self._major = meant.version[0]
        self._aliases = {old: np.dtype(new) for old, new in meant.dtype_aliases.items()}
        self._outputs = {
            info.name: dtype_of(info.type.tensor_type.elem_type) or np.dtype(object)
            for info in model.graph.output
        }
        self._open = {
            info.name
            for info in model.graph.input
            if any(not dim.HasField("dim_value") for dim in info.type.tensor_type.shape.dim)
        }

    def run(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """Run once; raises `EngineFailed` where TensorRT does not build or run the model."""
        given = {name: self._taken(name, value) for name, value in feed.items()}
        results = self._infer(given)
        missing = sorted(self._outputs.keys() - results.keys())
        if missing:
            raise EngineFailed(f"there is no output {missing[0]}", where=self.name)
        return {name: results[name].astype(dtype) for name, dtype in self._outputs.items()}

    def _taken(self, name: str, value: Array | list[Any] | dict[Any, Any] | None) -> Array:
        """Return an input as this version takes it: int64 as int32 before version 10."""
        if not isinstance(value, np.ndarray):
            raise EngineFailed(f"input {name} is not a tensor")
        dtype = self._aliases.get(value.dtype.name)
        if dtype is None:
            return np.ascontiguousarray(value)
        with np.errstate(over="ignore"):
            taken = value.astype(dtype)
        if dtype.kind in "iu" and not np.array_equal(taken, value):
            raise EngineFailed(f"input {name} holds numbers that {dtype.name} does not")
        return np.ascontiguousarray(taken)

    def _shapes(self, given: dict[str, Array]) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the inputs that the model leaves open."""
        return {name: array.shape for name, array in given.items() if name in self._open}

    def _infer(self, given: dict[str, Array]) -> dict[str, Array]:
        raise NotImplementedError


class PackageEngine(TensorRT):
    """TensorRT's Python package, with polygraphy for the device's memory."""

    def _infer(self, given: dict[str, Array]) -> dict[str, Array]:
        trt: Any = importlib.import_module("polygraphy.backend.trt")
        version: str = importlib.import_module("tensorrt").__version__
        self.name = f"TensorRT {version}"
        self.version = tuple(int(part) for part in version.split(".")[:2])
        shapes = self._shapes(given)
        key = tuple(sorted(shapes.items()))
        try:
            if key not in self._built:
                profile = trt.Profile()
                for name, shape in shapes.items():
                    profile.add(name, min=shape, opt=shape, max=shape)
                network = trt.NetworkFromOnnxPath(str(self._path))
                config = trt.CreateConfig(tf32=False, profiles=[profile])
                self._built[key] = trt.EngineFromNetwork(network, config=config)()
            with trt.TrtRunner(self._built[key]) as runner:
                inferred: dict[str, Any] = runner.infer(given)
                # The runner's own buffers are gone after it.
                return {name: np.array(value) for name, value in inferred.items()}
        except Exception as error:  # polygraphy's and TensorRT's exceptions have no common base
            raise EngineFailed(" ".join(str(error).split())[:_REASON], where=self.name) from None


class ProgramEngine(TensorRT):
    """`trtexec`, found on PATH."""

    name = "trtexec"

    def _infer(self, given: dict[str, Array]) -> dict[str, Array]:
        for name, dtype in self._outputs.items():
            if dtype.itemsize == 1 and dtype.kind in "iu":
                raise EngineFailed(
                    f"trtexec does not print the values of output {name} ({dtype.name})"
                )
        shapes = self._shapes(given)
        key = tuple(sorted(shapes.items()))
        engine = Path(self._folder.name) / f"engine{len(self._built)}.plan"
        built: Path | None = self._built.get(key)
        with tempfile.TemporaryDirectory(dir=self._folder.name) as folder:
            answer = Path(folder) / "outputs.json"
            command = ["trtexec", f"--exportOutput={answer}"]
            command += self._building(engine) if built is None else [f"--loadEngine={built}"]
            command += _inputs(given, shapes, Path(folder))
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
            )
            self._read_banner(done.stdout)
            if done.returncode or not answer.exists():
                raise EngineFailed(_complaint(done.stdout), where=self.name)
            if engine.exists():
                self._built[key] = engine
            return parse_outputs(
                answer.read_text(encoding="utf-8", errors="replace"), self._outputs
            )

    def _building(self, engine: Path) -> list[str]:
        options = [f"--onnx={self._path}", f"--saveEngine={engine}", "--noTF32"]
        return [*options, "--explicitBatch"] if self._major == _EXPLICIT_BATCH_MAJOR else options

    def _read_banner(self, printed: str) -> None:
        """Read the version, ``v8601`` for 8.6.1 and ``v100100`` for 10.1.0."""
        banner = _BANNER.search(printed)
        if banner is None:
            return
        number = int(banner[1])
        major = 1000 if number < _LONG else 10_000
        self.version = (number // major, number % major // 100)
        self.name = f"trtexec of TensorRT {'.'.join(map(str, self.version))}"


def _inputs(given: dict[str, Array], shapes: dict[str, tuple[int, ...]], folder: Path) -> list[str]:
    """Write the inputs; return the options that load them and run once."""
    files: list[str] = []
    for number, (name, array) in enumerate(given.items()):
        file = folder / f"input{number}.bin"
        array.tofile(file)
        files.append(f"{_quoted(name)}:{file}")
    options = ["--iterations=1", "--warmUp=0", "--duration=0"]
    if files:
        options.append(f"--loadInputs={','.join(files)}")
    if shapes:
        sizes = [f"{_quoted(name)}:{'x'.join(map(str, shapes[name]))}" for name in shapes]
        options.append(f"--shapes={','.join(sizes)}")
    return options


def _quoted(name: str) -> str:
    """Return a name as trtexec's lists take it, where a colon and a comma mean something."""
    return f"'{name}'" if ":" in name or "," in name else name


def _complaint(printed: str) -> str:
    lines = [line.split("[E]", 1)[1] for line in printed.splitlines() if "[E]" in line]
    text = " ".join(" ".join(lines[:3]).split()) or " ".join(printed[-_REASON:].split())
    return text[:_REASON] or "it ended without a word"


def parse_outputs(text: str, dtypes: dict[str, np.dtype[Any]]) -> dict[str, Array]:
    """Return the outputs that trtexec wrote; its ``nan`` and ``inf`` are no JSON."""
    clean = _BARE.sub(lambda m: "NaN" if m[2].lower() == "nan" else f"{m[1]}Infinity", text)
    try:
        entries: list[dict[str, Any]] = json.loads(clean)
        found: dict[str, Array] = {}
        for entry in entries:
            sizes = [int(size) for size in re.findall(r"-?\d+", entry["dimensions"])]
            dtype = dtypes.get(entry["name"])
            if dtype is not None:
                values = np.array(entry["values"], dtype=np.float64 if dtype.kind == "f" else None)
                found[entry["name"]] = values.reshape(sizes)
        return found
    except (ValueError, KeyError, TypeError) as error:
        raise EngineFailed(f"what trtexec wrote cannot be read: {error}") from None
