"""The QNN profile, made from what the real provider takes, and its simulation computes.

    python -m graphfix.engines.qnn.generate

Facts: ``facts/kernels.json`` (`benchmarks.engines.kernels --opset 26` and `.facts`),
``facts/plain.json`` (`benchmarks.engines.plain`), ``facts/asked.json`` (`benchmarks.engines.asked`)
and ``facts/constants.json`` (`benchmarks.engines.parameters`). The opsets, and whether local
functions are read, are what `benchmarks.engines.limits` said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphfix.engines.measured import (
    Kinds,
    judged_in,
    of_all_forms,
    operator_rows,
    profile_table,
    with_types,
    without,
)
from graphfix.engines.versions import unpacked, write_profiles

FACTS = Path(__file__).parent / "facts"
_NAME = "qnn2"
_NEWEST = 26  # the newest opset that was asked for
# Taken between other nodes, though not at the ends of a graph, or within Gelu: rules judge these.
_JUDGED_TYPES = {"GatherND": ("int64",), "Transpose": ("int64",)}
# MaxPool was asked with it where a window would begin after the input; else it is taken.
_JUDGED_ATTRIBUTES = {"MaxPool": "ceil_mode"}
_CAST_ALONE = "int16"  # Cast takes it to int32 alone
_ENDS = (
    "casts",
    "ends",
    "quantized-inputs",
    "quantized-outputs",
)  # subjects of the facts that show which types are bound
_TYPED = re.compile(r"\((\w+)\[[\d,]*\] [xy]\)")
_READ = ("equal", "wrong")
_NAMES = {"float": "float32", "double": "float64"}


def profile() -> dict[str, Any]:
    """Return the table of the profile."""
    judged = judged_in(FACTS)
    known = unpacked(_facts("kernels"), "2")
    plain = _facts("plain")[_NAME]["types"]
    types = {
        op: {name: said for name, said in found.items() if name not in _JUDGED_TYPES.get(op, ())}
        for op, found in plain.items()
    }
    refused = of_all_forms(_without_attributes(known.get("refused", {})), _NEWEST)
    ops = operator_rows(
        without(with_types(refused, types, _NEWEST), judged["taken"]),
        without(of_all_forms(known.get("wrong", {}), _NEWEST), judged["unsure"]),
        _NEWEST,
    )
    ops |= {op: {"supported": False} for op in judged["untaken"] if op in ops}
    return profile_table(
        "qnn",
        "2",
        ops,
        _NEWEST,
        title="QNN HTP 2",
        source="measured with onnxruntime-qnn 2.7.0, which simulates an HTP on the CPU",
        functions=True,
        static_shapes=True,
        # Symmetric and asymmetric bytes: onnxruntime, docs/execution-providers/QNN.
        integers="any",
        io_dtypes=sorted(_bound()),
        constants=FACTS / "constants.json",
        notes=judged["notes"],
    )


def _facts(name: str) -> Any:
    return json.loads((FACTS / f"{name}.json").read_text(encoding="utf-8"))


def _without_attributes(refused: Mapping[str, Kinds]) -> dict[str, Kinds]:
    """Return what is refused, without the attributes and the type that rules judge."""
    return {
        form: {
            key: [name for name in names if (form[:5], key, name) != ("Cast ", "T1", _CAST_ALONE)]
            for key, names in kinds.items()
            if key != _JUDGED_ATTRIBUTES.get(form.split()[0])
        }
        for form, kinds in refused.items()
    }


def _bound() -> set[str]:
    """Return the element types that an input or an output of a model had that was taken."""
    asked = _facts("asked")
    models = [
        model for subject in _ENDS for said in asked[subject].values() for model in said.items()
    ]
    taken = [text for text, verdict in models if verdict in _READ]
    ends = {str(match[1]) for text in taken for match in _TYPED.finditer(text)}
    return {_NAMES.get(name, name) for name in ends}


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, {_NAME: profile()})
