"""A model against what it is to give: outputs in an .npz file, or folders of ONNX's test data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto, ValueInfoProto, numpy_helper

from graphfix.authoring.registry import shipped_passes
from graphfix.errors import EngineFailed, UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import required_inputs
from graphfix.pipeline.failing_run import explanation
from graphfix.pipeline.model_types import evaluators_for
from graphfix.pipeline.output_differences import output_differences
from graphfix.pipeline.verifying import on_disk
from graphfix.proving.layers.comparison import Comparison
from graphfix.proving.models import run_model
from graphfix.report import Verdict, Verification

# How far floats may be from what is expected, of the largest number that is expected.
TOLERANCES = {"float64": 1e-6, "float32": 1e-3, "float16": 1e-2, "bfloat16": 2.0**-5}
_NARROW = 0.1  # for the types of 8 bits and less

Values = dict[str, Any]


def is_expected(path: object) -> bool:
    """Say whether a path is that of expected outputs and not of a model."""
    if not isinstance(path, str | Path):
        return False
    return Path(path).suffix.lower() == ".npz" or Path(path).is_dir()


def compare_expected(model: Model, path: Path, inputs: Mapping[str, Any] | None) -> Comparison:
    """Run a model, and compare its outputs with those that are expected.

    Args:
        model: The model.
        path: An .npz file with outputs by their names, and inputs where none are given; or a
            folder with ``input_0.pb`` and ``output_0.pb``, or one with such folders in it.
        inputs: The inputs for an .npz file.

    Raises:
        UsageError: What is expected cannot be read, or does not fit the model.
    """
    proto = model.to_proto()
    sets = list(_sets(proto, path, inputs))
    evaluators = evaluators_for(model, shipped_passes())
    with on_disk(proto, model.base_dir) as file:
        try:
            found = run_model(file, [feed for feed, _ in sets], evaluators=evaluators)
        except EngineFailed as error:
            reason = f"the model does not run: {error.message}"
            notes = explanation(model, [feed for feed, _ in sets], error.message)
            return Comparison(Verification(Verdict.INCONCLUSIVE, reason), notes=notes)
    rows = output_differences([expected for _, expected in sets], found, _tolerance)
    wrong = [row.name for row in rows if row.status is not Verdict.EQUAL]
    status = Verdict.MISMATCH if wrong else Verdict.EQUAL
    reason = f"not what is expected: {', '.join(wrong)}" if wrong else ""
    count = f"{len(sets)} expected set{'s' * (len(sets) != 1)}"
    return Comparison(Verification(status, reason, f"onnxruntime, {count}", rows))


def _tolerance(dtype: str) -> float:
    return TOLERANCES.get(dtype, _NARROW)


def _sets(
    proto: ModelProto, path: Path, inputs: Mapping[str, Any] | None
) -> Iterator[tuple[Values, Values]]:
    if not path.is_dir():
        yield _npz(proto, path, inputs)
        return
    if inputs is not None:
        raise UsageError("a folder of test data has its own inputs", where=str(path))
    folders = [path] if _files(path, "input") or _files(path, "output") else []
    folders = folders or sorted(p for p in path.iterdir() if p.is_dir() and _files(p, "output"))
    if not folders:
        raise UsageError("has no output_0.pb, and no folder with one", where=str(path))
    ends = required_inputs(proto.graph), list(proto.graph.output)
    for folder in folders:
        feed, expected = (
            _protos(folder, kind, infos)
            for kind, infos in zip(("input", "output"), ends, strict=True)
        )
        yield feed, expected


def _npz(proto: ModelProto, path: Path, inputs: Mapping[str, Any] | None) -> tuple[Values, Values]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays: Values = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise UsageError(f"cannot be read as .npz: {error}", where=str(path)) from None
    needed = [info.name for info in required_inputs(proto.graph)]
    outputs = [info.name for info in proto.graph.output]
    strange = [name for name in arrays if name not in needed and name not in outputs]
    if strange:
        raise UsageError(
            f"the model has no output {strange[0]!r}",
            where=str(path),
            hint=f"its outputs are {', '.join(outputs)}",
        )
    expected = {name: arrays[name] for name in outputs if name in arrays}
    if not expected:
        raise UsageError("has no output of the model", where=str(path), hint=", ".join(outputs))
    feed = dict(inputs) if inputs is not None else {n: arrays[n] for n in needed if n in arrays}
    missing = [name for name in needed if name not in feed]
    if missing:
        raise UsageError(
            f"input {missing[0]!r} is given by nothing", where=str(path), hint="--inputs FILE.npz"
        )
    return feed, expected


def _files(folder: Path, kind: str) -> list[Path]:
    found = [(p.stem.removeprefix(f"{kind}_"), p) for p in folder.glob(f"{kind}_*.pb")]
    return [path for _, path in sorted((int(n), p) for n, p in found if n.isdecimal())]


def _protos(folder: Path, kind: str, infos: Sequence[ValueInfoProto]) -> Values:
    files = _files(folder, kind)
    if len(files) != len(infos):
        raise UsageError(f"has {len(files)} {kind}s, the model {len(infos)}", where=str(folder))
    values: Values = {}
    for path, info in zip(files, infos, strict=True):
        if info.type.WhichOneof("value") != "tensor_type":
            raise UsageError(f"{kind} {info.name!r} is no tensor", where=str(path))
        try:
            values[info.name] = numpy_helper.to_array(TensorProto.FromString(path.read_bytes()))
        except (DecodeError, OSError, TypeError, ValueError) as error:
            raise UsageError(f"cannot be read as a tensor: {error}", where=str(path)) from None
    return values
