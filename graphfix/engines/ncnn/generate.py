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

from graphfix.engines.measured import operator_rows, profile_table, whole_forms
from graphfix.engines.versions import unpacked, write_profiles

FACTS = Path(__file__).parent / "facts" / "kernels.json"
_NAME = "ncnn1.0"
_NEWEST = 26  # the newest opset that was asked for
# What these do depends on attributes and on what is next to them, which rules judge.
_RULED = (
    "Cast",
    "Concat",
    "DepthToSpace",
    "Dropout",
    "Flatten",
    "Gather",
    "GRU",
    "GridSample",
    "Identity",
    "LSTM",
    "LayerNormalization",
    "MaxPool",
    "Pad",
    "RNN",
    "ReduceSumSquare",
    "Resize",
    "Softmax",
    "Transpose",
    "Upsample",
)
# No layer of their own: right in models that hold others, or with inputs that were not drawn.
_RIGHT_NEXT_TO = frozenset(
    {"Dropout", "GRU", "Gather", "Identity", "LSTM", "LayerNormalization", "RNN", "Upsample"}
)
_NOTES = (
    "Measured on up to four models of each form in float32, with inputs of fixed sizes, converted"
    " by pnnx 20261020 without half precision and run in the wheel on the CPU.",
)


def profile() -> dict[str, Any]:
    """Return the table of the profile: an operator of which no form was right is not taken."""
    known = unpacked(json.loads(FACTS.read_text(encoding="utf-8")), "1.0")
    right = _RIGHT_NEXT_TO | {form.split()[0] for form in known["right"]}
    ops = operator_rows(
        whole_forms(known["refused"], _RULED),
        whole_forms(known["wrong"], _RULED),
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
        notes=list(_NOTES),
    )


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, {_NAME: profile()})
