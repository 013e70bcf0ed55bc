"""The ONNX Runtime profiles, made from what the real wheels accept on the CPU.

    python -m graphfix.engines.onnxruntime.generate

Facts, both measured by loading models: ``facts/kernels.json`` (`benchmarks/onnxruntime/kernels.py`:
kernels, domains, contrib operators, local functions) and ``facts/limits.toml`` (opset and IR).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from onnx import TensorProto, defs

from graphfix.engines.versions import unpacked, write_profiles
from graphfix.ir.storage.weights import type_name

FACTS = Path(__file__).parent / "facts"
_LOWEST = 7  # the oldest opset of the measurements
_ANY = 26  # the highest version that was asked for: a domain that takes it is not looked at
# Registered by the wheels without a single operator: "org.pytorch.aten:ATen(-1) is not a
# registered function/op" (1.32; ATen is built in by --enable_training_ops or ENABLE_ATEN alone).
_EMPTY = frozenset({"org.pytorch.aten"})
_NOTES = (
    "Measured on the CPU provider of the wheel for Linux: other providers have other kernels.",
    "float16 without a kernel is computed in float32, by casts that the engine inserts itself.",
)


def profiles() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the names and the tables of the profiles, oldest first."""
    since: dict[str, str] = {}
    for release, (limits, kernels) in _measured().items():
        name = f"ort-{release}"
        rows = _rows(kernels.get("missing", {}), limits["opset"])
        domains = {
            domain: version for domain, version in kernels["domains"].items() if version < _ANY
        }
        for op, row in rows.items():
            if row["supported"]:
                row["since"] = since.setdefault(op, name)
        table = {
            "name": name,
            "family": "ort",
            "version": release,
            "title": f"ONNX Runtime {release}",
            "source": f"measured on the wheel onnxruntime {kernels['release']}",
            "domains": ["", "ai.onnx", *sorted({"ai.onnx.ml", "com.microsoft", *domains} - _EMPTY)],
            "functions": kernels["functions"],
            "ir_max": limits["ir"],
            "contrib": kernels.get("contrib", []),
            "registered": [
                name
                for name in kernels.get("registered", [])
                if name not in kernels.get("contrib", [])
            ],
            "notes": list(_NOTES),
            "opset": {"min": _LOWEST, "max": limits["opset"], "rejects_above": True},
            "domain_opsets": dict(sorted(domains.items())),
            "ops": dict(sorted(rows.items())),
        }
        yield name, {key: value for key, value in table.items() if value not in ([], {})}


def _measured() -> dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return the limits and the kernels of each release."""
    limits = tomllib.loads((FACTS / "limits.toml").read_text(encoding="utf-8"))
    store = json.loads((FACTS / "kernels.json").read_text(encoding="utf-8"))
    return {name: (limits[name], unpacked(store, name)) for name in store["names"]}


def _rows(missing: Mapping[str, Mapping[str, list[str]]], newest: int) -> dict[str, Any]:
    """Return the operators that ONNX has up to opset `newest`, with what has no kernel."""
    forms: dict[str, list[int]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= newest and not schema.deprecated:
            forms.setdefault(schema.name, []).append(schema.since_version)
    rows: dict[str, Any] = {}
    for op, versions in forms.items():
        asked = sorted(set(versions))
        lacks: list[str] = []
        gone = 0
        for version in asked:
            known = missing.get(f"{op} {version}", {})
            gone += "" in known
            lacks += [str(version)] if "" in known else list(_kinds(version, known))
        # Forms that end below the lowest opset were not measured, and are missing nowhere.
        if gone and gone == sum(_in_reach(version, asked) for version in asked):
            rows[op] = {"supported": False}
        else:
            rows[op] = {"supported": True, **({"lacks": lacks} if lacks else {})}
    return rows


def _in_reach(version: int, asked: list[int]) -> bool:
    later = [other for other in asked if other > version]
    return not later or later[0] > _LOWEST


def _kinds(version: int, known: Mapping[str, list[str]]) -> Iterator[str]:
    for parameter, types in sorted(known.items()):
        names = sorted(type_name(int(TensorProto.DataType.Value(t.upper()))) for t in types)
        yield f"{version} {parameter}: {', '.join(names)}"


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, dict(profiles()))
