"""Which forms have no exact form for a target, and why.

Two sources, neither of which looks at what graphfix made of a form:

* facts of the model and of the target: an input or output has a type that the engine's own rules
  do not take, or that is newer than the IR version that it reads, so that no file with this
  interface is taken; for engines that fix sizes also what `benchmarks.tensorrt.repairs.beyond`
  tells;
* a list, ``formless/LIST.json`` next to this file: rows of a reason, the targets that it holds for
  and the forms, as patterns of `fnmatch`. For what one model does not show: nothing computes the
  operator, it draws, its kernel is not a function.

The list cannot hide anything: one of its forms that is repaired exactly, and a pattern that names
no form, stop the page.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import onnx

from benchmarks.coverage.cases import stored
from benchmarks.coverage.outcomes import CLOSELY, CONSENT, EXACTLY, REFUSED
from benchmarks.tensorrt.repairs import beyond
from graphfix.api import check
from graphfix.engines.targets import load_target
from graphfix.errors import GraphfixError
from graphfix.ir.storage.weights import type_name
from graphfix.opset.formats import ir_of_type

Row = Mapping[str, Any]
Formless = Mapping[tuple[str, str], str]  # (target, case) -> why
FOLDER = Path(__file__).parent / "formless"
_LEFT = (REFUSED, CONSENT)
_SAME_INTERFACE = "{} at the ends of the model, which the engine does not take"
_TYPES = (*map(type_name, onnx.TensorProto.DataType.values()), "map", "sequence", "optional")
_END = re.compile(rf"io:({'|'.join(_TYPES)})-(?:input|output)")


@dataclass(frozen=True)
class Reason:
    """Why forms of a list have no exact form.

    Attributes:
        why: The reason.
        targets: Patterns of the targets that it holds for.
        forms: Patterns of the forms, such as ``BeamSearch-1/*``.
    """

    why: str
    targets: Sequence[str]
    forms: Sequence[str]

    def holds_for(self, row: Row) -> bool:
        """Say whether it is the reason for a row."""
        return any(fnmatchcase(str(row["target"]), p) for p in self.targets) and any(
            fnmatchcase(str(row["case"]), pattern) for pattern in self.forms
        )


def declared(name: str) -> Sequence[Reason]:
    """Return the reasons of a list; none where it has no file."""
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        return ()
    return [Reason(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def formless(name: str, rows: Sequence[Row], cases: Path | None = None) -> Formless:
    """Return why rows that are not repaired exactly have no exact form.

    Args:
        name: The list.
        rows: What became of its forms.
        cases: Their models; without them the list alone tells.

    Raises:
        SystemExit: The list names a form that there is not, or one that is repaired exactly.
    """
    reasons = declared(name)
    _hold(reasons, rows)
    found: dict[tuple[str, str], str] = {}
    models = {case.name: case.model for case in stored(cases)} if cases is not None else {}
    for row in rows:
        answer, key = row["answer"], (str(row["target"]), str(row["case"]))
        why = ""
        if answer in _LEFT and key[1] in models:
            why = _of_model(models[key[1]], key[0])
        if not why and answer in (*_LEFT, CLOSELY):
            why = next((reason.why for reason in reasons if reason.holds_for(row)), "")
        if why:
            found[key] = why
    return found


def table(found: Formless) -> list[str]:
    """Return the lines of the page that say which forms have no exact form, and why."""
    if not found:
        return []
    forms: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for (target, case), why in found.items():
        forms[why][case].add(target)
    lines = [
        "## Forms without an exact form",
        "",
        "Types of the interface and sizes are told by the model and the rules of the target, the "
        "rest by a list beside the benchmark (`benchmarks/coverage/formless`), which a form that "
        "is repaired exactly cannot be on.",
        "",
        "| why | targets | forms |",
        "|---|---|---|",
    ]
    for why, cases in sorted(forms.items(), key=lambda item: -len(item[1])):
        targets = sorted({target for several in cases.values() for target in several})
        lines.append(f"| {why} | {', '.join(targets)} | {', '.join(_together(cases))} |")
    return [*lines, ""]


def _together(cases: Iterable[str]) -> list[str]:
    """Return the forms of each entry in one text."""
    entries: dict[str, list[str]] = defaultdict(list)
    for case in sorted(cases):
        entry, _, form = case.partition("/")
        entries[entry].append(form)
    return [f"{entry} ({', '.join(several)})" for entry, several in entries.items()]


def _hold(reasons: Iterable[Reason], rows: Sequence[Row]) -> None:
    names = {str(row["case"]) for row in rows}
    for reason in reasons:
        for pattern in reason.forms:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise SystemExit(f"no form is {pattern}, which is said to have no exact form")
        for row in rows:
            if row["answer"] == EXACTLY and reason.holds_for(row):
                raise SystemExit(
                    f"{row['case']} is repaired exactly for {row['target']}, and is said to have "
                    f"no exact form: {reason.why}"
                )


def _of_model(data: bytes, target: str) -> str:
    """Return what a model and the rules of a target say."""
    model = onnx.load_from_string(data)
    why = "" if target.startswith("ort") else beyond(model)
    why = why or _newer_than_read(model, target)
    if why:
        return why
    try:
        findings = check(model, target)
    except GraphfixError:
        return ""
    kinds = sorted({m[1] for f in findings if f.blocks and (m := _END.fullmatch(f.feature))})
    return _SAME_INTERFACE.format(" or ".join(kinds)) if kinds else ""


def _newer_than_read(model: onnx.ModelProto, target: str) -> str:
    """Return which types at the ends came with a later IR version than the target reads."""
    limit = load_target(target).ir_max
    if limit is None:
        return ""
    ends = [_element(value.type) for value in (*model.graph.input, *model.graph.output)]
    newer = sorted({type_name(kind) for kind in ends if ir_of_type(kind) > limit})
    if not newer:
        return ""
    said = " or ".join(newer)
    return f"{said} at the ends of the model, which files of IR version {limit} do not have"


def _element(kind: onnx.TypeProto) -> int:
    """Return the element type of a tensor, or of the tensors of a sequence or optional."""
    while (field := kind.WhichOneof("value")) in ("sequence_type", "optional_type"):
        kind = getattr(kind, str(field)).elem_type
    return kind.tensor_type.elem_type
