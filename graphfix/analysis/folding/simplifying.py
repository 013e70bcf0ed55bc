"""Running onnxsim in a child process, so that a crash, a leak or a loop of its own ends there."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any

from onnx import ModelProto, ValueInfoProto

from graphfix.errors import EngineFailed
from graphfix.worker.limits import Limits
from graphfix.worker.service import OutOfTime, ask

SECONDS = 600
MEMORY = 12 << 30
TASK = "graphfix.analysis.folding.simplifying:answer"
SOURCE = "model.onnx"
TARGET = "simple.onnx"


def simplified(model: ModelProto, threshold: int, seconds: int = SECONDS) -> ModelProto:
    """Return a model as onnxsim simplifies it.

    Args:
        model: The model, its weights inside.
        threshold: onnxsim folds no tensor of more bytes than that.
        seconds: How long it may take.

    Raises:
        EngineFailed: onnxsim raised, crashed, ran out of memory or time, is not installed, or its
            own check on random inputs found other outputs.
    """
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        (Path(folder) / SOURCE).write_bytes(model.SerializeToString())
        try:
            ask(TASK, Path(folder), threshold, Limits(seconds, MEMORY), NoneType)
        except OutOfTime as error:
            raise EngineFailed(f"onnxsim {error.message}") from None
        except EngineFailed as error:
            raise EngineFailed(f"onnxsim: {error.message}") from None
        return ModelProto.FromString((Path(folder) / TARGET).read_bytes())


def answer(folder: Path, threshold: int, _: Limits) -> None:
    """Run onnxsim on the model in a folder; in a child.

    Raises:
        EngineFailed: It raised, or its own check on random inputs found other outputs.
    """
    model = ModelProto.FromString((folder / SOURCE).read_bytes())
    static = all(_is_static(info) for info in model.graph.input)
    # Its own check draws inputs for static shapes only; the run compares the others.
    try:
        onnxsim: Any = import_module("onnxsim")
        result, same = onnxsim.simplify(
            model,
            check_n=2 if static else 0,
            tensor_size_threshold=f"{threshold}B",
        )
    except Exception as error:  # its exceptions have no common base
        raise EngineFailed(f"{type(error).__name__}: {error}") from error
    if not same:
        raise EngineFailed("its own check on random inputs found other outputs")
    (folder / TARGET).write_bytes(result.SerializeToString())


def _is_static(info: ValueInfoProto) -> bool:
    tensor = info.type.tensor_type
    return tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim)
