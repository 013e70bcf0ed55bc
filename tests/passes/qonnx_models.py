"""Models of QONNX that its passes are tried on, and what these give."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from graphfix.testing import outputs_of, run_pass
from tests.passes.brevitas_models import quantizer

Array = np.ndarray[Any, Any]
IMAGE = np.arange(-30, 30, dtype=np.float32).reshape(1, 2, 5, 6)


def model_of(op: str, shape: Sequence[int | str], rank: int = 4, **attributes: Any) -> Any:
    model = quantizer(op, [], shape=shape, **attributes)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [f"y{a}" for a in range(rank)])
    model.graph.output[0].CopyFrom(result)
    return model


def given(name: str, model: onnx.ModelProto, x: Array) -> Array:
    y: Array = outputs_of(run_pass(name, model).after, {"x": x})["y"]
    return y
