"""texts-and-maps-refused: why, and what to do before the model."""

from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from graphfix.testing import assert_refused

PASS = "texts-and-maps-refused"
MAP = helper.make_map_type_proto(
    TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])
)


def model_of(op: str, kind: onnx.TypeProto, result: int, **attributes: Any) -> onnx.ModelProto:
    node = helper.make_node(op, ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    y = helper.make_tensor_value_info("y", result, ["N", "C"])
    graph = helper.make_graph([node], "g", [helper.make_value_info("x", kind)], [y])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


@pytest.mark.parametrize(
    ("op", "given"),
    [("CastMap", {"cast_to": "TO_FLOAT"}), ("DictVectorizer", {"int64_vocabulary": [1, 0]})],
)
def test_maps(op: str, given: dict[str, Any]) -> None:
    model = model_of(op, MAP, TensorProto.FLOAT, **given)
    assert_refused(PASS, model, "a map is read, which is no tensor: make the row")


def test_texts() -> None:
    texts = helper.make_tensor_type_proto(TensorProto.STRING, ["N", "C"])
    given: dict[str, Any] = {"cats_strings": ["a"], "cats_int64s": [1]}
    model = model_of("CategoryMapper", texts, TensorProto.INT64, **given)
    assert_refused(PASS, model, "look them up before or behind the model")
