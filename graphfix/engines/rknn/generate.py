"""The RKNN profile, made from what the real toolkit and its simulator takes and computes.

    python -m graphfix.engines.rknn.generate

Facts: ``facts/kernels.json`` (`benchmarks.engines.kernels --opset 19 --no-scalars
--bound bool float16 float32 int8 int32 int64` and `.facts`) and
``facts/constants.json`` (`benchmarks.engines.parameters`). The opsets, and whether local
functions are read, are what `benchmarks.engines.limits` said.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphfix.engines.measured import judged_in, of_all_forms, operator_rows, profile_table, without
from graphfix.engines.versions import unpacked, write_profiles

FACTS = Path(__file__).parent / "facts"
_NAME = "rknn2.3"
_NEWEST = 19  # it refuses newer ones
# As graphfix.engines.rknn.rules.interface has it of others; outputs may be of others, too.
_BOUND = ("bool", "float16", "float32", "int32", "int64", "int8")


def profile() -> dict[str, Any]:
    """Return the table of the profile."""
    judged = judged_in(FACTS)
    store = json.loads((FACTS / "kernels.json").read_text(encoding="utf-8"))
    known = unpacked(store, "2.3")
    ops = operator_rows(
        without(of_all_forms(known.get("refused", {}), _NEWEST), judged["ruled"]),
        without(of_all_forms(known.get("wrong", {}), _NEWEST), judged["ruled"]),
        _NEWEST,
    )
    ops |= {op: {"supported": False} for op in judged["untaken"]}
    return profile_table(
        "rknn",
        "2.3",
        ops,
        _NEWEST,
        title="RKNN 2.3",
        source="measured in the simulator of rknn-toolkit2 2.3.2",
        rejects_above=True,
        static_shapes=True,
        io_dtypes=list(_BOUND),
        constants=FACTS / "constants.json",
        notes=judged["notes"],
    )


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, {_NAME: profile()})
