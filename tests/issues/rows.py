"""What people meet with TensorRT: the smallest model that shows it, the engine's text, the cure.

Each file of `pairs` holds a family of rows; a row has the number under which the failures are
ranked in the facts that the project was built from. `check_row` is the same for all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import graphfix
from graphfix.pipeline.results import Result
from graphfix.proving.whole.interface import compare_interfaces
from graphfix.report import Finding, Status
from graphfix.testing import assert_same, outputs_of
from tests.passes.detection_models import evaluators_of
from tests.passes.pair_files import pairs_in

Array = np.ndarray[Any, Any]
Numbers = Callable[[Mapping[str, Array]], Mapping[str, Array]]
_FREE = 3  # the size of a dimension that has no number


@dataclass(frozen=True)
class Row:
    """One failure.

    Attributes:
        number: Its number among the failures, several rows may share it.
        target: The engine that shows it.
        source: The model as `onnx.parser` reads it.
        text: What the engine says, as a part of it; for what it misreads in silence, empty.
        feature: What the finding is about.
        fixed_by: The passes that cure it, all of which have to be applied.
        refused: Without a cure: why the pass that comes nearest refuses; empty where none does.
        given: Arguments of `graphfix.run`.
        feeds: Inputs; made where left out.
        rtol: How far apart floats may be.
    """

    number: str
    target: str
    source: str
    text: str
    feature: str
    fixed_by: tuple[str, ...]
    refused: str | None
    given: Mapping[str, Any]
    feeds: Mapping[str, Array] | None
    rtol: float = 1e-5

    @property
    def model(self) -> onnx.ModelProto:
        """The model; parsed again each time. An output without type gets floats of any shape."""
        model = onnx.parser.parse_model(self.source)
        for output in model.graph.output:
            if not output.HasField("type"):
                output.type.CopyFrom(onnx.helper.make_tensor_type_proto(1, None))
        return model


_OUTCOME = re.compile(
    r'(?P<target>\S+) finds (?P<feature>\S+)(?: (?P<text>"(?:[^"\\]|\\.)*"))?'
    r"(?:; by (?P<by>[^;]+))?(?:; rtol (?P<rtol>[^;]+))?(?:; given (?P<given>\{[^;]*\}))?"
    r"(?P<left>; refused(?:: (?P<why>.*))?)?"
)


def rows_in(family: str) -> list[Row]:
    """Return the rows of a file of `pairs`.

    A title is the number, and after ``->`` come the target and the feature with the engine's text;
    then ``by`` and passes, ``rtol``, ``given`` and arguments of `graphfix.run`, or ``refused`` with
    the reason where there is one. `tests/passes/pair_files.py` has the form of models and inputs.
    """
    found: list[Row] = []
    for pair in pairs_in(Path(__file__).parent / "pairs" / f"{family}.txt"):
        read = _OUTCOME.fullmatch(pair.outcome)
        assert read is not None, pair.outcome
        said = read.groupdict()
        row = Row(
            number=pair.name.partition(" ")[0],
            target=said["target"],
            source=pair.model,
            text=json.loads(said["text"] or '""'),
            feature=said["feature"],
            fixed_by=tuple((said["by"] or "").split(", ")) if said["by"] else (),
            refused=(said["why"] or "") if said["left"] else None,
            given=json.loads(said["given"] or "{}"),
            feeds=pair.given[0].inputs if pair.given else None,
            rtol=float(said["rtol"] or 1e-5),
        )
        found.append(row)
    return found


def name_of(row: Row) -> str:
    """Return what a row is called among the tests."""
    return f"{row.number}-{row.feature.replace(':', '-')}"


def check_row(row: Row, expected: Numbers | None = None) -> Result:
    """Assert that the failure is found with its text, and cured, or refused with the reason.

    `expected` are the numbers, where onnxruntime cannot run the model as it is.
    """
    found = [f for f in graphfix.check(row.model, row.target) if f.feature == row.feature]
    assert found, [f.feature for f in graphfix.check(row.model, row.target)]
    assert all(f.blocks and f.certain for f in found)
    if row.text:
        assert any(row.text in f.engine_text for f in found), found
    else:
        assert all(f.severity == "wrong" for f in found)
    result = graphfix.run(row.model, row.target, verify="full", **row.given)
    left = [f for f in result.report.findings_after if f.blocks]
    if row.refused is not None:
        _assert_refused(row, result, left)
        return result
    assert not left, left
    assert result.exit_code in (0, 1), result.report
    statuses = {o.pass_id for o in result.report.outcomes if o.status is Status.APPLIED}
    assert set(row.fixed_by) <= statuses, statuses
    _assert_numbers(row, result, expected)
    return result


def _assert_refused(row: Row, result: Result, left: list[Finding]) -> None:
    assert result.exit_code == 1
    assert row.feature in [f.feature for f in left]
    reasons = [o.reason for o in result.report.outcomes if o.status is Status.REFUSED]
    assert not row.refused or any(row.refused in reason for reason in reasons), reasons
    assert not row.fixed_by, "a row is cured or refused"


def _assert_numbers(row: Row, result: Result, numbers: Numbers | None) -> None:
    proto = result.model.to_proto()
    if all(output.type.tensor_type.HasField("shape") for output in proto.graph.output):
        onnx.checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    known = {key: model for name in row.fixed_by for key, model in evaluators_of(name).items()}
    for seed in range(3):
        feed = dict(row.feeds) if row.feeds is not None else _made(row.model, seed)
        expected = outputs_of(row.model, feed) if numbers is None else numbers(feed)
        fitting = {
            i.name: feed[i.name].astype(
                onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
            )
            for i in proto.graph.input
        }
        computed = outputs_of(proto, fitting, known)
        actual = compare_interfaces(row.model, proto).read(computed)
        assert_same(dict(expected), actual, rtol=row.rtol, atol=1e-6)


def _made(model: onnx.ModelProto, seed: int) -> dict[str, Array]:
    """Return numbers for each input: floats around zero, small integers, both bools."""
    random = np.random.default_rng(seed)
    made: dict[str, Array] = {}
    for value in model.graph.input:
        kind = _dtype(value)
        shape = [d.dim_value or _FREE for d in value.type.tensor_type.shape.dim]
        if kind.kind == "f":
            made[value.name] = random.standard_normal(shape).astype(kind)
        else:
            low, high = (0, 2) if kind.kind == "b" else (0 if kind.kind == "u" else -3, 9)
            made[value.name] = random.integers(low, high, shape).astype(kind)
    return made


def _dtype(value: onnx.ValueInfoProto) -> np.dtype[Any]:
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
