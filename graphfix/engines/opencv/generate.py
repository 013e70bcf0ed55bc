"""The OpenCV profiles, made from what the real wheels read and compute on the CPU.

    python -m graphfix.engines.opencv.generate

Facts: ``facts/plain.json``, measured by `benchmarks.engines.plain`: the operators that a release
has no layer for, the element types that it refuses or computes differently, and what it makes of
the operators of bytes that onnxruntime's quantizer writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from onnx import defs

from graphfix.engines.common_rules import main_type
from graphfix.engines.versions import write_profiles
from graphfix.ir.schemas import form_of

FACTS = Path(__file__).parent / "facts"
_NEWEST = 26  # it does not look at the number; newer operators have no layer
_OLDEST = 7
_NOTES = (
    "Measured on the CPU of the wheel opencv-python-headless.",
    "OpenCV 4 computes all in float32, integers and bools too, and has no tensor of less than two"
    " dimensions.",
    "Fix the sizes of inputs with --shape: what is computed of sizes is known at import then.",
)
# What rules say instead, as it is not so of operands that are known at import.
_JUDGED = {("Div", "wrong")}
_READ = ("equal", "wrong")  # the wrong ones are a rule's
_NAMES = {"float": "float32", "double": "float64"}


def profiles() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the names and the tables of the profiles, oldest first."""
    measured = json.loads((FACTS / "plain.json").read_text(encoding="utf-8"))
    for name, found in measured.items():
        version = name.removeprefix("opencv")
        rows = {op: _row(op, forms, found) for op, forms in sorted(_forms().items())}
        yield (
            name,
            {
                "name": name,
                "family": "opencv",
                "version": version,
                "title": f"OpenCV {version}",
                "source": f"measured on the wheel opencv-python-headless {version}",
                "domains": ["", "ai.onnx", "com.microsoft"],
                "contrib": [op for op, said in found["contrib"].items() if said in _READ],
                "functions": False,
                "notes": list(_NOTES),
                "opset": {"min": _OLDEST, "max": _NEWEST, "rejects_above": False},
                "ops": rows,
            },
        )


def _forms() -> dict[str, list[int]]:
    found: dict[str, set[int]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= _NEWEST:
            found.setdefault(schema.name, set()).add(schema.since_version)
    return {op: sorted(several) for op, several in found.items()}


def _row(op: str, forms: list[int], found: Mapping[str, Any]) -> dict[str, Any]:
    if op in found["missing"]:
        return {"supported": False}
    row: dict[str, Any] = {"supported": True}
    verdicts: Mapping[str, str] = found["types"].get(op, {})
    for key, wanted in (("lacks", ("refused", "crashed")), ("wrong", ("wrong",))):
        names = sorted(_NAMES.get(name, name) for name in verdicts if verdicts[name] in wanted)
        if names and (op, key) not in _JUDGED:
            row[key] = [f"{since} {_parameter(op, since)}: {', '.join(names)}" for since in forms]
    return row


def _parameter(op: str, since: int) -> str:
    return main_type(form_of(op, since))


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, dict(profiles()))
