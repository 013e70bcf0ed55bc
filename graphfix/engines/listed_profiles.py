"""The profiles of engines that are known from tables alone, made from the facts next to each.

    python -m graphfix.engines.listed_profiles

A file ``facts/NAME.json`` is one target: ``source``, ``profile`` (what the profile has next to its
operators), ``later`` and ``ops``, by name, with the domain where it is not ONNX's own:

- ``opsets``: the forms that are taken, by the opset that they came with, ``7-12, 13+``; ``later``
  says whether ``13+`` holds for the forms that came after it as well;
- ``kernels``: form -> type parameter -> the element types that it is taken with;
- ``types``: the element types of the operator, where the table tells no forms apart;
- ``limits``: what rules can judge, as profiles spell it; ``says``: what else the table restricts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from onnx import defs

from graphfix.engines.engine import engines
from graphfix.engines.tables import TabledEngine
from graphfix.engines.versions import write_profiles

_LOWEST = 7  # older forms are not distinguished
_CONTRIB = "com.microsoft"
_TYPES = {"float": "float32", "double": "float64"}


def families() -> dict[Path, list[str]]:
    """Return the folders of families that are known from tables, with their targets in order."""
    found: dict[Path, list[str]] = {}
    for engine in engines():
        if isinstance(engine, TabledEngine) and engine.folder is not None:
            names = sorted(path.stem for path in (engine.folder / "facts").glob("*.json"))
            found[engine.folder] = names
    return found


def profile(folder: Path, name: str) -> dict[str, Any]:
    """Return the profile that the facts on a target make."""
    facts = json.loads((folder / "facts" / f"{name}.json").read_text(encoding="utf-8"))
    head = facts["profile"]
    own = {op: row for op, row in facts["ops"].items() if "::" not in op}
    contrib = sorted(op.removeprefix(f"{_CONTRIB}::") for op in facts["ops"] if op not in own)
    rows = {
        op: {"supported": True, **_row(op, row, head["opset"]["max"], later=facts["later"])}
        for op, row in own.items()
    }
    table = {
        "name": name,
        "family": name.removesuffix(head["version"]),
        "source": facts["source"],
        **head,
        "domains": [*head["domains"], *([_CONTRIB] if contrib else [])],
        "contrib": contrib,
        "ops": rows,
    }
    return {key: value for key, value in table.items() if value not in ([], {}, "")}


def _row(op: str, row: Mapping[str, Any], newest: int, *, later: bool) -> dict[str, Any]:
    forms = [since for since, until in _forms(op, newest) if until > _LOWEST]
    lacks: list[str] = []
    if "opsets" in row:
        lacks = [str(since) for since in forms if not _holds(row["opsets"], since, later=later)]
    if "kernels" in row:
        lacks = [text for since in forms for text in _untaken(op, since, row["kernels"])]
    return {
        **({"dtypes": row["types"].split()} if "types" in row else {}),
        **({"restrictions": row["says"]} if "says" in row else {}),
        **({"lacks": lacks} if lacks else {}),
        **({"limits": row["limits"]} if "limits" in row else {}),
    }


@cache
def _forms(op: str, newest: int) -> tuple[tuple[int, int], ...]:
    """Return the opsets at which the forms of an operator came, each with the next one."""
    every = defs.get_all_schemas_with_history()
    came = sorted(
        schema.since_version
        for schema in every
        if (schema.domain, schema.name) == ("", op) and schema.since_version <= newest
    )
    return tuple(zip(came, [*came[1:], newest + 1], strict=False))


def _holds(opsets: str, since: int, *, later: bool) -> bool:
    """Say whether a form is among those that a table names; it may name 7 for what is older."""
    for part in opsets.split(", "):
        low, _, high = part.removesuffix("+").partition("-")
        ends = range(int(low), int(high or low) + 1)
        if since in ends or max(since, _LOWEST) in ends:
            return True
        if later and part.endswith("+") and since > ends.start:
            return True
    return False


def _untaken(op: str, since: int, kernels: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Walk what a form is not taken with, as the ``lacks`` of profiles spell it."""
    taken = kernels.get(str(since))
    if taken is None:
        yield str(since)
        return
    for constraint in defs.get_schema(op, since).type_constraints:
        types = taken.get(constraint.type_param_str)
        tensors = (text for text in constraint.allowed_type_strs if text.startswith("tensor("))
        known = {text[len("tensor(") : -1] for text in tensors}
        missing = {_TYPES.get(name, name) for name in known} - set((types or "").split())
        if types is not None and missing:
            yield f"{since} {constraint.type_param_str}: {', '.join(sorted(missing))}"


def main() -> None:
    """Write the profiles of all families that are known from tables."""
    for folder, names in families().items():
        write_profiles(folder, {name: profile(folder, name) for name in names})


if __name__ == "__main__":
    main()
