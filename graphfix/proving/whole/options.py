"""How two models are compared, and what a child is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field
from onnx import ModelProto

from graphfix.engines.interface import Meant
from graphfix.ir.protos import required_inputs
from graphfix.proving.runners.evaluators import Listed, OpKey
from graphfix.report import Verification

# Sides from `_FROM` on become `_SIDE`: networks halve sides five times or six, and join what they
# double again.
_FROM, _SIDE = 512, 128
# Axes before this one are batches and channels.
_SPATIAL = 2

# How the reason begins where the result does not run.
RESULT_FAILS = "the result fails where the original runs"
ORIGINAL_FAILS = "the original does not run on any input that was tried"
# How many samples say whether an output moves at all.
FEWEST_SAMPLES = 2


class ComparisonOptions(Struct, frozen=True):
    """How to compare.

    Attributes:
        inputs: The user's input set (.npz, arrays named after inputs); it replaces drawn ones.
            Further samples are the same with floats moved by some percent.
        seed: The same seed draws the same inputs.
        samples: How many input sets.
        lossy: Report a difference of numbers as lossy instead of mismatch.
        timeout: Seconds for everything.
        memory_limit: Bytes; 80% of the available memory by default.
        evaluators: Numpy models of operators that no engine has, by (domain, operator):
            ``module:function`` or ``/path/file.py:function``. The function is called as
            ``evaluate(inputs, attributes)`` with arrays (None for absent inputs) and returns a
            tuple of arrays, one per output.
        bindings: Shapes of inputs, by name.
        ranges: Input -> least and largest number to draw for it.
        edges: Which of 0 and 1 are tried as sizes of dynamic dimensions.
        smallest: Begin with the smallest inputs: memory or time ran out on others.
    """

    inputs: Path | None = None
    seed: int = 0
    samples: int = 5
    lossy: bool = False
    timeout: float = 300.0
    memory_limit: int | None = None
    evaluators: Mapping[OpKey, str] = field(default_factory=dict[OpKey, str])
    bindings: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    ranges: Mapping[str, tuple[float, float]] = field(
        default_factory=dict[str, tuple[float, float]]
    )
    edges: tuple[int, ...] = (1, 0)
    smallest: bool = False


class ComparisonRequest(Struct, frozen=True):
    """What a child is to compare.

    Attributes:
        paths: The files of the models.
        options: How; its numpy models are listed next to it.
        evaluators: See `graphfix.proving.runners.evaluators.listed`.
        layers: Compare every tensor that both have, too, where they are side by side.
        family: The engine that is to run the second model, where it is not onnxruntime.
        meant: The version of it.
    """

    paths: tuple[Path, ...]
    options: ComparisonOptions
    evaluators: Listed = ()
    layers: bool = False
    family: str = ""
    meant: Meant = field(default_factory=lambda: Meant((), {}))


class RunRequest(Struct, frozen=True):
    """A model that a child is to run, with its numpy models."""

    path: Path
    evaluators: Listed = ()


def long_sides(model: ModelProto) -> dict[str, dict[int, int]]:
    """Return the axes of images that are long: input -> axis -> the size of a corner."""
    found: dict[str, dict[int, int]] = {}
    for info in required_inputs(model.graph):
        dims = info.type.tensor_type.shape.dim
        sides = {a: _SIDE for a, d in enumerate(dims) if a >= _SPATIAL and d.dim_value >= _FROM}
        if sides:
            found[info.name] = sides
    return found


class InEngine(Struct, frozen=True):
    """What came of a comparison in an engine.

    Attributes:
        verification: The verdict.
        refused: Whether the engine did not take the model, or ran it on no input at all.
    """

    verification: Verification
    refused: bool = False
