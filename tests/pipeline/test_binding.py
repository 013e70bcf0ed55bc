"""Sizes that the user gives: what they are bound in, and what stays as it was."""

from __future__ import annotations

import onnx
import pytest

import graphfix
from graphfix.errors import UsageError
from graphfix.report import Verdict


def declared(model: onnx.ModelProto) -> dict[str, list[int | str]]:
    return {
        info.name: [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim]
        for info in model.graph.output
    }


def test_an_output_that_says_a_wrong_symbol_is_declared_as_it_is() -> None:
    text = """
    <ir_version: 8, opset_import: ["": 17]>
    g (float[batch,3] x) => (float[batch,5] y, float[batch,3] z) <float[1,5] c = {1,2,3,4,5}> {
        m = ReduceMax <keepdims = 0> (x)
        y = Add (c, m)
        z = Relu (x)
    }
    """
    result = graphfix.run(onnx.parser.parse_model(text), "tract0.23", shapes={"x": (2, 3)})
    assert result.report.verification.status is Verdict.EQUAL
    changes = [(change.name, change.old, change.new) for change in result.report.io_changes]
    assert changes == [
        ("x", "[batch, 3]", "[2, 3]"),
        ("y", "[batch, 5]", "[1, 5]"),
        ("z", "[batch, 3]", "[2, 3]"),
    ]
    assert declared(result.model.to_proto()) == {"y": [1, 5], "z": [2, 3]}


def test_an_output_that_says_a_size_of_its_first_export_is_declared_as_it_is() -> None:
    text = """
    <ir_version: 8, opset_import: ["": 17]>
    g (float[N,M] x) => (float[N,7] y) { y = Relu (x) }
    """
    result = graphfix.run(onnx.parser.parse_model(text), "tract0.23", shapes={"x": (2, 3)})
    assert result.exit_code == 0
    assert declared(result.model.to_proto()) == {"y": [2, 3]}


def decoder() -> onnx.ModelProto:
    """A mask whose length is called the sum of those of the past and of the new tokens."""
    text = """
    <ir_version: 8, opset_import: ["": 17]>
    g (float[N,2] new, float[P,2] past, float[M] mask) => (float[M,2] present) {
        all = Concat <axis = 0> (past, new)
        axes = Constant <value = int64[1] {1}> ()
        column = Unsqueeze (mask, axes)
        present = Mul (all, column)
    }
    """
    model = onnx.parser.parse_model(text)
    for info in (*model.graph.input, *model.graph.output):
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_param == "M":
                dim.dim_param = "P + N"
    return model


@pytest.mark.parametrize(
    "shapes",
    [
        {"new": (3, 2), "mask": (7,)},
        {"past": (4, 2), "mask": (7,)},
        {"past": (4, 2), "new": (3, 2)},
    ],
)
def test_a_part_of_a_sum_follows_from_the_others(shapes: dict[str, tuple[int, ...]]) -> None:
    result = graphfix.run(decoder(), "trt8", shapes=shapes)
    assert result.exit_code == 0
    sizes = {tensor.name: tensor.shape for tensor in result.model.graph.inputs}
    assert sizes == {"new": (3, 2), "past": (4, 2), "mask": (7,)}
    assert declared(result.model.to_proto()) == {"present": [7, 2]}
    assert {change.name for change in result.report.io_changes} == {
        "new",
        "past",
        "mask",
        "present",
    }


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ({"new": (3, 2), "mask": (2,)}, "cannot be 2: its parts are 3 together"),
        ({"new": (3, 2), "past": (4, 2), "mask": (8,)}, "cannot be 8: its parts are 7 together"),
    ],
)
def test_a_sum_that_its_parts_contradict_is_refused(
    shapes: dict[str, tuple[int, ...]], said: str
) -> None:
    with pytest.raises(graphfix.UsageError, match=said):
        graphfix.run(decoder(), "trt8", shapes=shapes)


def test_a_name_with_a_plus_whose_parts_are_no_symbols_is_a_name() -> None:
    model = decoder()
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "before"
    result = graphfix.run(model, "trt8", shapes={"new": (3, 2), "mask": (7,)}, verify="off")
    assert result.model.graph.inputs[1].shape == ("before", 2)


def test_sizes_that_a_constant_contradicts_are_a_usage_error() -> None:
    """The size of r is computed from that of x; p has four columns for it."""
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[N,H] x) => (float[N,A] y)
    <int64[1] one = {1}, int64[1] zero = {0}, float[1,4] p = {1, 2, 3, 4}> {
      s = Shape (x) n = Slice (s, zero, one) k = ReduceProd <keepdims = 1> (s) q = Div (k, n)
      t = Concat <axis = 0> (n, q) m = Mod <fmod = 1> (x, x) r = Reshape (m, t) y = Add (r, p)
    }"""
    with pytest.raises(UsageError, match="cannot have inputs of these sizes"):
        graphfix.run(onnx.parser.parse_model(text), "trt8", shapes={"x": (2, 5)}, verify="off")
    fitting = graphfix.run(
        onnx.parser.parse_model(text), "trt8", shapes={"x": (2, 4)}, verify="off"
    )
    assert fitting.exit_code == 0
