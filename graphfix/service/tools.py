"""The commands that are given as tools: what is said to each, and the command that it becomes.

``tools.toml`` has a table for each command: ``says``, for whoever chooses among tools; ``schema``,
the name of that of what it prints; ``writes``; ``always``, options that go with each call;
``limited``, whether it takes limits of memory and time; and ``arguments``. An argument is of a
``kind``: ``text``, ``number``, ``flag``, ``words`` (a list), ``name`` (a word without an option),
``file`` (one that is there), ``result`` (one that is written), ``input`` (what the command reads)
or ``edits`` (a list of edits with values). ``option`` is that of the command, ``choices`` are what
it may be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from graphfix.errors import UsageError
from graphfix.ir.storage.toml_files import read_shipped_toml

Kind = Literal["text", "number", "flag", "words", "name", "file", "result", "input", "edits"]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TYPES: Mapping[str, dict[str, Any]] = {
    "number": {"type": "integer", "minimum": 0},
    "flag": {"type": "boolean"},
    "words": {"type": "array", "items": {"type": "string"}},
}
_OF_TEXT: dict[str, Any] = {"type": "string"}


class Argument(Struct, frozen=True, forbid_unknown_fields=True):
    """One argument of a tool, see the module."""

    says: str
    kind: Kind = "text"
    option: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()


class Tool(Struct, frozen=True, forbid_unknown_fields=True):
    """One command as a tool, see the module."""

    says: str
    arguments: dict[str, Argument]
    limited: bool = True
    schema: str = ""
    writes: bool = False
    always: tuple[str, ...] = ()


class Words(Struct, frozen=True):
    """A command: its words, and what it reads from standard input."""

    words: tuple[str, ...]
    text: str = ""


class Folder:
    """The folder that tools work in: nothing outside of it is read or written."""

    def __init__(self, root: Path, most: int) -> None:
        """Take files of up to `most` bytes below `root`."""
        self.root = root.resolve()
        self._most = most

    def file(self, given: str) -> str:
        """Return the path of a file that is there.

        Raises:
            UsageError: It is outside of the folder, no file, or too large.
        """
        path = self._inside(given)
        if not path.is_file():
            raise UsageError("there is no such file in the folder that is served", where=given)
        if path.stat().st_size > self._most:
            raise UsageError(f"the file is larger than {self._most} bytes", where=given)
        return str(path)

    def result(self, given: str) -> str:
        """Return the path of a file that may be written.

        Raises:
            UsageError: It is outside of the folder, or its own folder is not there.
        """
        path = self._inside(given)
        if path.is_dir() or not path.parent.is_dir():
            raise UsageError("there is no such folder in the one that is served", where=given)
        return str(path)

    def _inside(self, given: str) -> Path:
        if "\0" in given or not given:
            raise UsageError("this is no path", where=repr(given))
        path = (self.root / given).resolve()  # links are followed
        if not path.is_relative_to(self.root):
            said = f"is outside of the folder that is served, {self.root}"
            raise UsageError(said, where=given)
        return path


@cache
def tools() -> Mapping[str, Tool]:
    """Return the tools by name."""
    table = read_shipped_toml(Path(__file__).with_name("tools.toml"))
    return {name: msgspec.convert(row, Tool) for name, row in table.items()}


def input_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON schema of what is said to a tool."""
    asked = {name: _schema_of_argument(argument) for name, argument in tool.arguments.items()}
    return {
        "type": "object",
        "properties": asked,
        "required": [name for name, argument in tool.arguments.items() if argument.required],
        "additionalProperties": False,
    }


def _schema_of_argument(argument: Argument) -> dict[str, Any]:
    if argument.kind == "edits":
        fields = {"edit": {"type": "string", "enum": list(argument.choices)}, "value": _OF_TEXT}
        one = {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }
        return {
            "type": "array",
            "items": one,
            "minItems": 1,
            "description": argument.says,
        }
    kind = _TYPES.get(argument.kind, _OF_TEXT)
    chosen = {"enum": list(argument.choices)} if argument.choices else {}
    return {**kind, **chosen, "description": argument.says}


def output_schema(printed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of what a tool answers: the exit code, and what the command prints.

    Args:
        printed: The schema of what it prints.
    """
    failed = {"type": "object", "required": ["error"]}
    plain = {key: value for key, value in printed.items() if key not in ("$defs", "$schema")}
    return {
        "type": "object",
        "properties": {
            "exit_code": {"type": "integer"},
            "report": {"anyOf": [plain, failed]},
        },
        "required": ["exit_code", "report"],
        "additionalProperties": False,
        "$defs": printed.get("$defs", {}),
    }


def command_of(name: str, tool: Tool, given: Mapping[str, Any], folder: Folder) -> Words:
    """Return the command that a call of a tool becomes.

    Args:
        name: The tool.
        tool: Its row.
        given: What was said to it, as its schema has it.
        folder: Where files may lie.

    Raises:
        UsageError: A file outside of the folder, or a value that would name one.
    """
    options: list[str] = []
    plain: list[str] = []
    text = ""
    for argument_name, argument in tool.arguments.items():
        value = given.get(argument_name)
        if value is None or value is False:
            continue
        if argument.kind == "file":
            plain.append(folder.file(str(value)))
        elif argument.kind == "input":
            text = str(value)
            plain.append("-")
        elif argument.kind == "edits":
            for edit in value:
                options.append(f"--{edit['edit']}={_plain(edit['value'])}")
        elif argument.kind == "name":
            plain.append(_named(str(value)))
        elif argument.kind == "flag":
            options.append(f"--{argument.option}")
        elif argument.kind == "words":
            options += [f"--{argument.option}={_plain(str(each))}" for each in value]
        elif argument.kind == "result":
            options.append(f"--{argument.option}={folder.result(str(value))}")
        else:
            said = _named(str(value)) if argument.option == "target" else str(value)
            options.append(f"--{argument.option}={said}")
    return Words((name, *plain, *options, *tool.always), text)


def _named(value: str) -> str:
    """Return a name; a path to a file of facts or passes is none."""
    if not _NAME.fullmatch(value):
        raise UsageError("this is no name of a target or a pass", where=value)
    return value


def _plain(value: str) -> str:
    """Return a value that names no file."""
    if value.startswith("@") or "=@" in value:
        raise UsageError("values are not read from files here", where=value)
    return value
