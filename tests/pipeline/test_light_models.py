"""The model without its big weights, which inference and the checker see."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, TensorProto, helper, numpy_helper

from graphfix import load, run
from graphfix.pipeline.validation import validity_of
from graphfix.testing import outputs_of

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def _branch(name: str, columns: int) -> GraphProto:
    return helper.make_graph(
        [helper.make_node("MatMul", ["x", "W"], ["t"]), helper.make_node("Shape", ["t"], ["s"])],
        name,
        [],
        [helper.make_tensor_value_info("s", INT64, [2])],
        [numpy_helper.from_array(np.ones((40, columns), np.float32), "W")],
    )


def same_name_in_two_branches() -> ModelProto:
    """Two branches, each with a big initializer W of its own shape."""
    node = helper.make_node(
        "If", ["c"], ["y"], then_branch=_branch("a", 50), else_branch=_branch("b", 60)
    )
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info("x", FLOAT, [2, 40]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", INT64, [2])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_weights_of_one_name_in_two_branches_keep_their_shapes() -> None:
    model = same_name_in_two_branches()
    after = run(model, passes=["fold-constants"], verify="off").model.to_proto()
    for condition, columns in ((True, 50), (False, 60)):
        feed = {"x": np.ones((2, 40), np.float32), "c": np.array(condition)}
        assert outputs_of(after, feed)["y"].tolist() == [2, columns]


def test_a_big_weight_that_a_body_outputs() -> None:
    def body(name: str) -> GraphProto:
        return helper.make_graph(
            [],
            name,
            [],
            [helper.make_tensor_value_info("W", FLOAT, [40, 50])],
            [numpy_helper.from_array(np.ones((40, 50), np.float32), "W")],
        )

    node = helper.make_node("If", ["c"], ["y"], then_branch=body("a"), else_branch=body("b"))
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", FLOAT, [40, 50])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    assert not validity_of(load(model)).checker
    assert not validity_of(load(model)).inference


def test_a_valid_file_of_ir_version_3_has_no_complaint() -> None:
    small = onnx.parser.parse_model(
        '<ir_version: 3, opset_import: ["": 8]>'
        "g (float[2,3] x, float[3] w) => (float[2,3] y) <float[3] w = {1, 2, 3}>"
        "{ y = Add (x, w) }"
    )
    assert validity_of(load(small)).checker == ""
    big = ModelProto()
    big.CopyFrom(small)
    big.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.ones(5000, np.float32), "w"))
    for info, sizes in ((big.graph.input[0], (2, 5000)), (big.graph.input[1], (5000,))):
        info.CopyFrom(helper.make_tensor_value_info(info.name, FLOAT, sizes))
    big.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", FLOAT, (2, 5000)))
    assert validity_of(load(big)).checker == ""
