"""Settings of a project: `graphfix.toml`, or `[tool.graphfix]` in `pyproject.toml`.

The file is looked for in the folder of work and in those above it; the first one counts. What it
says becomes the default of the option of that name, so that the command line overrides it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource

from graphfix.cli.help_groups import GroupedCommand, long_name
from graphfix.errors import UsageError

Function = TypeVar("Function", bound=Callable[..., Any])

OFF = "--no-settings"
VARIABLE = "GRAPHFIX_NO_SETTINGS"
_OWN, _SHARED, _TABLE = "graphfix.toml", "pyproject.toml", "graphfix"
_USED = "graphfix.settings"
_NO_TARGET_NEEDED = {"--target", "--passes", "--opset"}  # where one of these is given


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file with settings.

    Attributes:
        path: The file.
        values: What it says: the name of an option without its dashes -> the value as TOML has it.
    """

    path: Path
    values: Mapping[str, Any]


class SettingsCommand(GroupedCommand):
    """A command whose options have their defaults from the settings of the project."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse with the settings as defaults; remember which of them were used."""
        words = args[: args.index("--")] if "--" in args else args
        ignored = {OFF, "-h", "--help"} & set(words) or os.environ.get(VARIABLE)
        found = None if ctx.resilient_parsing or ignored else settings_of(Path.cwd())
        if found is not None:
            ctx.default_map = _defaults(found, self.params, words)
        try:
            rest = super().parse_args(ctx, args)
        except click.BadParameter as error:
            if found is not None and error.param is not None and _is_from_file(ctx, error.param):
                raise _wrong(found, _key(error.param), error.message) from error
            raise
        if found is not None:
            used = {_key(param) for param in self.params if _is_from_file(ctx, param)}
            ctx.meta[_USED] = (found, [key for key in found.values if key in used])
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what is wrong with a value of the file is said to be of the file."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            found, used = ctx.meta.get(_USED, (None, []))
            key = error.where.split(" ")[0].removeprefix("--")
            if found is None or key not in used:
                raise
            raise _wrong(found, key, error.message, error.hint) from error


def settings_option(function: Function) -> Function:
    """Add ``--no-settings``."""
    return click.option(
        OFF,
        is_flag=True,
        expose_value=False,
        help=f"Ignore {_OWN} and [tool.{_TABLE}] of {_SHARED}; also {VARIABLE}=1.",
    )(function)


def settings_used(ctx: click.Context) -> str:
    """Say in one line which settings a command has taken; empty where it has taken none."""
    found, used = ctx.meta.get(_USED, (None, []))
    return f"{', '.join(used)} of {found.path}" if found is not None and used else ""


def settings_of(folder: Path) -> SettingsFile | None:
    """Return the settings that hold in a folder; None where there are none.

    Raises:
        UsageError: The file cannot be read, or says what there is no setting for.
    """
    for place in (folder, *folder.parents):
        own, shared = place / _OWN, place / _SHARED
        if own.is_file():
            from graphfix.ir.storage.toml_files import read_toml

            return _checked(own, read_toml(own)[0])
        # A project's file that does not name graphfix is not even parsed.
        if shared.is_file() and f"tool.{_TABLE}".encode() in shared.read_bytes():
            from graphfix.ir.storage.toml_files import read_toml

            table = read_toml(shared)[0].get("tool", {}).get(_TABLE)
            if table is not None:
                return _checked(shared, table)
    return None


def _text(value: object, _folder: Path) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: object, _folder: Path) -> bool | None:
    return value if isinstance(value, bool) else None


def _seconds(value: object, _folder: Path) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _names(value: object, _folder: Path) -> list[str] | None:
    items = cast("list[object]", value) if isinstance(value, list) else None
    if items is None or not all(isinstance(item, str) and item for item in items):
        return None
    return [str(item) for item in items]


def _joined(value: object, folder: Path) -> str | None:
    found = _names(value, folder)
    return ",".join(found) if found else None


def _pairs(value: object, _folder: Path) -> list[str] | None:
    rows = cast("dict[str, object]", value) if isinstance(value, dict) else None
    if rows is None or not all(isinstance(text, str) for text in rows.values()):
        return None
    return [f"{name}={text}" for name, text in rows.items()]


def _pairs_or_file(value: object, folder: Path) -> list[str] | None:
    return [f"@{folder / value}"] if isinstance(value, str) else _pairs(value, folder)


def _target(value: object, folder: Path) -> str | None:
    if not isinstance(value, str):
        return None
    return str(folder / value) if value.lower().endswith(".toml") else value


# Name of an option -> what takes its value as TOML has it, or gives None; and what it has to be.
_KEYS: Mapping[str, tuple[Callable[[object, Path], object], str]] = {
    "target": (_target, "the name of a target"),
    "skip": (_joined, "a list of passes"),
    "allow-lossy": (_flag, "true or false"),
    "allow-mended": (_flag, "true or false"),
    "allow-io-change": (_flag, "true or false"),
    "trust-rules": (_flag, "true or false"),
    "no-fallback": (_flag, "true or false"),
    "assume-op": (_names, "a list of operators"),
    "op-type": (_pairs_or_file, "a table of operator to types, or the path of a file"),
    "op-alias": (_pairs, "a table of operator to operator"),
    "timeout": (_seconds, "a number of seconds"),
    "max-memory": (_text, 'a size such as "2GiB"'),
}


def _checked(path: Path, table: object) -> SettingsFile:
    """Return what a table of settings says.

    Raises:
        UsageError: It is no table, or a key is not known or of another kind.
    """
    if not isinstance(table, dict):
        raise UsageError(f"[tool.{_TABLE}] is not a table", where=str(path))
    values: dict[str, Any] = {}
    for key, value in cast("dict[str, object]", table).items():
        if key not in _KEYS:
            hint = f"known settings: {', '.join(_KEYS)}"
            raise UsageError("there is no such setting", where=f"{path}: {key}", hint=hint)
        read, kind = _KEYS[key]
        taken = read(value, path.parent)
        if taken is None:
            raise UsageError(f"is not {kind}", where=f"{path}: {key}")
        values[key] = taken
    return SettingsFile(path, values)


def _defaults(
    found: SettingsFile, params: Sequence[click.Parameter], words: Sequence[str]
) -> dict[str, Any]:
    """Return the settings as click takes them: parameter -> default."""
    given = {word.partition("=")[0] for word in words}
    defaults: dict[str, Any] = {}
    for param in params:
        key = _key(param)
        if key not in found.values:
            continue
        value = found.values[key]
        if key == "target":
            if _NO_TARGET_NEEDED & given:
                continue
            _check_target(found, str(value))
        listed = param.multiple if isinstance(param, click.Option) else False
        defaults[param.name] = [value] if listed and isinstance(value, str) else value
    return defaults


def _check_target(found: SettingsFile, name: str) -> None:
    from graphfix.engines.targets import resolve

    try:
        resolve(name)
    except UsageError as error:
        raise _wrong(found, "target", error.message, error.hint) from error


def _is_from_file(ctx: click.Context, param: click.Parameter) -> bool:
    source = ctx.get_parameter_source(param.name or "")
    return source is ParameterSource.DEFAULT_MAP


def _key(param: click.Parameter) -> str:
    return long_name(param).removeprefix("--")


def _wrong(found: SettingsFile, key: str, message: str, hint: str = "") -> UsageError:
    return UsageError(message, where=f"{found.path}: {key}", hint=hint)
