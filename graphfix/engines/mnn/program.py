"""Convert ONNX files for MNN and run them: stand-alone, for the Python that has the wheel `MNN`.

The converter is the one of the wheel, in this process. `MNN.tools` is never imported: it installs
packages and reports home when it is imported.
"""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Array = npt.NDArray[Any]

tools: Any = import_module("_tools")  # the converter, which lies next to the package
MNN: Any = import_module("MNN")
expr: Any = MNN.expr
nn: Any = MNN.nn

# MNN has no 64 bit integers, no bool and, on a CPU, no half precision in its interface.
_TYPES = {
    "float16": "float32",
    "float64": "float32",
    "bool": "int32",
    "int16": "int32",
    "int64": "int32",
    "uint16": "int32",
    "uint32": "int32",
    "uint64": "int32",
}
_WINOGRAD_MEMORY_LEVEL = 3  # of Interpreter::HintMode
_KINDS = {
    "float32": expr.float,
    "int32": expr.int,
    "int8": expr.int8,
    "uint8": expr.uint8,
}


class RefusedError(Exception):
    """What MNN said, and where.

    Attributes:
        stage: ``convert``, ``load`` or ``run``.
    """

    def __init__(self, stage: str, said: str) -> None:
        """Keep the stage."""
        super().__init__(said)
        self.stage = stage


def version() -> str:
    """Return the version of the wheel."""
    return str(MNN.version())


def load(path: str, shapes: dict[str, list[int]]) -> Callable[[dict[str, Array]], dict[str, Array]]:
    """Convert a file and load what came of it.

    Args:
        path: The .onnx file.
        shapes: Not used: MNN resizes when inputs come.

    Returns:
        A function from the inputs by name to the outputs by name. Its values are of the types that
        MNN has: int32 for other integers and bool, float32 for float64 and float16.

    Raises:
        RefusedError: The converter or the loader does not take the file.
    """
    with tempfile.TemporaryDirectory() as folder:
        converted = os.path.join(folder, "model.mnn")
        said = _convert(path, converted, os.path.join(folder, "said.txt"))
        if not os.path.isfile(converted):
            raise RefusedError("convert", said or "the converter wrote no file")
        try:
            module = nn.load_module_from_file(converted, [], [], runtime_manager=_runtime())
            info = module.get_info()
        except (SystemError, ValueError, RuntimeError) as error:
            raise RefusedError("load", str(error)) from None
    inputs, outputs = list(info["inputNames"]), list(info["outputNames"])

    def run(feed: dict[str, Array]) -> dict[str, Array]:
        given = [_variable(feed[name]) for name in inputs]
        found: Any = module.forward(given)
        found = list(found) if type(found) in (list, tuple) else [found]
        if len(found) != len(outputs):
            said = f"run returned {len(found)} of {len(outputs)} outputs"
            raise RefusedError("run", said)
        return {name: _array(found[place]) for place, name in enumerate(outputs)}

    return run


def _runtime() -> Any:
    """Return a runtime that computes convolutions to the last digits.

    As it comes, MNN takes such large blocks for Winograd that sums are off by 1e-3 of the largest.
    """
    made = nn.create_runtime_manager(({"backend": "CPU", "numThread": 1},))
    made.set_hint(_WINOGRAD_MEMORY_LEVEL, 1)
    return made


def _convert(path: str, converted: str, said: str) -> str:
    """Run the converter and return what it printed that is a complaint.

    It writes to the C streams, so the descriptors are turned to a file meanwhile.
    """
    kept = [os.dup(1), os.dup(2)]
    words = ["mnnconvert", "-f", "ONNX", "--modelFile", path, "--MNNModel", converted]
    try:
        with open(said, "wb") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
            tools.mnnconvert([*words, "--bizCode", "graphfix"])
    finally:
        for number, copy in enumerate(kept, 1):
            os.dup2(copy, number)
            os.close(copy)
    with open(said, encoding="utf-8", errors="replace") as lines:
        complaints = [line.strip() for line in lines if _complains(line)]
    return " ".join(complaints)


def _complains(line: str) -> bool:
    return "Not Support" in line or "rror" in line or "ailed" in line


def _variable(array: Array) -> Any:
    kept = array.astype(_TYPES.get(str(array.dtype), str(array.dtype)))
    kind = _KINDS[str(kept.dtype)]
    return expr.const(np.ascontiguousarray(kept), list(array.shape), expr.NCHW, kind)


def _array(value: Any) -> Array:
    if value.data_format == expr.NC4HW4:
        value = expr.convert(value, expr.NCHW)
    return np.array(value.read())
