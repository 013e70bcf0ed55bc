"""Rows of profiles, made of what a real engine said of models of one operator each.

The facts of a version are ``refused`` and ``wrong``. Each maps ``Op since`` (an operator and the
opset that its form came with) to element types by the type parameter of the schema, to ranks of the
first input (``rank``), to values by the attribute, or to nothing where it is the whole form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onnx import defs

OLDEST = 7  # the oldest opset that was asked for
Kinds = Mapping[str, Sequence[str]]


def operator_rows(
    refused: Mapping[str, Kinds], wrong: Mapping[str, Kinds], newest: int
) -> dict[str, dict[str, Any]]:
    """Return the ``ops`` of a profile.

    An operator of which every form is refused is not supported; one that was not asked about is,
    for nothing is known against it.

    Args:
        refused: What is refused or crashes the engine.
        wrong: What is computed otherwise than ONNX says.
        newest: The newest opset that the engine is said to take.
    """
    rows: dict[str, dict[str, Any]] = {}
    for op, forms in sorted(_forms(newest).items()):
        lacks = [text for since in forms for text in _texts(since, refused.get(f"{op} {since}"))]
        if all(str(since) in lacks for since in forms):
            rows[op] = {"supported": False}
            continue
        rows[op] = {"supported": True}
        odd = [text for since in forms for text in _texts(since, wrong.get(f"{op} {since}"))]
        rows[op] |= {key: found for key, found in (("lacks", lacks), ("wrong", odd)) if found}
    return rows


def with_since(
    profiles: Sequence[tuple[str, Mapping[str, dict[str, Any]]]],
) -> None:
    """Write into the rows of all versions in which one an operator came.

    Args:
        profiles: The names of the profiles with their rows, oldest first.
    """
    since: dict[str, str] = {}
    for name, rows in profiles:
        for op, row in rows.items():
            if row["supported"]:
                row["since"] = since.setdefault(op, name)


def _forms(newest: int) -> dict[str, list[int]]:
    """Return the forms of each operator that a model of the opsets up to `newest` may use."""
    found: dict[str, set[int]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= newest and not schema.deprecated:
            found.setdefault(schema.name, set()).add(schema.since_version)
    return {op: list(_in_reach(sorted(several))) for op, several in found.items()}


def _in_reach(forms: Sequence[int]) -> Iterator[int]:
    for since, later in zip(forms, [*forms[1:], None], strict=True):
        if later is None or later > OLDEST:
            yield since


def _texts(since: int, known: Kinds | None) -> Iterator[str]:
    if known is None:
        return
    if not known:
        yield str(since)
    for parameter, names in sorted(known.items()):
        yield f"{since} {parameter}: {', '.join(sorted(names))}"
