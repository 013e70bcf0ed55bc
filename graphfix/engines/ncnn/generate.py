"""The ncnn profile, made from what pnnx converts and ncnn's wheel computes.

    python -m graphfix.engines.ncnn.generate

Facts: ``facts/kernels.json``, written by ``python -m benchmarks.engines.facts --right`` from the
rows of ``python -m benchmarks.engines.kernels --engine ncnn1.0 --each 1 --type float32``. ncnn
computes in float32 alone: integers that reach one of its layers are read as floats.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphfix.engines.measured import judged_in, operator_rows, profile_table, whole_forms
from graphfix.engines.versions import unpacked, write_profiles

FACTS = Path(__file__).parent / "facts"
_NAME = "ncnn1.0"
_NEWEST = 26  # the newest opset that was asked for


def profile() -> dict[str, Any]:
    """Return the table of the profile: an operator of which no form was right is not taken."""
    judged = judged_in(FACTS)
    known = unpacked(json.loads((FACTS / "kernels.json").read_text(encoding="utf-8")), "1.0")
    right = {*judged["right_next_to"]} | {form.split()[0] for form in known["right"]}
    ops = operator_rows(
        whole_forms(known["refused"], judged["ruled"]),
        whole_forms(known["wrong"], judged["ruled"]),
        _NEWEST,
    )
    for op, row in ops.items():
        row["supported"] = row["supported"] and op in right
        if row["supported"]:
            row["dtypes"] = ["float32"]
        else:
            row.clear()
            row["supported"] = False
    return profile_table(
        "ncnn",
        "1.0",
        ops,
        _NEWEST,
        title="ncnn 1.0 by pnnx",
        source="measured on the wheels ncnn 1.0.20261020 and pnnx 20261020",
        static_shapes=True,
        io_dtypes=["float32"],
        notes=judged["notes"],
    )


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, {_NAME: profile()})
