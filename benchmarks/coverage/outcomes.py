"""The result of graphfix for a case and a target, and whether the result computes the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import onnx
from onnx import ModelProto

from benchmarks.coverage.cases import Case
from benchmarks.opset.comparison import opset_of, outputs_differ, reference
from benchmarks.opset.comparison import run as run_in_onnxruntime
from benchmarks.opset.conversions import is_random
from graphfix.api import run
from graphfix.errors import GraphfixError, PassBug
from graphfix.pipeline.results import Result
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.reference_engine import ReferenceEngine
from graphfix.proving.whole.interface import compare_interfaces
from graphfix.report import Accuracy, Finding, Site, Status

SUPPORTED, EXACTLY, CLOSELY, CONSENT, REFUSED = ANSWERS = (
    "supported", "exact", "approximate", "by consent", "refused",
)  # fmt: skip
WRONG, FAILED = FAULTS = ("differs", "does not run")
UNREPAIRED = "the model as it is gives the same there"
_LONGEST = 500
_NO_NUMPY = re.compile("numpy.type", re.IGNORECASE)  # written as `Numpy_type 256` as well
_OLDEST = 7  # of those that the evaluator of onnx computes in every form


@dataclass(frozen=True)
class Answer:
    """What became of a case.

    Attributes:
        answer: One of `ANSWERS`, or of `FAULTS`.
        by: The passes that changed it.
        why: What is left and why, the stated error, or how it differs.
        engine: What computed the result: ``onnxruntime``, ``reference``, or empty.
        model: The result, where there is one.
        unrun: Why onnxruntime does not run the result; empty where it does, or where its interface
            to Python blocks it, which has no type of a few bits.
    """

    answer: str
    by: str = ""
    why: str = ""
    engine: str = ""
    model: ModelProto | None = None
    unrun: str = ""


def answered(case: Case, target: str) -> Answer:
    """Repair a case for a target, without consent and then with it, and compare what it gives."""
    try:
        result = run(onnx.load_from_string(case.model), target, verify="off")
    except (GraphfixError, PassBug) as error:
        return Answer(REFUSED, why=_short(str(error)))
    blocking = _blocking(result)
    if not blocking:
        word = _word(result)
        if word == SUPPORTED and not case.expected:
            return Answer(word)  # nothing says what it computes: it is not run
        return _compared(case, result, word)
    try:
        agreed = run(
            onnx.load_from_string(case.model), target, verify="off",
            allow_lossy=True, allow_io_change=True,
        )  # fmt: skip
    except (GraphfixError, PassBug):
        agreed = result
    if _blocking(agreed):
        return Answer(REFUSED, why=_reasons(result, blocking))
    if _lossy(agreed):
        return Answer(CONSENT, _passes(agreed), _notes(agreed))
    if _interface_changed(case, agreed):
        return _compared_as_before(case, agreed)
    return _compared(case, agreed, CONSENT)


def _word(result: Result) -> str:
    if not any(finding.blocks for finding in result.report.findings_before):
        return SUPPORTED
    exact = all(s.accuracy is Accuracy.EXACT for s in _sites(result))
    return EXACTLY if exact else CLOSELY


def _compared(case: Case, result: Result, answer: str) -> Answer:
    proto = result.model.to_proto()
    why = _notes(result) if answer == CLOSELY else ""
    engine, given, said = "onnxruntime", [], ""
    try:
        given = run_in_onnxruntime(proto, case.feed)
    except Exception as error:  # onnxruntime's exceptions have no common base
        said = _short(str(error))
        try:
            engine, given = "reference", _by_reference(proto, case)
        except Exception as second:  # neither have those of the evaluator
            said = f"{said}; {type(second).__name__}: {_short(str(second), 100)}"
            return Answer(FAILED, _passes(result), said, model=proto)
    values = not is_random(onnx.load_from_string(case.model))
    wrong = differing(given, case.expected, values=values)
    if wrong:
        wrong += _unrepaired(case, engine, given, values=values)
        return Answer(WRONG, _passes(result), wrong, engine, proto)
    unrun = "" if _NO_NUMPY.search(said) else said
    return Answer(answer, _passes(result), why, engine, proto, unrun)


def _unrepaired(case: Case, engine: str, given: Sequence[Any], *, values: bool) -> str:
    """Say whether the model as it is gives the same in the engine that ran the result."""
    run_there = run_in_onnxruntime if engine == "onnxruntime" else reference
    try:
        before = run_there(onnx.load_from_string(case.model), case.feed)
    except Exception:  # neither engine's exceptions have a common base
        return "; the model as it is does not run there"
    differs = differing(given, before, values=values)
    return "; not what the model as it is gives there" if differs else f"; {UNREPAIRED}"


def _by_reference(proto: ModelProto, case: Case) -> list[Any]:
    """Run in the reference evaluator, with the forms that ended before opset 7."""
    if opset_of(proto) < _OLDEST:
        return list(ReferenceEngine(proto, "", Evaluators({})).run(dict(case.feed)).values())
    return reference(proto, case.feed)


def _compared_as_before(case: Case, result: Result) -> Answer:
    """Compare what another interface gives, read back as the original would give it."""
    proto = result.model.to_proto()
    before = onnx.load_from_string(case.model)
    interface = compare_interfaces(before, proto)
    if interface.wrong:
        return Answer(CONSENT, _passes(result), f"not compared: {interface.wrong}")
    names = [output.name for output in proto.graph.output]
    try:
        given = run_in_onnxruntime(proto, interface.fed(dict(case.feed)))
    except Exception as error:  # onnxruntime's exceptions have no common base
        return Answer(FAILED, _passes(result), _short(str(error)), model=proto)
    read = interface.read(dict(zip(names, given, strict=True)))
    wanted = [_plain(value) for value in case.expected]
    wrong = differing([_plain(read[o.name]) for o in before.graph.output], wanted, values=True)
    if wrong:
        return Answer(WRONG, _passes(result), wrong, "onnxruntime")
    return Answer(CONSENT, _passes(result), "; ".join(interface.notes), "onnxruntime")


def _plain(value: Any) -> Any:
    """Return maps as arrays of their keys and values."""
    if isinstance(value, dict):
        entries = cast("Any", value)
        keys = sorted(entries, key=str)
        return [np.array(keys), np.array([entries[key] for key in keys], np.float32)]
    if isinstance(value, list):
        return [_plain(item) for item in cast("Any", value)]
    return value


def differing(given: Sequence[Any], expected: Sequence[Any], *, values: bool) -> str:
    """Say how outputs differ, an empty text where they do not."""
    if len(given) != len(expected):
        return f"{len(given)} outputs, expected {len(expected)}"
    return outputs_differ(given, expected, values=values)


def _blocking(result: Result) -> list[Finding]:
    return [finding for finding in result.report.findings_after if finding.blocks]


def _sites(result: Result) -> list[Site]:
    outcomes = result.report.outcomes
    return [s for o in outcomes if o.status is Status.APPLIED for s in o.sites]


def _lossy(result: Result) -> bool:
    return any(site.accuracy is Accuracy.LOSSY for site in _sites(result))


def _interface_changed(case: Case, result: Result) -> bool:
    before = onnx.load_from_string(case.model).graph
    after = result.model.to_proto().graph
    return any(
        [(v.name, v.type.SerializeToString()) for v in one]
        != [(v.name, v.type.SerializeToString()) for v in other]
        for one, other in ((before.input, after.input), (before.output, after.output))
    )


def _passes(result: Result) -> str:
    outcomes = result.report.outcomes
    return " ".join(dict.fromkeys(o.pass_id for o in outcomes if o.status is Status.APPLIED))


def _notes(result: Result) -> str:
    notes = [s.note for s in _sites(result) if s.accuracy is not Accuracy.EXACT]
    return _short("; ".join(dict.fromkeys(notes)))


def _reasons(result: Result, blocking: Sequence[Finding]) -> str:
    """Return what the first finding says, and why the passes that could remove it did not."""
    refused = [
        f"{o.pass_id}: {o.reason}" for o in result.report.outcomes if o.status is Status.REFUSED
    ]
    said = f"{blocking[0].feature}: {blocking[0].message}"
    return _short(" | ".join(dict.fromkeys([said, *refused])))


def _short(text: str, most: int = _LONGEST) -> str:
    return " ".join(text.split())[:most]
