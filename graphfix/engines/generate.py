"""Writes the profiles of the engines from the facts: python graphfix/engines/generate.py FACTS."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

if __name__ == "__main__":  # run as a script, from a checkout that need not be installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from graphfix.engines.onnxruntime.generate import ort_profiles
from graphfix.engines.tensorrt.generate import trt_profiles

_HEAD = "# Made by graphfix/engines/generate.py from the facts; edit those, not this.\n"


def generated(facts: Path) -> Mapping[str, str]:
    """Return the text of each generated file by its path.

    Args:
        facts: The folder of facts.

    Raises:
        OSError: A file of facts is missing.
    """
    engines = {"tensorrt": [*trt_profiles(facts)], "onnxruntime": [*ort_profiles(facts)]}
    return {
        f"{engine}/profiles/{profile['name']}.toml": toml(profile)
        for engine, profiles in engines.items()
        for profile in profiles
    }


def toml(table: Mapping[str, Any]) -> str:
    """Return `table` as TOML: plain values first, then one section per table in it."""
    return _HEAD + "\n".join(_sections(table)) + "\n"


def _sections(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if not isinstance(value, Mapping):
            yield f"{_key(key)} = {_value(value, spread=True)}"
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield f"\n[{_key(key)}]"
            section = cast("Mapping[str, Any]", value)
            yield from (f"{_key(inner)} = {_value(item)}" for inner, item in section.items())


def _value(value: Any, *, spread: bool = False) -> str:
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        return "{ " + ", ".join(f"{_key(key)} = {_value(table[key])}" for key in table) + " }"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool | int):
        return str(value).lower()
    if issubclass(type(value), Sequence):  # unlike isinstance, leaves the type of items open
        items = [_value(item) for item in value]
        line = f"[{', '.join(items)}]"
        if not spread or len(line) < 80:
            return line
        return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
    raise TypeError(f"{value!r} has no place in a profile")


def _key(key: str) -> str:
    bare = key.replace("_", "").replace("-", "")
    return key if bare.isascii() and bare.isalnum() else json.dumps(key)


def write(facts: Path, folder: Path) -> None:
    """Write the generated files into `folder`."""
    for name, text in generated(facts).items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]), Path(__file__).resolve().parent)
