"""What an engine said no to, as rows of a `rules.toml` that can be contributed.

A row says of a node as little as the engine was asked about: the opsets of the form, each
attribute, and of each operand the type, the rank, whether it is constant, and its number. What rows
cannot say (lists, subgraphs, several numbers, sizes) becomes none, and a comment says why. Rows say
nothing of whether sizes are open. Each one is read, and fires on the node that it was made of, or
it is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Sequence
from itertools import chain, count
from typing import Any, cast

from msgspec import Struct

from graphfix.analysis.inference import infer_model
from graphfix.authoring.declaring import Unknown
from graphfix.engines.answers import EngineAnswer
from graphfix.engines.node_forms import few_numbers, form_text
from graphfix.engines.profile import Target
from graphfix.engines.rule_rows import model_of_probe, rows_of_table
from graphfix.errors import PassBug
from graphfix.ir.model import Model
from graphfix.ir.schemas import default_of, form_of, newest_opset
from graphfix.ir.views import NodeView, Refuse, Value

_WORDS = 300
_NAMED = re.compile(r"\w+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


class Exported(Struct, frozen=True):
    """Answers as rows.

    Attributes:
        rows: The name of a rule -> its table.
        left: The forms of which no row can be made, and why.
    """

    rows: dict[str, dict[str, Any]]
    left: tuple[tuple[str, str], ...]


def exported(target: Target, answers: Sequence[EngineAnswer]) -> Exported:
    """Return answers as rows of the family of a target.

    Args:
        target: Whose engine gave them.
        answers: What it said.
    """
    rows: dict[str, dict[str, Any]] = {}
    left: list[tuple[str, str]] = []
    for answer in answers:
        try:
            row = _row(answer, target)
            name = _name(answer, rows)
            _check(name, row, target)
            rows[name] = row
        except Refuse as refusal:
            left.append((answer.form, str(refusal)))
    return Exported(rows, tuple(left))


def _row(answer: EngineAnswer, target: Target) -> dict[str, Any]:
    """Return one row.

    Raises:
        Refuse: Rows cannot say it.
    """
    if answer.sizes or answer.place:
        raise Refuse("it holds for some sizes or one place alone")
    node = _node_of(answer)
    words = " ".join((answer.refusal or answer.difference).split())[:_WORDS]
    said = "does not take" if answer.refusal else "computes differently"
    operator = f"{node.domain}::{node.op}" if node.domain else node.op
    row: dict[str, Any] = {"operator": operator, **dict(_conditions(node))}
    row |= {
        "versions": target.name,
        "severity": "reject" if answer.refusal else "wrong",
        "feature": f"op:{operator}",
        "text": words if answer.refusal else "",
        "source": f"{answer.engine}, asked by graphfix" + ("" if answer.refusal else f": {words}"),
        "message": f"{answer.engine} {said} {node.op} of {_operands(node)}.",
        "fires": [answer.example],
    }
    return {key: value for key, value in row.items() if value != ""}


def _node_of(answer: EngineAnswer) -> NodeView:
    if not answer.example:
        raise Refuse("no model of this node alone is kept, or it cannot be written as text")
    model = Model(model_of_probe(answer.example))
    infer_model(model)
    node = NodeView(model.graph.nodes[-1])
    if form_text(node) != answer.form:
        raise Refuse("the model that is kept of it is of another form")
    return node


def _conditions(node: NodeView) -> Iterator[tuple[str, Any]]:
    """Yield the conditions of a row that holds of the form of a node."""
    form = form_of(node.op, node.opset, node.domain)
    if form is not None and not node.domain:
        newer = (
            opset
            for opset in range(node.opset + 1, newest_opset() + 1)
            if (later := form_of(node.op, opset)) is not None and later.since != form.since
        )
        last = next(newer, None)
        yield "opset", f"{form.since}.." if last is None else f"{form.since}..{last - 1}"
    names = set(node.attributes)
    if form is not None:
        names |= {name for name in form.attributes if default_of(form, name) is not None}
    attributes = {name: _attribute(node, name) for name in sorted(names)}
    if attributes:
        yield "attribute", attributes
    inputs = dict(_inputs(node, 0 if form is None else len(form.inputs)))
    if inputs:
        yield "input", inputs
    outputs = {
        str(place): {"type": value.type_name} for place, value in enumerate(node.outputs) if value
    }
    if outputs:
        yield "output", outputs


def _attribute(node: NodeView, name: str) -> str:
    form = form_of(node.op, node.opset, node.domain)
    value = node.attr(name) if node.has(name) else form and default_of(form, name)
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str) and _NAMED.fullmatch(value):
        return value
    if isinstance(value, int | float) and _NUMBER.fullmatch(repr(value)):
        return repr(value)
    raise Refuse(f"attribute {name} is {value!r}")


def _inputs(node: NodeView, known: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is asked of each input, and that there are no more."""
    given = len(node.inputs)
    for place, value in enumerate(node.inputs):
        yield str(place), {"given": False} if value is None else _operand(value, place)
    for place in range(given, max(known, given + 1)):
        yield str(place), {"given": False}


def _operand(value: Value, place: int) -> dict[str, Any]:
    if not value.is_tensor or value.rank is None or not value.type_name:
        raise Refuse(f"input {place} has no known type and rank")
    found: dict[str, Any] = {"type": value.type_name, "rank": str(value.rank)}
    found["constant"] = value.is_constant
    numbers = few_numbers(value)
    if numbers is None:
        return found
    if numbers.size != 1 or numbers.ndim > 1 or not _NUMBER.fullmatch(repr(numbers.item())):
        raise Refuse(f"input {place} is {numbers.tolist()}")
    # Values are of some element: only that there is one makes it that of all.
    return {**found, **({"sizes": "1"} if numbers.ndim else {}), "values": repr(numbers.item())}


def _operands(node: NodeView) -> str:
    """Return the inputs for people, ``float32 of rank 4``."""
    given = [f"{value.type_name} of rank {value.rank}" for value in node.inputs if value]
    return ", ".join(dict.fromkeys(given)) or "no input"


def _name(answer: EngineAnswer, taken: Container[str]) -> str:
    """Return a name for a rule, ``resize-2`` where there is a ``resize`` already."""
    plain = f"asked-{re.sub(r'[^a-z0-9]+', '-', answer.op.lower()).strip('-')}"
    numbers = (f"{plain}-{number}" for number in count(2))
    return next(name for name in chain((plain,), numbers) if name not in taken)


def _check(name: str, table: dict[str, Any], target: Target) -> None:
    """Hold a row to what a reader of rows takes, and to firing on the node that it is made of.

    Raises:
        Refuse: It does not.
    """
    try:
        (row,) = rows_of_table({name: table}, "the exported row")
    except PassBug as bug:
        raise Refuse(str(bug)) from None
    model = Model(model_of_probe(row.fires[0]))
    infer_model(model)
    said = row.rule.check(NodeView(model.graph.nodes[-1]), target)
    if said is None or said is False or isinstance(said, Unknown):
        raise Refuse("the row does not fire on the model that is kept of it")


def rows_text(target: Target, found: Exported) -> str:
    """Return rows as the text of a `rules.toml`.

    Args:
        target: Whose engine gave the answers.
        found: The rows, and what is none.
    """
    lines = [
        f"# What the engine of {target.name} said no to, by `graphfix targets --export-learned`.",
        "# To contribute one, put it into the rules.toml of the family, with a name, `silent`",
        "# models, and a feature that says what is at fault where that is less than the operator.",
    ]
    for form, reason in found.left:
        lines += ["", f"# no row: {' '.join(form.split())}", f"#   {' '.join(reason.split())}"]
    for name, table in found.rows.items():
        lines += ["", f"[{name}]", *_lines("", table)]
    return "\n".join(lines)


def _lines(before: str, table: dict[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _lines(f"{before}{key}.", cast("dict[str, Any]", value))
        else:  # a text of TOML is one of JSON, but for the character DEL
            yield f"{before}{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "?")
