"""Reading what the user says of operators: one by one, and from the file of ``--op-type @FILE``.

The file has a table for each operator, in TOML:

    ["acme::MyNorm"]
    outputs = ["like:0"]

    ["acme::Cut"]
    outputs = ["float32[N,3,?]", "dtype:0"]
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from graphfix.errors import UsageError
from graphfix.ir.storage.toml_files import read_toml
from graphfix.pipeline.op_types import OPTION, OperatorTypes, parse_op_type

_OUTPUTS = "outputs"
_FORM = 'the form is ["domain::Op"] and below it outputs = ["like:0"]'


OpTypes = Mapping[str, str] | Sequence[OperatorTypes] | str | Path | None


def op_types_of(given: OpTypes, file: Path | None = None) -> tuple[OperatorTypes, ...]:
    """Return what is said of operators, what is named one by one before what is in a file.

    Args:
        given: ``[domain::]Op`` to types, a file, or what this function returned before.
        file: A file in addition.

    Raises:
        UsageError: A name or a type cannot be read, or the file cannot.
    """
    if isinstance(given, str | Path):
        return op_types_of(None, Path(given))
    named: tuple[OperatorTypes, ...] = ()
    if isinstance(given, Mapping):
        named = tuple(parse_op_type(name, text, f"{OPTION} {name}") for name, text in given.items())
    elif given is not None:
        named = tuple(given)
    if file is None:
        return named
    known = {(each.domain, each.op) for each in named}
    return (*named, *(e for e in read_op_types(file) if (e.domain, e.op) not in known))


def read_op_types(path: Path) -> tuple[OperatorTypes, ...]:
    """Read what a file says of operators.

    Raises:
        UsageError: The file cannot be read, or holds anything else than the form above; the error
            names the line.
    """
    table, text = read_toml(path)
    return tuple(_operator(name, row, text, path) for name, row in table.items())


def _operator(name: str, row: object, text: str, path: Path) -> OperatorTypes:
    line = _line_of(name, text)
    where = f"{path}:{line}"
    if not isinstance(row, dict):
        raise UsageError(f"{name} is no table", where=where, hint=_FORM)
    entries = cast("dict[str, Any]", row)
    for key in entries:
        if key != _OUTPUTS:
            place = f"{path}:{_line_of(key, text, after=line)}"
            raise UsageError(f"{name} has an unknown key {key!r}", where=place, hint=_FORM)
    if _OUTPUTS not in entries:
        raise UsageError(f"{name} lacks the key {_OUTPUTS!r}", where=where, hint=_FORM)
    where = f"{path}:{_line_of(_OUTPUTS, text, after=line)}"
    outputs: Any = entries[_OUTPUTS]
    if not isinstance(outputs, list) or not outputs:
        raise UsageError(f"{_OUTPUTS} of {name} has to be a list of texts", where=where, hint=_FORM)
    parts = cast("list[object]", outputs)
    if not all(isinstance(part, str) and ";" not in part for part in parts):
        raise UsageError(f"{_OUTPUTS} of {name} has to be a list of texts", where=where, hint=_FORM)
    return parse_op_type(name, ";".join(map(str, parts)), where, wanted=False)


def _line_of(key: str, text: str, after: int = 1) -> int:
    """Return the line that a key is in; that of the table where it is written differently."""
    quoted = re.compile(rf"""(?:^|[\s\[."']){re.escape(key)}(?=$|[\s\]."'=])""")
    lines = text.splitlines()
    for number, line in enumerate(lines[after - 1 :], after):
        if quoted.search(line.partition("#")[0]):
            return number
    return after
