"""Replace one_hot by comparing numbers of classes with all of them.

What it does: Compares each number with 0, 1, ... up to the number of classes; where PyTorch is set
    to find that out, up to the largest number that is there.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write this too, and no engine has an importer for it.
Before: y = org.pytorch.aten.ATen <operator = "one_hot"> (x, 3)             # x: int64[2]
After: y = Cast (Equal (Unsqueeze (x), [0, 1, 2]))
When it refuses: The rank is unknown, the number of classes is computed at run time, or it is -1
    below opset 11, which brought Range.
Accuracy: Exact. A number that is no class, for which PyTorch gives an error, gives zeros.
References: pytorch/pytorch aten/src/ATen/native/Onehot.cpp
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function, ranked

_MOST_CLASSES = 1 << 16  # that the numpy model makes


def _classes(call: Call | ArrayCall) -> int | None:
    """Return how many classes are given; None where the largest number decides."""
    given = int(call.number("num_classes", -1))
    if given < -1:
        raise Refuse(f"num_classes must be at least -1; it is {given}")
    return given if given >= 0 else None


def _one_hot(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    classes, lined = _classes(call), build.Unsqueeze(x, axes=[rank])
    if classes is not None:
        every = build.constant(np.arange(classes, dtype=np.int64))
    else:
        build.need_opset(11, ", which has Range")
        most = build.ReduceMax(build.Reshape(x, [-1]), axes=[0], keepdims=0)
        every = build.Range(np.int64(0), build.Add(most, np.int64(1)), np.int64(1))
    return build.Cast(build.Equal(lined, every), to=TensorProto.INT64)


def _model(call: ArrayCall) -> Any:
    x, classes = call.need("self"), _classes(call)
    if not x.size or x.min() < 0 or x.max() >= (_MOST_CLASSES if classes is None else classes):
        raise Refuse("the numbers must be classes; they are not")  # as PyTorch does
    every = np.arange(int(x.max()) + 1 if classes is None else classes)
    return np.equal(x[..., None], every).astype(np.int64)


FAMILY = Family(
    {
        "one_hot": Function(
            ("self", "num_classes"),
            _one_hot,
            _model,
        )
    }
)


aten_one_hot = FAMILY.replaced(__name__, emits="Add Cast Equal Range ReduceMax Reshape Unsqueeze")
