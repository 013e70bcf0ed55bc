"""Answers to a log: rule, node, cause, and the command that repairs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphfix.authoring.registry import all_passes
from graphfix.explanation.diagnosis import Match, Reading, read_log
from graphfix.ir.model import Model
from graphfix.ir.printing import shell_line
from graphfix.pipeline.files import CheckRequest, check_file
from graphfix.pipeline.model_files import guarded
from graphfix.pipeline.removers import passes_removing
from graphfix.report import Finding, NodeRef

_MODEL = "MODEL.onnx"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of one message of a log.

    Attributes:
        match: The message, and where the log has it.
        cause: What it means.
        nodes: The nodes of the model that it is about; empty without a model, or where none is.
        passes: What removes it.
        command: What repairs it; empty where no pass does.
        advice: What else to do; empty where the command is all.
    """

    match: Match
    cause: str
    nodes: tuple[NodeRef, ...]
    passes: tuple[str, ...]
    command: str
    advice: str


@dataclass(frozen=True, slots=True)
class Explained:
    """A log, explained.

    Attributes:
        reading: What it says.
        answers: One for each message, what is to be cured first at the front.
        nearest: The same of messages that are only near it, where none is known.
        reduce: The command that makes the smallest model which still fails.
    """

    reading: Reading
    answers: tuple[Answer, ...]
    nearest: tuple[Answer, ...]
    reduce: str


@guarded
def explain_log(
    text: str, model: Path | Model | None = None, *, target: str = "", name: str = _MODEL
) -> Explained:
    """Explain a log.

    Args:
        text: The log of an engine, or of a converter.
        model: The model that it is about, if it is there.
        target: The target, where the log does not tell it.
        name: What the model is called in commands.

    Raises:
        InvalidModel: The model is none.
        UsageError: There is no such target.
    """
    reading = read_log(text, target)
    findings: tuple[Finding, ...] = ()
    if model is not None and reading.speaker:
        findings = check_file(CheckRequest(model, target=reading.speaker)).findings
    answers = tuple(_answer(m, reading, findings, name, model is not None) for m in reading.matches)
    nearest = tuple(_answer(m, reading, findings, name, model is not None) for m in reading.nearest)
    if not reading.target and not any(answer.match.message.rank for answer in answers):
        answers, nearest = (), (*answers, *nearest)  # of no engine, and they say where, not what
    words = ["graphfix", "reduce", name, "--fails", "YOUR COMMAND {}"]
    return Explained(reading, answers, nearest, shell_line(words))


def _answer(
    match: Match, reading: Reading, findings: Sequence[Finding], name: str, seen: bool
) -> Answer:
    found = _of(match, findings)
    target = reading.speaker
    passes = tuple(dict.fromkeys(p for f in found for p in f.removed_by))
    if not seen and match.message.rank:  # what is general says where, not what
        passes = _removers(match)
    command = ""
    if passes and target:
        command = shell_line(["graphfix", "run", name, "--target", target])
    cause = found[0].message if found else _filled(match.message.cause, match)
    advice = match.message.advice
    if not seen and not passes and not advice and target:
        words = ["graphfix", "check", name, "--target", target]
        advice = f"`{shell_line(words)}` says what is at that node"
    if seen and not found and not advice and match.message.rule:
        where = target or "any target"
        advice = f"no rule for {where} finds this in {name}, which may not be the file of the log"
    return Answer(match, cause, tuple(f.node for f in found), passes, command, advice)


def _of(match: Match, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings of a message: of its rule or feature, at its node where that is named."""
    feature = _feature(match)
    rule = match.message.rule
    matching = [f for f in findings if f.rule == rule or (feature and f.feature == feature)]
    if match.op:
        matching = [f for f in matching if f.node.op in ("", match.op) or f.feature == feature]
        matching = matching or [f for f in findings if f.blocks and f.node.op == match.op]
    here = [f for f in matching if match.node and match.node in (f.node.name, *f.node.outputs)]
    return here or matching


def _removers(match: Match) -> tuple[str, ...]:
    feature = _feature(match)
    if not feature:
        return ()
    domain, _, op = match.op.rpartition("::")
    able = passes_removing(all_passes(), match.message.rule, feature, op, domain or "*")
    return tuple(declared.id for declared in able)


def _feature(match: Match) -> str:
    """Return the feature of a message with its operator in it; empty where that is not known."""
    feature = match.message.feature
    if "{op}" not in feature:
        return f"op:{match.op}" if feature == "op:unknown" and match.op else feature
    return feature.replace("{op}", match.op) if match.op else ""


def _filled(cause: str, match: Match) -> str:
    text = cause.replace("{op}", match.op or "the operator")
    return text[:1].upper() + text[1:]
