"""The OpenVINO profiles, made from what the real wheels do on a CPU.

    python -m graphfix.engines.openvino.generate

Facts, both measured: ``facts/kernels.json`` (`benchmarks.engines.kernels` and `.facts`: what is
refused and what is computed wrongly) and ``facts/limits.json`` (`benchmarks.engines.limits`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphfix.engines.measured import operator_rows, with_since
from graphfix.engines.openvino.engine import RELEASES
from graphfix.engines.versions import unpacked, write_profiles

FACTS = Path(__file__).parent / "facts"
_NEWEST = 26  # the newest opset that was asked for
# The models of three dimensions were those with axes, which are not read whatever the rank.
_BY_RULES = {("ReduceLogSum 13", "rank")}
_NOTES = (
    "Measured on the CPU plugin with EXECUTION_MODE_HINT ACCURACY, in float32: by default it "
    "rounds activations next to weights of 8 bits and fewer to 8 bits; other devices have "
    "other kernels.",
    "Inputs were of fixed sizes.",
)


def profiles() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the names and the tables of the profiles, oldest first."""
    store = json.loads((FACTS / "kernels.json").read_text(encoding="utf-8"))
    limits = json.loads((FACTS / "limits.json").read_text(encoding="utf-8"))
    rows = {
        version: operator_rows(known.get("refused", {}), _wrong(known), _NEWEST)
        for version in store["names"]
        for known in (unpacked(store, version),)
    }
    with_since([(f"openvino{version}", ops) for version, ops in rows.items()])
    for version, ops in rows.items():
        name = f"openvino{version}"
        yield (
            name,
            {
                "name": name,
                "family": "openvino",
                "version": version,
                "title": f"OpenVINO {version}",
                "source": f"measured on the wheel openvino {RELEASES[version]}",
                "domains": ["", "ai.onnx", "com.microsoft"],
                "contrib": limits[name]["contrib"],
                "functions": limits[name]["functions"],
                # Quantized models: docs.openvino.ai, "Low precision transformations".
                "integers": "any",
                "notes": list(_NOTES),
                "opset": {
                    "min": limits[name]["opset"][0],
                    "max": _NEWEST,
                    "rejects_above": limits[name]["refuses_newer"],
                },
                "ops": ops,
            },
        )


def _wrong(known: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """Return what is computed wrongly, but for kinds that rules tell better."""
    found: dict[str, dict[str, list[str]]] = {}
    for form, kinds in known.get("wrong", {}).items():
        kept = {kind: listed for kind, listed in kinds.items() if (form, kind) not in _BY_RULES}
        if kept or not kinds:
            found[form] = kept
    return found


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, dict(profiles()))
