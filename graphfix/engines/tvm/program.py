"""TVM with its Relax importer on the CPU, in the process of `graphfix.engines.hosting.serve`.

It is self-contained: Python 3.8 or newer, numpy, onnx and apache-tvm.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

onnx: Any = import_module("onnx")
tvm: Any = import_module("tvm")
relax: Any = import_module("tvm.relax")
importer: Any = import_module("tvm.relax.frontend.onnx")

if TYPE_CHECKING:
    from collections.abc import Callable


def version() -> str:
    """Return the version, ``0.27.0.post1``."""
    return str(tvm.__version__)


def load(
    path: str, shapes: dict[str, list[int]]
) -> Callable[[dict[str, np.ndarray]], list[np.ndarray]]:
    """Return a function that runs a model; see `graphfix.engines.hosting.serve`.

    What is compiled is for one set of sizes; inputs of others have it compiled again.
    """
    model = onnx.load(path)
    # In their order: it gives parameters names of its own, input_1 for input.1.
    weights = {weight.name for weight in model.graph.initializer}
    names = [given.name for given in model.graph.input if given.name not in weights]

    def compiled(sizes: dict[str, list[int]]) -> tuple[dict[str, list[int]], Any]:
        module = _staged("import", importer.from_onnx, model, sizes, keep_params_in_input=False)
        if len(names) != len(module["main"].params):
            raise ValueError(f"{len(module['main'].params)} parameters, not {len(names)}")
        return sizes, _staged("build", _built, module)

    held = [compiled(shapes)]

    def run(feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        sizes = {name: list(feed[name].shape) for name in names}
        if sizes != held[0][0]:
            held[0] = compiled(sizes)
        results = held[0][1]["main"](*(tvm.runtime.tensor(feed[name]) for name in names))
        several = type(results).__name__ in ("Array", "tuple", "list")
        return [_array(result) for result in (results if several else [results])]

    return run


def _built(module: Any) -> Any:
    module = relax.transform.DecomposeOpsForInference()(module)
    return relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())


def _array(result: Any) -> np.ndarray:
    if hasattr(result, "numpy"):
        return np.array(result.numpy())
    if isinstance(result, (bool, int, float)):  # what is computed of a size is a number of Python
        return np.array(result)
    return np.array(list(result), dtype=np.int64)  # a shape


def _staged(stage: str, function: Any, *given: Any, **named: Any) -> Any:
    try:
        return function(*given, **named)
    except Exception as error:
        error.stage = stage  # type: ignore[attr-defined]
        raise
