"""The TFLite profile, made from what onnx2tf imports and from what its files compute in LiteRT.

    python -m graphfix.engines.tflite.generate

Facts: ``facts/kernels.json``, written by ``python -m benchmarks.engines.facts`` from the rows of
``python -m benchmarks.engines.kernels --engine tflite1.29 --each 1``, and ``facts/importer.json``,
the modules of ``onnx2tf.ops``, one for each operator that is imported.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphfix.engines.measured import judged_in, operator_rows, profile_table, whole_forms
from graphfix.engines.versions import unpacked, write_profiles

FACTS = Path(__file__).parent / "facts"
_NAME = "tflite1.29"
_NEWEST = 26  # the newest opset that was asked for


def profile() -> dict[str, Any]:
    """Return the table of the profile."""
    judged = judged_in(FACTS)
    store = json.loads((FACTS / "kernels.json").read_text(encoding="utf-8"))
    known = unpacked(store, "1.29")
    ops = operator_rows(
        whole_forms(known.get("refused", {}), judged["ruled"]),
        whole_forms(known.get("wrong", {}), judged["ruled"]),
        _NEWEST,
    )
    imported = set(json.loads((FACTS / "importer.json").read_text(encoding="utf-8")))
    ops |= {op: {"supported": False} for op in ops if op not in imported or op in judged["untaken"]}
    return profile_table(
        "tflite",
        "1.29",
        ops,
        _NEWEST,
        title="TFLite by onnx2tf 1.29",
        source="measured on onnx2tf 1.29.24 with ai-edge-litert 2.1.0",
        notes=judged["notes"],
    )


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, {_NAME: profile()})
