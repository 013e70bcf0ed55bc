"""Convert one model with one converter, check it, and compare what it computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx
from onnx.version_converter import convert_version

import graphfix
from benchmarks.opset.comparison import (
    graphs_of,
    opset_of,
    outputs_differ,
    reference,
    restamped,
    run,
)
from graphfix.report import Status

STATUSES = (
    "equal", "refused", "taken back", "mismatch", "invalid", "raised", "died", "does not run",
    "engine",
)  # fmt: skip
DIED = "died"
WRONG = frozenset({"taken back", "mismatch", "invalid", "raised", DIED})
_RANDOM = frozenset(
    {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike"}
    | {"RandomUniform", "RandomUniformLike"}
)
Sets = Sequence[tuple[Mapping[str, Any], Sequence[Any]]]


@dataclass(frozen=True)
class Row:
    """What became of one model at one target.

    Attributes:
        name: The test or the file.
        target: The opset asked for.
        status: One of `STATUSES`.
        reason: Why, where it is not equal.
        engine: Which engine ran the result; "shape alone" for random operators.
        source: The opset it came from.
        variant: ``whole`` or ``initializers``; empty for files.
        converter: ``graphfix`` or a peer.
    """

    name: str
    target: int
    status: str
    reason: str = ""
    engine: str = "onnxruntime"
    source: int = 0
    variant: str = ""
    converter: str = "graphfix"


class Declined(Exception):  # noqa: N818 - an answer, not an error
    """A converter says that it cannot convert; `faulty` where its result was not right."""

    def __init__(self, reason: str, *, faulty: bool = False) -> None:
        """Give the reason, as it is listed."""
        super().__init__(reason)
        self.faulty = faulty


def by_graphfix(proto: onnx.ModelProto, target: int) -> onnx.ModelProto:
    """Do what `graphfix run MODEL --opset N --verify off` does.

    Raises:
        Declined: With the reasons of all nodes that block it.
    """
    result = graphfix.run(proto, opset=target, verify="off")
    failed = [o for o in result.report.outcomes if o.status is Status.FAILED]
    if failed:
        raise Declined(" | ".join(f"{o.pass_id}: {o.reason}" for o in failed), faulty=True)
    if result.model.opset != target:
        reasons = {
            f"{site.node.op}: {outcome.reason}": None
            for outcome in result.report.outcomes
            if outcome.status is Status.REFUSED and outcome.pass_id == "opset"
            for site in outcome.sites
        }
        raise Declined(" | ".join(reasons))
    converted: onnx.ModelProto = result.model.to_proto()
    return converted


def by_version_converter(proto: onnx.ModelProto, target: int) -> onnx.ModelProto:
    """Convert with the converter of onnx.

    Raises:
        Declined: It raised.
    """
    try:
        return convert_version(proto, target)
    except Exception as error:
        raise Declined(line(error)) from None


CONVERTERS: Mapping[str, Callable[[onnx.ModelProto, int], onnx.ModelProto]] = {
    "graphfix": by_graphfix,
    "onnx": by_version_converter,
    "restamp": restamped,
}


def judge(
    proto: onnx.ModelProto,
    target: int,
    sets: Sets,
    fallback: bool,
    complained: bool = False,
    converter: str = "graphfix",
) -> Row:
    """Convert one model, check it, and compare its outputs on each input set.

    Args:
        proto: The model.
        target: The opset to convert to.
        sets: Inputs by name, and the outputs expected for them.
        fallback: Whether the reference evaluator may run what onnxruntime has no kernel for.
        complained: Whether the checker complains of the model as it comes.
        converter: A key of `CONVERTERS`.
    """

    def row(status: str, reason: str = "", engine: str = "onnxruntime") -> Row:
        return Row("", target, status, reason, engine, converter=converter)

    try:
        result = CONVERTERS[converter](proto, target)
    except Declined as declined:
        return row("taken back" if declined.faulty else "refused", str(declined))
    except Exception as error:
        return row("raised", line(error))
    if opset_of(result) != target:
        return row("invalid", f"silently left at opset {opset_of(result)}")
    complaint = "" if complained else complains(result)
    if complaint:
        return row("invalid", complaint)
    engine = "onnxruntime"
    for feed, expected in sets:
        try:
            given = run(result, feed)
        except Exception as error:
            if not fallback:
                return row("does not run", line(error))
            engine = "reference"
            try:
                given = reference(result, feed)
            except Exception as second:
                return row("does not run", f"{line(error)}; {line(second)}", engine)
        wrong = outputs_differ(given, expected)
        if wrong and is_random(proto) and not outputs_differ(given, expected, values=False):
            engine, wrong = "shape alone", ""
        if wrong:
            status = "engine" if _engine_fails(proto, sets) else "mismatch"
            return row(status, wrong, engine)
    return row("equal", "", engine)


def complains(proto: onnx.ModelProto) -> str:
    """Return what the checker complains of in a model, or an empty string."""
    checker: Any = onnx.checker
    try:
        checker.check_model(proto, full_check=True)
    except Exception as error:
        return line(error)
    return ""


def is_random(proto: onnx.ModelProto) -> bool:
    """Say whether an operator of a model draws numbers, so that no two runs agree."""
    return any(node.op_type in _RANDOM for graph in graphs_of(proto) for node in graph.node)


def _engine_fails(own: onnx.ModelProto, sets: Sets) -> bool:
    """Tell an engine that fails the test as it comes from a wrong conversion."""
    for feed, expected in sets:
        try:
            given = run(own, feed)
        except Exception:
            return False
        if outputs_differ(given, expected):
            return True
    return False


def line(error: Exception) -> str:
    """Return an exception as one short line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
