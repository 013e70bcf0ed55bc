"""Operators of com.microsoft in forms that came after a release, by the schemas of the wheels.

`facts/contrib_forms.toml` has what each release added. What a node has of it and does not need (an
attribute at its default, inputs left out at the end) is a form of its own, to be left out.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.ir.views import NodeView
from graphfix.operators.arguments.neutral import contrib_form, equal

_FILE = Path(__file__).parent.parent / "facts" / "contrib_forms.toml"
# Operators that a pass writes again without what says nothing.
_WRITTEN_AGAIN = ("GatherBlockQuantized", "GroupQueryAttention", "MatMulNBits")
_ELSEWHERE = ("MatMulNBits", "accuracy_level")  # `nbits-accuracy-level` is about it
_UNKNOWN = "Unrecognized attribute: {name} for operator {op}"
_COUNT = "has {what} size {count} not in range"


@cache
def forms() -> dict[str, dict[str, Any]]:
    """Return what releases added, by operator."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


@rule(
    tuple(f"com.microsoft::{op}" for op in forms()),
    feature="op:com.microsoft::GroupQueryAttention",
    versions="..ort-1.31",
    severity=REJECT,
    text=_UNKNOWN,
    source="get_all_operator_schema of the wheels 1.16.3 to 1.32.0; 1.16.3 was asked",
)
def form_of_a_later_release(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime: {op} of com.microsoft got an attribute, an input or an output later."""
    row, minor = forms()[node.op], target.version[1]
    needless: Yes | None = None
    for name, since in row.get("attributes", {}).items():
        if since <= minor or not node.has(name) or (node.op, name) == _ELSEWHERE:
            continue
        message = f"{node.op} has no attribute {name} before 1.{since}"
        text = _UNKNOWN.format(name=name, op=node.op)
        if not _says_nothing(node, name, row):
            return Yes(feature=f"op:com.microsoft::{node.op}", message=message, text=text)
        needless = Yes(feature=_needless(node), message=message, text=text)
    for what, values in (("input", node.inputs), ("output", node.outputs)):
        most = _most(row.get(f"{what}s", ()), minor)
        if most is None or len(values) <= most:
            continue
        message = f"{node.op} has at most {most} {what}s before 1.{_next(row[f'{what}s'], minor)}"
        text = _COUNT.format(what=what, count=len(values))
        if any(value is not None for value in values[most:]):
            return Yes(feature=f"op:com.microsoft::{node.op}", message=message, text=text)
        needless = Yes(feature=_needless(node), message=message, text=text)
    return needless


def _needless(node: NodeView) -> str:
    end = ".needless" if node.op in _WRITTEN_AGAIN else ""
    return f"{'form' if end else 'op'}:com.microsoft::{node.op}{end}"


def _says_nothing(node: NodeView, name: str, row: dict[str, Any]) -> bool:
    """Say whether an attribute says what holds where it is left out."""
    value = node.attr(name)
    known = contrib_form(node.op)
    default = None if known is None else known.defaults.get(name)
    if default is None:
        return name in row.get("zero", ()) and not value
    return equal(value, default)


def _most(steps: Any, minor: int) -> int | None:
    return next((most for since, most in reversed(list(steps)) if since <= minor), None)


def _next(steps: Any, minor: int) -> int:
    return int(next(since for since, _ in steps if since > minor))
