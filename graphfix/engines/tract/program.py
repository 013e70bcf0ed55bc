"""Load and run ONNX files in tract: stand-alone, for the Python that has the wheel `tract`.

Input facts are bound to the shapes of the sample, and the declared facts of outputs are dropped,
as tract's own documentation tells users to do with files that have free dimensions.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Array = npt.NDArray[Any]

os.environ["RUST_BACKTRACE"] = "0"  # what it says is in the first lines; the rest costs seconds
tract: Any = import_module("tract")


class RefusedError(Exception):
    """What tract said, and where.

    Attributes:
        stage: ``parse``, ``analyse`` or ``build``.
    """

    def __init__(self, stage: str, error: Exception) -> None:
        """Keep tract's own lines: what follows is the stack of its code."""
        super().__init__(str(error).partition("\n\nStack backtrace")[0])
        self.stage = stage


def version() -> str:
    """Return the version of the native library."""
    return str(tract.version())


def load(path: str, shapes: dict[str, list[int]]) -> Callable[[dict[str, Array]], list[Array]]:
    """Load a file for inputs of these shapes.

    Args:
        path: The .onnx file.
        shapes: The name of an input -> its shape.

    Returns:
        A function from the inputs by name to the outputs in the order of the graph. For inputs of
        other shapes it loads the file again.

    Raises:
        RefusedError: tract does not take the file.
    """
    names, runnable = _loaded(path, shapes)
    held = [(shapes, runnable)]

    def run(feed: dict[str, Array]) -> list[Array]:
        given = {name: list(array.shape) for name, array in feed.items()}
        if given != held[-1][0]:
            held[:] = [(given, _loaded(path, given)[1])]
        return [_array(tensor) for tensor in held[-1][1].run([feed[name] for name in names])]

    return run


def _loaded(path: str, shapes: dict[str, list[int]]) -> tuple[list[str], Any]:
    """Return the names of the inputs in the order of the engine, and the model."""
    stage = "parse"
    try:
        model = tract.onnx().load(path)
        stage = "analyse"
        names = [model.input_name(number) for number in range(model.input_count())]
        for number, name in enumerate(names):
            element = model.input_fact(number).dump().rpartition(",")[2]
            if name in shapes:
                model.set_input_fact(number, ",".join([*map(str, shapes[name]), element]))
        for number in range(model.output_count()):
            model.set_output_fact(number, None)
        typed = model.into_model()
        stage = "build"
        return names, typed.into_runnable()
    except tract.TractError as error:
        raise RefusedError(stage, error) from None


def _array(tensor: Any) -> Array:
    try:
        array: Array = tensor.to_numpy()
    except tract.TractError:
        # A size is of a type of tract's own, which numpy has no name for.
        array = tensor.convert_to(tract.DatumType.I64).to_numpy()
    return array
