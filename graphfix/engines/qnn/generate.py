"""The QNN profile, made from what the real provider takes, and its simulation computes.

    python -m graphfix.engines.qnn.generate

Facts: ``facts/kernels.json`` (`benchmarks.engines.kernels --opset 26` and `.facts`) and
``facts/constants.json`` (`benchmarks.engines.parameters`). The opsets, and whether local
functions are read, are what `benchmarks.engines.limits` said.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphfix.engines.measured import of_all_forms, operator_rows, profile_table, without
from graphfix.engines.versioned import unpacked, write_profiles

FACTS = Path(__file__).parent / "facts"
_NAME = "qnn2"
_NEWEST = 26  # the newest opset that was asked for
# Refused where nothing follows, alone and not within Gelu, or with a single operand.
_TAKEN = ("Dropout", "Erf", "Max")
# Numbers that were drawn lie beside those of float16 by chance, one index was negative, and Log was
# asked about numbers below 0: the HTP has no NaN.
_UNSURE = ("Ceil", "Log", "Mish", "OneHot", "Softplus")
# Asked about in few forms or none, by hand or by node tests of ONNX, of which it took none.
_UNTAKEN = (
    "Attention",
    "Bernoulli",
    "BlackmanWindow",
    "CausalConvWithState",
    "CenterCropPad",
    "DeformConv",
    "FlexAttention",
    "GlobalLpPool",
    "HammingWindow",
    "HannWindow",
    "If",
    "ImageDecoder",
    "LinearAttention",
    "Loop",
    "MaxRoiPool",
    "MelWeightMatrix",
    "Multinomial",
    "Optional",
    "OptionalGetElement",
    "OptionalHasElement",
    "QLinearConv",
    "QLinearMatMul",
    "RNN",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "ReduceL1",
    "ReduceSumSquare",
    "RegexFullMatch",
    "ReverseSequence",
    "RotaryEmbedding",
    "Scan",
    "Scatter",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SequenceMap",
    "Shrink",
    "Sinh",
    "Size",
    "SoftmaxCrossEntropyLoss",
    "Softsign",
    "SplitToSequence",
    "StringConcat",
    "StringNormalizer",
    "StringSplit",
    "TensorScatter",
    "TfIdfVectorizer",
    "Trilu",
    "Unique",
)
# All but float64, which no Cast, Reshape or Transpose takes from an input or gives to an output.
_BOUND = (
    "bool",
    "float16",
    "float32",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)
_NOTES = (
    "Measured in the simulation of the HTP of a Snapdragon X Elite, in float16, with inputs of"
    " fixed sizes and no node left to the CPU: onnxruntime itself would leave some there.",
)


def profile() -> dict[str, Any]:
    """Return the table of the profile."""
    store = json.loads((FACTS / "kernels.json").read_text(encoding="utf-8"))
    known = unpacked(store, "2")
    ops = operator_rows(
        without(of_all_forms(known.get("refused", {}), _NEWEST), _TAKEN),
        without(of_all_forms(known.get("wrong", {}), _NEWEST), _UNSURE),
        _NEWEST,
    )
    ops |= {op: {"supported": False} for op in _UNTAKEN if op in ops}
    return profile_table(
        "qnn",
        "2",
        ops,
        _NEWEST,
        title="QNN HTP 2",
        source="measured with onnxruntime-qnn 2.7.0, which simulates an HTP on the CPU",
        functions=True,
        static_shapes=True,
        io_dtypes=list(_BOUND),
        constants=FACTS / "constants.json",
        notes=list(_NOTES),
    )


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, {_NAME: profile()})
