"""Convert ONNX files with rknn-toolkit2 and run them in its simulator on the CPU.

It is self-contained: Python 3.8 or newer, numpy, onnx and `rknn-toolkit2`. What is built is for the
RK3588, in float16 and not quantized.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import sys
import types
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PLATFORM = "rk3588"
# "You can add disable_rules=['swap_expand_transpose'] in rknn.config() to temporarily disable ..."
_ADVICE = re.compile(r"disable_rules=\['(\w+)'\]")
_TRACED = re.compile(r"Traceback \(most recent call last\):\n(?:  .*\n)*(?P<said>(?:.|\n)*)")


class _Anything:
    """Stands for whatever the toolkit takes from PyTorch when it is imported: decorators, bases."""

    def __init__(self, *_: object, **__: object) -> None:
        """Take anything."""

    def __call__(self, given: object = None, *_: object, **__: object) -> object:
        """Return what is decorated."""
        return given


class _Numbers(np.ndarray):
    """Stands for a tensor of indices: the toolkit numbers the places of a tensor and moves them."""

    def permute(self, *axes: int) -> np.ndarray:
        """Transpose; the axes come alone or as one sequence."""
        order = axes[0] if len(axes) == 1 else axes
        return self.transpose(order)

    def numpy(self) -> np.ndarray:
        """Return the numbers."""
        return np.asarray(self)


class _Empty(types.ModuleType):
    @staticmethod
    def arange(*bounds: int) -> np.ndarray:
        return np.arange(*bounds).view(_Numbers)

    @staticmethod
    def split(tensor: np.ndarray, sizes: int | list[int], dim: int = 0) -> list[np.ndarray]:
        if isinstance(sizes, int):
            places = range(sizes, tensor.shape[dim], sizes)
            return np.split(tensor, list(places), dim)
        return np.split(tensor, np.cumsum(sizes)[:-1], dim)

    @staticmethod
    def cat(tensors: list[np.ndarray], dim: int = 0) -> np.ndarray:
        return np.concatenate(tensors, dim).view(_Numbers)

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_Anything,), {})


class _Torch(Loader, MetaPathFinder):
    """Finds an empty PyTorch, of which float models need numbers of places alone."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] != "torch":
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _Empty(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


if importlib.util.find_spec("torch") is None:
    sys.meta_path.insert(0, _Torch())
os.environ.setdefault("OMP_NUM_THREADS", "2")
onnx: Any = import_module("onnx")
rknn: Any = import_module("rknn.api")


class RefusedError(Exception):
    """What the toolkit said, and where.

    Attributes:
        stage: ``load``, ``build`` or ``simulate``.
    """

    def __init__(self, stage: str, said: str) -> None:
        """Keep what is said, without the stack of the toolkit's own code."""
        match = _TRACED.match(said)
        super().__init__(match["said"] if match else said)
        self.stage = stage


def version() -> str:
    """Return the version of the toolkit."""
    return _version("rknn-toolkit2")


def load(
    path: str, shapes: dict[str, list[int]]
) -> Callable[[dict[str, np.ndarray]], list[np.ndarray]]:
    """Convert a file for inputs of these shapes.

    Args:
        path: The .onnx file.
        shapes: The name of an input -> its shape, to which open sizes are bound.

    Returns:
        A function from the inputs by name to the outputs in the order of the graph.

    Raises:
        RefusedError: The toolkit does not load or build it, or has no simulation of it.
    """
    graph = onnx.load(path, load_external_data=False).graph
    stored = {tensor.name for tensor in graph.initializer}
    given = [info for info in graph.input if info.name not in stored]
    names = [info.name for info in given]
    sizes = [shapes.get(name, []) for name in names]
    bound = {"inputs": names, "input_size_list": sizes} if any(map(_is_open, given)) else {}
    toolkit = _built(path, bound)
    _staged("simulate", toolkit.init_runtime)
    ranks = [len(info.type.tensor_type.shape.dim) for info in graph.output]

    def run(feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        arrays = [feed[name] for name in names]
        found = toolkit.inference(inputs=arrays, data_format=["nchw"] * len(arrays))
        if found is None:
            raise RefusedError("simulate", "inference returned nothing")
        results: Sequence[np.ndarray] = found
        if len(results) != len(ranks):
            raise RefusedError("simulate", f"{len(results)} of {len(ranks)} outputs came")
        # One number comes as a row, whatever its rank.
        return [
            array.reshape([1] * rank) if array.shape == (1,) else array
            for array, rank in zip(results, ranks)  # noqa: B905 (Python 3.8 has no strict)
        ]

    return run


class _Advice(logging.Handler):
    """Collects the rewrites of its own that the toolkit says to leave out, for they fail."""

    def __init__(self) -> None:
        super().__init__()
        self.rules: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Take what a line of the log names."""
        self.rules += _ADVICE.findall(record.getMessage())


def _built(path: str, bound: dict[str, Any]) -> Any:
    """Build a file, again without the rewrites that the toolkit says to leave out."""
    left_out: list[str] = []
    while True:
        advice = _Advice()
        toolkit = rknn.RKNN(verbose=False)
        logger = logging.getLogger("rknnLogger")
        logger.addHandler(advice)
        without = {"disable_rules": left_out} if left_out else {}
        try:
            _staged("load", toolkit.config, target_platform=_PLATFORM, **without)
            _staged("load", toolkit.load_onnx, model=path, **bound)
            _staged("build", toolkit.build, do_quantization=False)
        except RefusedError:
            advised = [rule for rule in advice.rules if rule not in left_out]
            if not advised:
                raise
            left_out += advised
        else:
            return toolkit
        finally:
            logger.removeHandler(advice)


def _is_open(info: Any) -> bool:
    tensor = info.type.tensor_type
    return not all(dim.HasField("dim_value") for dim in tensor.shape.dim)


def _staged(stage: str, function: Any, **given: Any) -> None:
    try:
        code = function(**given)
    except Exception as error:  # of many kinds, one for all that it logs
        raise RefusedError(stage, str(error)) from None
    if code:
        raise RefusedError(stage, f"{function.__name__} returned {code}")
