"""Writes what follows from the options that `graphfix/edits/options` declares.

    python -m graphfix.edits.listing

- `graphfix/edits/listed.json`: the help of `graphfix edit`, which imports no edit for it;
- `graphfix/edits/__init__.py`: the public names, as type checkers see them;
- `graphfix/rendering/schemas/recipe.schema.json`: which steps of a recipe are flags.

Options keep the order that `listed.json` has; new ones come last, in the help last of their group.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import wrap

from graphfix.edits.declaring import Group, options

ROOT = Path(__file__).parents[2]
LISTED = Path("graphfix/edits/listed.json")
PUBLIC = Path("graphfix/edits/__init__.py")
SCHEMA = Path("graphfix/rendering/schemas/recipe.schema.json")
WIDTH = 100
# Public names that are of no single edit.
_OF_ALL = {
    "graphfix.edits.engine": ("Done", "Edited", "edit"),
    "graphfix.edits.proof": ("Proof",),
    "graphfix.edits.step": ("Edit",),
}


def files() -> Mapping[Path, str]:
    """Return what is written, by its path in the repository."""
    schema = (ROOT / SCHEMA).read_text(encoding="utf-8")
    return {LISTED: listed_text(), PUBLIC: public_text(), SCHEMA: schema_text(schema)}


def listed_text() -> str:
    """Return the text of `listed.json`."""
    edits = [[each.name, each.form, each.help] for each in options().values()]
    headings = {str(group): [f"--{name}" for name in _in_help(group)] for group in Group}
    rows = ",\n".join(f"    {_quoted(row)}" for row in edits)
    groups = ",\n".join(f"    {_quoted(name)}: {_quoted(each)}" for name, each in headings.items())
    return f'{{\n  "edits": [\n{rows}\n  ],\n  "headings": {{\n{groups}\n  }}\n}}\n'


def _in_help(group: Group) -> list[str]:
    """Return the options of a group in their order in the help."""
    after = {each.name: each.after for each in options().values() if each.group == group}
    order = [name for name, other in after.items() if other not in after]
    while left := [name for name in after if name not in order]:
        name = next((name for name in left if after[name] in order), left[0])
        place = order.index(after[name]) + 1 if after[name] in order else len(order)
        order.insert(place, name)
    return order


def public_text() -> str:
    """Return the text of `__init__.py`."""
    homes = {module: list(names) for module, names in _OF_ALL.items()}
    for each in options().values():
        homes[each.module] = sorted(_public_names(each.module))
    homes = {module: homes[module] for module in sorted(homes)}
    lines = ["if TYPE_CHECKING:"]
    for module, names in homes.items():
        line = f"    from {module} import "
        flat = line + ", ".join(names)
        lines += [flat] if len(flat) <= WIDTH else _laid_out(f"{line}(", names, ")")
    lines += ["", "# Module -> the names that it has.", "_NAMES = {"]
    for module, known in homes.items():
        flat = f"    {_quoted(module)}: {_quoted(' '.join(known))},"
        parts = wrap(" ".join(known), WIDTH - 11, break_on_hyphens=False)
        several = [_quoted(f"{part} ") for part in parts[:-1]] + [_quoted(parts[-1])]
        indented = (f"        {part}" for part in several)
        lines += (
            [flat] if len(flat) <= WIDTH else [f"    {_quoted(module)}: (", *indented, "    ),"]
        )
    lines += ["}", *_BY_NAME]
    names = sorted(name for known in homes.values() for name in known)
    lines += ["", *_laid_out("__all__ = [", [_quoted(name) for name in names], "]")]
    return _HEAD + "\n".join(lines) + "\n" + _TAIL


def schema_text(schema: str) -> str:
    """Return the text of the schema of recipes, with the flags that there are."""
    flags = [name for name, each in options().items() if each.is_flag]
    known = "|".join(["run", *flags])
    text: dict[str, object] = {
        "type": "string",
        "description": "An edit: the option of graphfix edit without its dashes, and its text",
    }
    rows = {f"^(?!{known if not flags else f'(?:{known})'}$)[a-z-]+$": text}
    if flags:
        rows[f"^(?:{'|'.join(flags)})$"] = {"const": True, "description": "An edit without a text"}
    lines = [f"          {json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items()]
    block = '"patternProperties": {\n' + ",\n".join(lines) + "\n        }"
    return re.sub(r'"patternProperties": \{.*?\n {8}\}', lambda _: block, schema, flags=re.DOTALL)


def _public_names(module: str) -> Iterator[str]:
    """Yield the edits of a module, and its functions that return what became of a model."""
    for name, value in vars(import_module(module)).items():
        if name.startswith("_") or getattr(value, "__module__", "") != module:
            continue
        is_edit = inspect.isclass(value) and hasattr(value, "apply")
        if is_edit or (inspect.isfunction(value) and _returns(value) == "Edited"):
            yield name


def _returns(function: Callable[..., object]) -> object:
    returned = function.__annotations__.get("return")
    return getattr(returned, "__name__", returned)


def _laid_out(begin: str, parts: Sequence[str], end: str) -> list[str]:
    """Return a line, or several where it would be too long, as ruff lays them out."""
    line = f"{begin}{', '.join(parts)}{end}"
    if len(line) <= WIDTH and not begin.startswith("__all__"):
        return [line]
    indent = " " * (len(begin) - len(begin.lstrip()))
    return [begin, *(f"{indent}    {part}," for part in parts), f"{indent}{end}"]


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


_HEAD = '''\
"""Edits of a model by hand: rename, cut, join, ...; each says what it did and proves it.

The public names are loaded when they are first used. They are those of `graphfix/edits/options`,
listed here by `python -m graphfix.edits.listing`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

'''
_BY_NAME = (
    "_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}",
)
_TAIL = '''

def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'graphfix.edits' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted({*globals(), *__all__})
'''


def main() -> int:
    """Write the files that are not as they should be, and name them."""
    for path, text in files().items():
        if (ROOT / path).read_text(encoding="utf-8") != text:
            (ROOT / path).write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path} is written again\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
