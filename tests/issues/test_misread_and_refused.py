"""What is misread in silence, or refused for its form: rows 9, 15, 16, 26, 27, 29, 30, 33, 34, 40
and 42 to 45.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import outputs_of
from tests.issues.rows import Row, check_row, name_of

ROWS = [
    Row(
        "9",
        "trt8.6",
        "(float[1, 2] x) => (y) { first = Constant <value = int64 {0}> ()"
        "  one = Constant <value = int64 {1}> ()  s = Shape (x)  d = Gather (s, first)"
        "  c = Equal (d, one)  y = If (c) <then_branch = t () => (a) "
        "{ ax = Constant <value = int64[1] {0}> ()  a = Squeeze (x, ax) }, "
        "else_branch = e () => (b) { b = Identity (x) }> }",
        "IIfConditionalOutputLayer inputs must have the same shape. Shapes are [",
        "shape:If.branches",
        ("if-elimination",),
    ),
    Row(
        "15",
        "trt8.6",
        "(float[4] x) => (float[4] y) <float s = {0.1}, uint8 z = {128}> "
        "{ q = QuantizeLinear (x, s, z)  d = DequantizeLinear (q, s, z)  y = Relu (d) }",
        "shiftIsAllZeros(zeroPoint) && ",
        "attr:QuantizeLinear.zero_point",
        ("uint8-pair-to-int8",),
        opset=13,
    ),
    Row(
        "16",
        "trt8.6",
        "(float[1, 4100] x) => (float[1, 4000] y, int64[1, 4000] i) <int64[1] k = {4000}> "
        "{ y, i = TopK (x, k) }",
        "TopK: K exceeds the maximum value allowed (3840).",
        "attr:TopK.k",
        ("topk-in-pieces",),
        opset=13,
    ),
    Row(
        "26",
        "trt8.6",
        "(float[2, 3] x) => (float[2, 1] y) <int64[1] a = {1}> { y = ReduceMax (x, a) }",
        "",
        "form:ReduceMax.axes-input",
        ("opset",),
        opset=18,
    ),
    Row(
        "27",
        "trt8.6",
        "(float[1, 1, 3, 3] x, float[1, 2, 2, 2] g) => (float[1, 1, 2, 2] y) "
        '{ y = GridSample <mode = "linear"> (x, g) }',
        "",
        "form:GridSample.mode=linear",
        opset=20,
    ),
    Row(
        "29",
        "trt8.6",
        "(float[3] x, float[2] u) => (float[3] y) <int64[2, 1] i = {0, 2}> "
        '{ y = ScatterND <reduction = "add"> (x, i, u) }',
        "",
        "attr:ScatterND.reduction=add",
        ("scatter-reduction-elimination",),
        opset=16,
    ),
    Row(
        "29",
        "trt8.6",
        "(float[3] x, float[2] u) => (float[3] y) <int64[2] i = {1, 1}> "
        '{ y = ScatterElements <axis = 0, reduction = "add"> (x, i, u) }',
        "",
        "attr:ScatterElements.reduction=add",
        opset=16,
    ),
    Row(
        "30",
        "trt8.6",
        "(float[7] x) => (float[4] y, float[3] z) { y, z = Split <num_outputs = 2> (x) }",
        "",
        "form:Split.uneven",
        ("split-sizes-explicit",),
        opset=18,
    ),
    Row(
        "34",
        "trt8.6",
        "(float[1, 1, H, W] x) => (float[1, 1, H2, W2] y) <float[4] f = {1, 1, 1.5, 1.5}> "
        "{ s = Shape (x)  a = Cast <to = 1> (s)  b = Mul (a, f)  r = Relu (b)"
        '  n = Cast <to = 7> (r)  y = Resize <mode = "nearest", '
        'coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"> (x, , , n) }',
        "cannot be used to compute a shape tensor",
        "shape:Relu.shape-tensor",
        refused="",
        opset=13,
    ),
    Row(
        "40",
        "trt8.4",
        "(float[1, 1, 4, 4] x) => (float[1, 1, 8, 8] y) <float[4] s = {1, 1, 2, 2}> "
        '{ y = Resize <mode = "cubic"> (x, , s) }',
        "This version of TensorRT does not support cubic interpolation!",
        "attr:Resize.mode=cubic",
        ("resize-cubic-to-matmul",),
        opset=13,
    ),
    Row(
        "42",
        "trt8.6",
        "(float[2] x) => (float[2] y) { y = local.Twice (x) }",
        "No importer registered for op: Twice.",
        "scope:local-function",
        ("inline-functions",),
        imports=', "local": 1',
        functions='<domain: "local", opset_import: ["": 17]> Twice (a) => (b) { b = Add (a, a) }',
    ),
    Row(
        "44",
        "trt8.5",
        "(float16[2, 4] x) => (float16[2, 4] y) <float16[4] s = {1, 2, 3, 4}> "
        "{ y = LayerNormalization (x, s) }",
        "No importer registered for op: LayerNormalization.",
        "op:LayerNormalization",
        ("layer-normalization-to-arithmetic",),
        opset=18,
        rtol=2e-3,
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_row(row: Row) -> None:
    check_row(row)


def test_33_random_numbers_of_a_folded_shape() -> None:
    """The input of RandomNormalLike becomes a constant by folding, which the parser refuses."""
    text = (
        '<ir_version: 8, opset_import: ["": 13]> g (float[500] x) => (float[500] y) '
        "<float[500] zeros> { r = RandomNormalLike <mean = 2.0, scale = 0.5> (zeros)"
        "  y = Add (r, x) }"
    )
    model = onnx.parser.parse_model(text.replace(" <float[500] zeros>", ""))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(500, np.float32), "zeros"))
    (found,) = [f for f in graphfix.check(model, "trt8.6") if f.blocks]
    assert found.feature == "form:RandomNormalLike.constant"
    assert '(inputs.at(0).is_tensor()) && "The input tensor cannot be an' in found.engine_text
    result = graphfix.run(model, "trt8.6")
    assert not [f for f in result.report.findings_after if f.blocks]
    proto = result.model.to_proto()
    assert [n.op_type for n in proto.graph.node] == ["RandomNormal", "Add"]
    drawn = outputs_of(proto, {"x": np.zeros(500, np.float32)})["y"]
    assert abs(drawn.mean() - 2.0) < 0.2
    assert abs(drawn.std() - 0.5) < 0.1


@pytest.mark.parametrize(("opset", "other"), [(13, 18), (18, 13)])
def test_43_split_has_its_sizes_after_every_conversion(opset: int, other: int) -> None:
    """Split-18 needs ``split`` or ``num_outputs``, which Split-13 may leave out."""
    amount = "<num_outputs = 2>" if opset == 18 else ""
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": {opset}]> g (float[4] x) => (float[2] y, float[2] z) '
        f"{{ y, z = Split {amount} (x) }}"
    )
    result = graphfix.run(model, opset=other)
    assert result.exit_code == 0
    proto = result.model.to_proto()
    onnx.checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    assert proto.opset_import[0].version == other
    given = outputs_of(proto, {"x": np.arange(4, dtype=np.float32)})
    assert {name: value.tolist() for name, value in given.items()} == {"y": [0, 1], "z": [2, 3]}


@pytest.mark.parametrize("opset", [17, 18])
def test_44_the_forms_of_the_result_are_those_of_its_opset(opset: int) -> None:
    """A body of opset 18 in a model of another opset gave ReduceMean an axes attribute too much."""
    (row,) = [row for row in ROWS if row.number == "44"]
    model = row.model
    model.opset_import[0].version = opset
    proto = graphfix.run(model, "trt8.5").model.to_proto()
    for node in proto.graph.node:
        if node.op_type == "ReduceMean":
            assert proto.opset_import[0].version < 18
            assert [a.name for a in node.attribute].count("axes") == 1


def test_45_a_network_without_outputs() -> None:
    """The text follows every failure; alone it means that the graph gives nothing out."""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => () { y = Relu (x) }'
    )
    (found,) = [f for f in graphfix.check(model, "trt8.6") if f.blocks]
    assert found.engine_text == "Network must have at least one output"
    assert found.removed_by == ()


def test_every_row_has_a_test() -> None:
    """Rows 1 to 45, and 8b: all of the failures that the project was built from."""
    from tests.issues import test_constants_and_shapes, test_element_types, test_missing_operators

    families = (test_constants_and_shapes, test_element_types, test_missing_operators)
    numbers = {row.number for family in families for row in family.ROWS}
    numbers |= {row.number for row in ROWS} | {"33", "43", "45"}
    assert numbers == {*map(str, range(1, 46)), "8b"}
