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

from graphfix.engines.measured import operator_rows, profile_table, whole_forms, without
from graphfix.engines.versions import unpacked, write_profiles

FACTS = Path(__file__).parent / "facts"
_NAME = "tvm0.27"
_NEWEST = 26  # the newest opset that was asked for
# Whether it takes these depends on inputs and attributes that were drawn: limits and rules judge.
_DRAWN = ("MaxUnpool", "OneHot", "Pad", "Reshape", "Resize", "Split", "TopK")
# These may be computed of sizes, which rules judge.
_OF_SIZES = ("ConstantOfShape input", "Resize sizes")
# apache/tvm@5d4dc87213 python/tvm/relax/frontend/onnx/onnx_frontend.py, _get_convert_map
_CONTRIB = ("BiasGelu", "EmbedLayerNormalization", "FastGelu", "Gelu", "SkipLayerNormalization")
_NOTES = (
    "Measured on up to twelve models of each form, with inputs of fixed sizes, compiled with LLVM"
    " for the CPU; which element types and ranks it lacks is not judged: check --verify engine asks"
    " it.",
)


def profile() -> dict[str, Any]:
    """Return the table of the profile."""
    store = json.loads((FACTS / "kernels.json").read_text(encoding="utf-8"))
    known = unpacked(store, "0.27")
    refused, wrong = known.get("refused", {}), known.get("wrong", {})
    ops = operator_rows(
        whole_forms(refused, _DRAWN),
        whole_forms(wrong) | without(wrong, _DRAWN),
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
        contrib=_CONTRIB,
        constants=FACTS / "constants.json",
        computed=_OF_SIZES,
        notes=list(_NOTES),
    )


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, {_NAME: profile()})
