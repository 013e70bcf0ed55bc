"""Rows 1 to 45, and 8b: all of the failures that the project was built from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import outputs_of
from tests.issues.rows import Array, Numbers, Row, check_row, name_of, rows_in

# Values that have to be constants, and shapes; element types that the engine lacks; operators that
# it lacks; what is misread in silence, or refused for its form.
FAMILIES = ("constants_and_shapes", "element_types", "missing_operators", "misread_and_refused")
ROWS = [row for family in FAMILIES for row in rows_in(family)]


def rows(number: str) -> list[Row]:
    return [row for row in ROWS if row.number == number]


def pooled(feed: Mapping[str, Array]) -> dict[str, Array]:
    """Adaptive average pooling of 7 x 5 to 3 x 3, cell by cell."""
    x = feed["x"]

    def edges(size: int) -> list[slice]:
        return [slice(i * size // 3, -(-(i + 1) * size // 3)) for i in range(3)]

    cells = [[x[..., r, c].mean((2, 3)) for c in edges(5)] for r in edges(7)]
    return {"y": np.moveaxis(np.array(cells), (0, 1), (2, 3)).astype(np.float32)}


# The numbers of what onnxruntime cannot run as it is. Every point of the grid is a corner, or the
# middle of a pixel, in reverse order and without align_corners.
EXPECTED: dict[str, Numbers] = {
    "op:aten::adaptive_avg_pool2d": pooled,
    "op:aten::linalg_inv": lambda feed: {
        "y": np.linalg.inv(feed["x"].astype(np.float64)).astype(np.float32)
    },
    "op:org.pytorch._caffe2::AliasWithName": lambda feed: {"y": np.maximum(feed["x"], 0)},
    "op:aten::grid_sampler": lambda feed: {"y": feed["x"][:, :, ::-1, ::-1]},
}


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_row(row: Row) -> None:
    check_row(row, EXPECTED.get(row.feature))


def test_every_row_has_a_test() -> None:
    numbers = {row.number for row in ROWS} | {"33", "43", "45"}
    assert numbers == {*map(str, range(1, 46)), "8b"}


def test_an_operator_of_the_users_plugin_is_a_note() -> None:
    (row,) = rows("7")
    arguments: dict[str, Any] = {"assume_ops": ["custom::DCN"]}
    found = graphfix.check(row.model, row.target, **arguments)
    assert [(f.rule, f.severity) for f in found] == [("assumed-operator", "note")]


def test_wide_integers_are_ranked_approximately_and_said_so() -> None:
    result = check_row(rows("39")[-1])
    (site,) = next(o for o in result.report.outcomes if o.pass_id.startswith("topk")).sites
    assert site.accuracy == "approximate"
    assert site.note == "integers beyond 2^24 are rounded before they are ranked"


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
    (row,) = rows("44")
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
