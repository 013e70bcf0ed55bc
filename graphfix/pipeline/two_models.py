"""The Python API on two models: diff, compare and bisect."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from msgspec import structs
from onnx import ModelProto

from graphfix.authoring.registry import all_passes
from graphfix.difference.difference import Difference
from graphfix.difference.engine import diff_models
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.pipeline.expected_outputs import compare_expected, is_expected
from graphfix.pipeline.failing_run import explanation
from graphfix.pipeline.given_inputs import given_inputs
from graphfix.pipeline.model_files import guarded, load
from graphfix.pipeline.model_types import evaluators_for
from graphfix.pipeline.settings import inputs_file
from graphfix.pipeline.verifying import on_disk
from graphfix.proving.inputs.user import read_inputs
from graphfix.proving.layers.comparison import Comparison
from graphfix.proving.layers.divergence import Bisection
from graphfix.proving.layers.locating import located
from graphfix.proving.models import compare_side_by_side
from graphfix.proving.whole.options import ComparisonOptions
from graphfix.report import Verdict

ModelLike = Model | str | Path | ModelProto


@guarded
def diff(a: ModelLike, b: ModelLike) -> Difference:
    """Compare two models as they are written: nodes, attributes, weights, metadata.

    Names of tensors and nodes and the order of nodes, stored tensors and value_info do not count,
    nor does the place where weights are stored. Weights are read in pieces, and not at all where
    both models refer to the same piece of the same file.

    Raises:
        InvalidModel: A model cannot be read.
    """
    one, two = _loaded(a), _loaded(b)
    return diff_models(one.to_proto(), two.to_proto(), (one.base_dir, two.base_dir))


@guarded
def compare(
    a: ModelLike,
    b: ModelLike,
    layers: bool = False,
    inputs: str | Path | Mapping[str, Any] | None = None,
    seed: int = 0,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    pass_files: Sequence[str | Path] = (),
    ranges: Mapping[str, tuple[float, float]] | None = None,
    files: Mapping[str, Path] | None = None,
) -> Comparison:
    """Run two models on the same inputs, in a child process, and compare what they compute.

    Args:
        a: The first model; tolerances are a small multiple of its own rounding noise.
        b: The second; or what the first is to give: an .npz file with outputs by name, or a folder
            of ONNX's test data (``input_0.pb``, ``output_0.pb``), see
            `graphfix.pipeline.expected_outputs`.
        layers: Compare every tensor that both have: the same place of the graph, or the same name.
        inputs: An .npz file, or a mapping of arrays, in place of made inputs.
        seed: For the inputs that are made.
        shapes: Input name -> sizes, for dynamic inputs.
        pass_files: Files with passes that know operators of the models.
        ranges: Input -> least and largest number to draw for it.
        files: Input -> a picture, a .wav or an .npy file.

    Raises:
        InvalidModel: A model cannot be read.
        UsageError: The models have different inputs, or `inputs` or `shapes` do not fit them.
    """
    one = _loaded(a)
    file = inputs if isinstance(inputs, str | Path) else None
    drawn: Mapping[str, tuple[float, float]] = {}
    if ranges or files:
        made = given_inputs(
            one.to_proto(),
            inputs=Path(file) if file is not None else None,
            ranges=ranges,
            files=files,
            seed=seed,
            shapes={name: tuple(sizes) for name, sizes in (shapes or {}).items()},
        )
        if file is not None or files or is_expected(b):
            inputs = made
        else:  # each sample draws from the range
            drawn = ranges or {}
    elif file is not None and is_expected(b):
        inputs = given_inputs(one.to_proto(), inputs=Path(file))
    if isinstance(b, str | Path) and is_expected(b):
        if layers:
            raise UsageError("expected outputs have no layers", where="--layers")
        return compare_expected(one, Path(b), cast("Mapping[str, Any] | None", inputs))
    two = _loaded(b)
    found = _compared(one, two, (a, b), layers, inputs, seed, shapes, pass_files, drawn)
    return _explained(found, (one, two), inputs)


@guarded
def bisect(
    a: ModelLike,
    b: ModelLike,
    inputs: str | Path | Mapping[str, Any] | None = None,
    seed: int = 0,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    pass_files: Sequence[str | Path] = (),
) -> Bisection:
    """Find the first node whose output differs, and what is written differently there.

    Tensors and nodes are matched by their place in the graph, whatever they are called; "first"
    is in topological order of `a`. Arguments and errors are those of `compare`.

    Raises:
        InvalidModel: A model cannot be read.
        UsageError: The models have different inputs, or `inputs` or `shapes` do not fit them.
    """
    one, two = _loaded(a), _loaded(b)
    found = _compared(one, two, (a, b), True, inputs, seed, shapes, pass_files)
    return located(one.to_proto(), two.to_proto(), (one.base_dir, two.base_dir), found)


def _compared(
    one: Model,
    two: Model,
    sources: tuple[ModelLike, ModelLike],
    layers: bool,
    inputs: str | Path | Mapping[str, Any] | None,
    seed: int,
    shapes: Mapping[str, Sequence[int]] | None,
    pass_files: Sequence[str | Path],
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> Comparison:
    known = all_passes([Path(p) for p in pass_files])
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(inputs_file(inputs))
        options = ComparisonOptions(
            inputs=file,
            seed=seed,
            evaluators={**evaluators_for(two, known), **evaluators_for(one, known)},
            bindings={name: tuple(sizes) for name, sizes in (shapes or {}).items()},
            ranges=dict(ranges or {}),
        )
        models = zip(sources, (one, two), strict=True)
        paths = [_path(source, model, stack) for source, model in models]
        return compare_side_by_side(paths[0], paths[1], options, layers=layers)


def _explained(found: Comparison, models: tuple[Model, Model], inputs: object) -> Comparison:
    """Say at which node a run stopped, where the inputs are the user's."""
    if found.verification.status in (Verdict.EQUAL, Verdict.MISMATCH) or inputs is None:
        return found
    if isinstance(inputs, str | Path):
        inputs = read_inputs(Path(inputs), models[0].to_proto())
    feeds = [cast("Mapping[str, Any]", inputs)]
    for model in models:
        notes = explanation(model, feeds, found.verification.reason)
        if notes:
            return structs.replace(found, notes=(*found.notes, *notes))
    return found


def _loaded(source: ModelLike) -> Model:
    return source if isinstance(source, Model) else load(source)


def _path(source: ModelLike, model: Model, stack: contextlib.ExitStack) -> Path:
    """Return the file of a model; an edited one, or one made in memory, is written aside."""
    if isinstance(source, str | Path):
        return Path(source)
    return stack.enter_context(on_disk(model.to_proto(), model.base_dir))
