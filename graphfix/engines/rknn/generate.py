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

from graphfix.engines.measured import of_all_forms, operator_rows, profile_table, without
from graphfix.engines.versions import unpacked, write_profiles

FACTS = Path(__file__).parent / "facts"
_NAME = "rknn2.3"
_NEWEST = 19  # it refuses newer ones
# Measured with nothing but constants, or with axes and slopes that were drawn: rules judge them.
_RULED = (
    "ConstantOfShape",
    "LayerNormalization",
    "NonMaxSuppression",
    "NonZero",
    "Range",
    "ReduceLogSum",
    "ReduceSumSquare",
    "Shape",
    "Unique",
)
# Not asked about, for the models have inputs or outputs that it does not bind, and lacked by
# airockchip/rknn-toolkit2@59a913d doc/RKNNToolKit2_OP_Support-2.3.2.md; If was asked about by hand.
_UNTAKEN = (
    "Bernoulli",
    "BitShift",
    "DeformConv",
    "DynamicQuantizeLinear",
    "If",
    "Loop",
    "Multinomial",
    "Optional",
    "OptionalGetElement",
    "OptionalHasElement",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Scan",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SequenceMap",
    "SplitToSequence",
    "StringNormalizer",
    "TfIdfVectorizer",
)
# As graphfix.engines.rknn.rules.interface has it of others; outputs may be of others, too.
_BOUND = ("bool", "float16", "float32", "int32", "int64", "int8")
_NOTES = (
    "Measured in the simulator, built for the RK3588 in float16, with inputs of fixed sizes.",
    "What the NPU lacks is left to the CPU of the board, which the simulator plays as well.",
)


def profile() -> dict[str, Any]:
    """Return the table of the profile."""
    store = json.loads((FACTS / "kernels.json").read_text(encoding="utf-8"))
    known = unpacked(store, "2.3")
    ops = operator_rows(
        without(of_all_forms(known.get("refused", {}), _NEWEST), _RULED),
        without(of_all_forms(known.get("wrong", {}), _NEWEST), _RULED),
        _NEWEST,
    )
    ops |= {op: {"supported": False} for op in _UNTAKEN}
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
        notes=list(_NOTES),
    )


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, {_NAME: profile()})
