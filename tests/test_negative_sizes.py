"""Files that write -1 where a size is not known."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import graphfix
from graphfix.report import Verdict


def convolution(rows: int | None) -> onnx.ModelProto:
    """Return Relu and Conv over rows; -1 or nothing for their number."""
    weight = numpy_helper.from_array(np.ones((2, 4, 3), np.float32), "w")
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
        helper.make_node("Conv", ["t", "w"], ["c"], kernel_shape=[3]),
        helper.make_node("Mod", ["c", "two"], ["y"], fmod=1),
    ]
    two = numpy_helper.from_array(np.array(2, np.float32), "two")
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
        for name, sizes in (("x", [1, rows, 4]), ("y", [1, 2, rows]), ("t", [1, 4, rows]))
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:2], [weight, two], value_info=ends[2:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def test_it_is_repaired_as_one_that_names_no_size() -> None:
    result = graphfix.run(convolution(-1), "trt8.6")
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)
    named = graphfix.run(convolution(None), "trt8.6")
    assert [n.op_type for n in result.model.to_proto().graph.node] == [
        n.op_type for n in named.model.to_proto().graph.node
    ]


def test_what_is_written_says_that_the_size_is_not_known() -> None:
    written = graphfix.run(convolution(-1), "trt8.6").model.to_proto().graph
    for info in (*written.input, *written.output, *written.value_info):
        assert all(dim.dim_value >= 0 for dim in info.type.tensor_type.shape.dim), info.name
    assert not written.input[0].type.tensor_type.shape.dim[1].HasField("dim_value")


def test_a_file_with_a_negative_size_is_not_changed_in_memory() -> None:
    given = convolution(-1)
    graphfix.check(given, "trt8.6")
    assert given.graph.input[0].type.tensor_type.shape.dim[1].dim_value == -1
