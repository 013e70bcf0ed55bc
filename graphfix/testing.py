"""Helpers for those who write passes: run one pass on a small model and compare numbers.

Models are given as `onnx.ModelProto` or as text that `onnx.parser.parse_model` reads.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto
from onnx.helper import tensor_dtype_to_np_dtype

from graphfix.analysis.packed_products import by_formula
from graphfix.analysis.saturation import unsaturated
from graphfix.authoring.accounting import is_foreign
from graphfix.authoring.declaring import Evaluate, Pass
from graphfix.authoring.registry import ANY, Catalogue, get_pass, shipped_passes
from graphfix.ir.graph import Shape
from graphfix.ir.model import Model
from graphfix.ir.protos import nodes_of_model, normal_domain
from graphfix.ir.schemas import form_of
from graphfix.ir.views import NodeView
from graphfix.pipeline.model_files import load
from graphfix.pipeline.model_types import infer_types
from graphfix.pipeline.near_misses import near_misses
from graphfix.pipeline.run import Run
from graphfix.pipeline.running import execute
from graphfix.pipeline.settings import Settings
from graphfix.proving.whole.small_sides import SmallSide, at_small_sides
from graphfix.report import Outcome, Status
from graphfix.worker.sessions import open_session

Array = np.ndarray[Any, Any]
Feeds = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What one pass made of a model."""

    before: ModelProto
    after: ModelProto
    outcomes: tuple[Outcome, ...]

    @property
    def ops(self) -> list[str]:
        """The operators of the main graph afterwards, in order."""
        return [node.op_type for node in self.after.graph.node]

    def with_status(self, status: Status) -> list[Outcome]:
        """Return the outcomes of one status."""
        return [outcome for outcome in self.outcomes if outcome.status is status]

    @property
    def reasons(self) -> list[str]:
        """Why sites were refused."""
        return [outcome.reason for outcome in self.with_status(Status.REFUSED)]


def parse(text: str | ModelProto) -> ModelProto:
    """Return the model that `text` describes; a ModelProto comes back as it is."""
    return text if isinstance(text, ModelProto) else onnx.parser.parse_model(text)


def run_pass(
    declared: str | Pass,
    model: str | ModelProto,
    *,
    options: Mapping[str, Any] | None = None,
) -> Rewritten:
    """Run one pass on every site it matches, with nothing before or after it.

    Args:
        declared: The pass, or its id.
        model: The model.
        options: Options of the pass.
    """
    chosen = get_pass(declared) if isinstance(declared, str) else declared
    before = parse(model)
    test = os.environ.get("PYTEST_CURRENT_TEST")
    if not test or options or chosen not in shipped_passes():
        return _rewritten(chosen, before, options or {})
    after, outcomes = _rewritten_in(test, chosen, before.SerializeToString())
    return Rewritten(before, ModelProto.FromString(after), outcomes)


@lru_cache(maxsize=64)
def _rewritten_in(test: str, chosen: Pass, before: bytes) -> tuple[bytes, tuple[Outcome, ...]]:
    """Run a pass on a model once in a test, however many inputs its examples compare on."""
    del test
    done = _rewritten(chosen, ModelProto.FromString(before), {})
    return done.after.SerializeToString(), done.outcomes


def _rewritten(chosen: Pass, before: ModelProto, options: Mapping[str, Any]) -> Rewritten:
    edited: Model = load(before)
    settings = Settings(
        target=None,
        opset=None,
        named=(chosen,),
        available=_with(chosen),
        options={chosen.id: dict(options)},
        verify="off",
        allow_lossy=True,
        allow_io_change=True,
    )
    run = Run(edited, settings)
    execute(run)
    return Rewritten(before, edited.to_proto(), run.journal.outcomes())


def _with(chosen: Pass) -> Catalogue:
    """Return the shipped passes and the chosen one, which may be another of the same name."""
    shipped = shipped_passes()
    return shipped if chosen in shipped else Catalogue((*shipped.without({chosen.id}), chosen))


def assert_rewrite(
    declared: str | Pass,
    before: str | ModelProto,
    *,
    feeds: Sequence[Feeds],
    after: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
    evaluators: Mapping[tuple[str, str], Evaluate] | None = None,
    no_small_sides: str = "",
) -> Rewritten:
    """Assert that a pass applies, leaves a valid model, is idempotent, and keeps the numbers.

    Where onnxruntime runs the model with a free dimension cut to 0 or 1, the result has to run
    there too and give the same (see `graphfix.proving.whole.small_sides`). Sizes at which the model
    itself raises or crashes are not sizes of it.

    Args:
        declared: The pass, or its id.
        before: The model.
        feeds: Inputs to compare on, at least one set.
        after: The operators expected in the main graph; None for any.
        options: Options of the pass.
        rtol: Relative tolerance; 0 asks for equal numbers.
        atol: Absolute tolerance.
        evaluators: Numpy models of operators without schema in `before`.
        no_small_sides: Why free dimensions are not tried at 0 and 1; empty where they are.
    """
    assert feeds, "a comparison needs inputs"
    done = run_pass(declared, before, options=options)
    assert not done.with_status(Status.FAILED), done.outcomes
    assert done.with_status(Status.APPLIED), f"nothing was applied: {done.outcomes}"
    if after is not None:
        assert done.ops == list(after), done.ops
    assert_valid(done.after)
    if _is_for(declared, done.after):
        again = run_pass(declared, done.after, options=options)
        assert not again.with_status(Status.APPLIED), "the pass is not idempotent"
    for feed in feeds:
        expected = outputs_of(done.before, feed, evaluators)
        actual = outputs_of(done.after, feed, evaluators)
        assert_same(expected, actual, rtol=rtol, atol=atol)
        assert_types(done.before, expected)
    if not no_small_sides and not evaluators:
        assert_same_at_small_sides(done.before, done.after, feeds[0], rtol=rtol, atol=atol)
    return done


def _is_for(declared: str | Pass, model: ModelProto) -> bool:
    """Say whether a pass would look at any node of a model; a rewrite names its operators."""
    chosen = get_pass(declared) if isinstance(declared, str) else declared
    ops = {op for _, op in chosen.matches}
    if chosen.kind != "rewrite" or chosen.pattern is not None or ANY in ops:
        return True
    return any(node.op_type in ops for node in nodes_of_model(model))


def assert_types(model: ModelProto, given: Mapping[str, Any]) -> None:
    """Assert that what operators without schema give is of the types inferred of them.

    Args:
        model: The model; what it declares of these tensors does not count.
        given: What it gives, by the names of its outputs.
    """
    for name, (elem_type, shape) in _inferred_outputs(model.SerializeToString()).items():
        value = np.asarray(given[name]) if name in given else None
        if value is None or value.dtype.kind not in "biufcV":
            continue
        if elem_type:
            wanted = tensor_dtype_to_np_dtype(elem_type)
            assert value.dtype == wanted, f"{name}: {value.dtype} for {wanted}"
        if shape is not None:
            fits = len(shape) == value.ndim and all(
                size == there
                for size, there in zip(shape, value.shape, strict=True)
                if isinstance(size, int)
            )
            assert fits, f"{name}: {value.shape} for {shape}"


@lru_cache(maxsize=64)
def _inferred_outputs(raw: bytes) -> dict[str, tuple[int, Shape | None]]:
    """Infer what operators without schema output; once for each model of a test."""
    model = ModelProto.FromString(raw)
    if not _may_be_foreign(model):
        return {}
    foreign = {
        tensor.name
        for node in load(model).graph.nodes
        if is_foreign(NodeView(node))
        for tensor in node.outputs
    }
    named = [output for output in model.graph.output if output.name in foreign]
    if not named:
        return {}
    for output in named:
        output.ClearField("type")
    edited = load(model)
    infer_types(edited, shipped_passes())
    tensors = {tensor.name: tensor for tensor in edited.graph.outputs}
    return {one.name: (tensors[one.name].elem_type, tensors[one.name].shape) for one in named}


def _may_be_foreign(model: ModelProto) -> bool:
    """Say whether the main graph calls an operator that ONNX itself does not have."""
    versions = {normal_domain(one.domain): one.version for one in model.opset_import}
    return any(
        normal_domain(node.domain) or form_of(node.op_type, versions.get("", 0) or 1) is None
        for node in model.graph.node
    )


def assert_valid(model: ModelProto) -> None:
    """Assert that the checker of ONNX has no complaint, types and shapes included."""
    _check(model.SerializeToString())


@lru_cache(maxsize=64)
def _check(model: bytes) -> None:
    """Check a model once, however many inputs examples compare on; what is refused is not kept."""
    onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]


@dataclass(frozen=True, slots=True)
class _Shaped:
    """Inputs that count as the same where their shapes are."""

    feed: Feeds = field(compare=False)
    shapes: tuple[tuple[str, tuple[int, ...]], ...]


@lru_cache(maxsize=64)
def _at_small_sides(before: bytes, after: bytes, inputs: _Shaped) -> list[SmallSide]:
    """Run two models at small sides; once for each size of the many examples of a test."""
    models = [ModelProto.FromString(data) for data in (before, after)]
    return at_small_sides(models[0], models[1], inputs.feed)


def assert_same_at_small_sides(
    before: ModelProto, after: ModelProto, feed: Feeds, *, rtol: float, atol: float
) -> None:
    """Assert that a result runs and gives the same wherever a free dimension is cut to 0 or 1.

    Sizes at which `before` raises or crashes onnxruntime are not sizes of it.
    """
    shapes = tuple((name, np.shape(value)) for name, value in feed.items())
    for small in _at_small_sides(
        before.SerializeToString(), after.SerializeToString(), _Shaped(feed, shapes)
    ):
        if small.actual is None:
            raise AssertionError(f"with {small.what} the result fails: {small.error}")
        try:
            assert_same(small.expected, small.actual, rtol=rtol, atol=atol)
        except AssertionError as error:
            raise AssertionError(f"with {small.what}: {error}") from error


def assert_untouched(declared: str | Pass, model: str | ModelProto) -> None:
    """Assert that a pass finds nothing to do and leaves the model as it is."""
    done = run_pass(declared, model)
    assert not done.with_status(Status.APPLIED), done.outcomes
    assert not done.with_status(Status.REFUSED), done.reasons
    assert not done.with_status(Status.FAILED), done.outcomes
    assert done.after == done.before


def assert_refused(declared: str | Pass, model: str | ModelProto, reason: str) -> None:
    """Assert that a pass refuses with a reason that contains `reason`, and changes nothing."""
    done = run_pass(declared, model)
    assert not done.with_status(Status.APPLIED), done.outcomes
    assert any(reason in known for known in done.reasons), done.outcomes
    assert done.after == done.before


def unmatched(declared: str | Pass, model: str | ModelProto) -> list[str]:
    """Return why the pattern of a pass does not match, one line for each place; nearest first.

    The places are the nodes whose operator may give the first output of the pattern.

    Raises:
        UsageError: The pass has no pattern.
    """
    chosen = get_pass(declared) if isinstance(declared, str) else declared
    edited = load(parse(model))
    infer_types(edited, _with(chosen))
    return [f"{near.node.op} {near.at!r}: {near.reason}" for near in near_misses(edited, chosen)]


def assert_unmatched(declared: str | Pass, model: str | ModelProto, reason: str) -> None:
    """Assert that a pattern matches nowhere, and that `reason` is reported for one position."""
    assert_untouched(declared, model)
    reasons = unmatched(declared, model)
    assert any(reason in line for line in reasons), reasons


def outputs_of(
    model: ModelProto,
    feed: Feeds,
    evaluators: Mapping[tuple[str, str], Evaluate] | None = None,
) -> dict[str, Any]:
    """Run a model and return its outputs by name.

    onnxruntime with optimisations off runs it; where `evaluators` are given, the reference
    evaluator does, with them for the operators that have no schema.
    """
    names = [output.name for output in model.graph.output]
    if evaluators:
        evaluator = _reference(model.SerializeToString(), tuple(evaluators.items()))
        return dict(evaluator.run(dict(feed)))
    session = _session(model.SerializeToString())
    return dict(zip(names, session.run(None, dict(feed)), strict=True))


@lru_cache(maxsize=16)
def _session(model: bytes) -> Any:
    """Open a model once that is run on input after input."""
    return open_session(by_formula(unsaturated(ModelProto.FromString(model))).SerializeToString())


@lru_cache(maxsize=16)
def _reference(model: bytes, evaluators: tuple[tuple[tuple[str, str], Evaluate], ...]) -> Any:
    """Open a model once in the reference evaluator that is run on input after input."""
    from graphfix.proving.runners.evaluators import GivenEvaluators
    from graphfix.proving.runners.reference_engine import ReferenceEngine

    return ReferenceEngine(ModelProto.FromString(model), "", GivenEvaluators(dict(evaluators)))


def assert_same(
    expected: Mapping[str, Any], actual: Mapping[str, Any], *, rtol: float, atol: float
) -> None:
    """Assert equal names, dtypes, shapes and values; NaN equals NaN, infinities by sign."""
    assert list(expected) == list(actual)
    for name, wanted in expected.items():
        given = np.asarray(actual[name])
        wanted = np.asarray(wanted)
        assert given.dtype == wanted.dtype, f"{name}: {given.dtype} for {wanted.dtype}"
        assert given.shape == wanted.shape, f"{name}: {given.shape} for {wanted.shape}"
        if wanted.dtype.kind in "fcV":
            kind = np.float64 if wanted.dtype.kind != "c" else np.complex128
            np.testing.assert_allclose(
                given.astype(kind), wanted.astype(kind), rtol=rtol, atol=atol, err_msg=name
            )
        else:
            np.testing.assert_array_equal(given, wanted, err_msg=name)
