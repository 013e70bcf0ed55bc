"""The TVM profile, made from what the real wheel takes and computes on the CPU.

    python -m graphfix.engines.tvm.generate

Facts, asked of the wheel: ``facts/kernels.json`` (`benchmarks.engines.kernels --each 3` and
`.facts`), ``facts/constants.json`` (`benchmarks.engines.parameters`) and ``facts/importer.json``,
the operators that it imports: ``_get_convert_map()`` of ``tvm.relax.frontend.onnx.onnx_frontend``,
and If, which it builds itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphfix.engines.measured import judged_in, operator_rows, profile_table, whole_forms, without
from graphfix.engines.versions import unpacked, write_profiles

FACTS = Path(__file__).parent / "facts"
_NAME = "tvm0.27"
_NEWEST = 26  # the newest opset that was asked for
# These may be computed of sizes, which rules judge.
_OF_SIZES = ("ConstantOfShape input", "Resize sizes")


def profile() -> dict[str, Any]:
    """Return the table of the profile."""
    judged = judged_in(FACTS)
    store = json.loads((FACTS / "kernels.json").read_text(encoding="utf-8"))
    known = unpacked(store, "0.27")
    refused, wrong = known.get("refused", {}), known.get("wrong", {})
    ops = operator_rows(
        whole_forms(refused, judged["drawn"]),
        whole_forms(wrong) | without(wrong, judged["drawn"]),
        _NEWEST,
    )
    imported = set(json.loads((FACTS / "importer.json").read_text(encoding="utf-8")))
    ops |= {op: {"supported": False} for op in ops if op not in imported}
    return profile_table(
        "tvm",
        "0.27",
        ops,
        _NEWEST,
        title="TVM 0.27",
        source="measured on the wheel apache-tvm 0.27.0.post1",
        contrib=judged["contrib"],
        constants=FACTS / "constants.json",
        computed=_OF_SIZES,
        notes=judged["notes"],
    )


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, {_NAME: profile()})
