"""What PyTorch's own exporter makes of one operator: asked in a child, once for each call."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path

import onnx

from graphfix.authoring.pytorch.call import OperatorCall
from graphfix.errors import EngineFailed
from graphfix.worker.limits import Limits
from graphfix.worker.service import ask

TASK = "graphfix.authoring.pytorch.exporter:export"
ANSWER = "translated.onnx"
SECONDS = 180.0
EXPORTED = 18  # the oldest opset that the exporter writes without converting


def exported(call: OperatorCall) -> onnx.ModelProto:
    """Return a model of opset 18 for a call; its inputs are the tensors of the call.

    Dimensions that the call leaves open are open in the model.

    Args:
        call: The call.

    Raises:
        EngineFailed: PyTorch has no such operator, its exporter does not translate it; with
            the reason. The same call is asked once.
    """
    found = _asked(call)
    if isinstance(found, str):
        raise EngineFailed(found)
    return found


@lru_cache(maxsize=256)
def _asked(call: OperatorCall) -> onnx.ModelProto | str:
    with tempfile.TemporaryDirectory(prefix="graphfix-") as text:
        folder = Path(text)
        # What is traced are sizes, not numbers: a file cannot make it take more. PyTorch and its
        # exporter need seconds to be imported, which small files do not get for themselves.
        limits = Limits(SECONDS, held=False)
        try:
            ask(TASK, folder, call, limits, type(None))
        except EngineFailed as error:
            return error.message
        return onnx.load_model_from_string((folder / ANSWER).read_bytes())
