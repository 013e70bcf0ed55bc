"""The builder writes one expression for every opset, typed at once, and aside."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphfix.authoring.building import Builder
from graphfix.authoring.workspace import Workspace
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.pipeline.model_files import load


def builder(opset: int, text: str = "y = Relu (x)", ir: int = 8) -> tuple[Builder, NodeView]:
    proto = onnx.parser.parse_model(
        f'<ir_version: {ir}, opset_import: ["": {opset}]>'
        f"g (float[2,3,1] x) => (float[2,3,1] y) {{ {text} }}"
    )
    model = load(proto)
    view = NodeView(model.graph.nodes[0])
    return Builder(Workspace(model), view), view


@pytest.mark.parametrize(("opset", "inputs"), [(11, 1), (12, 1), (13, 2), (17, 2)])
def test_axes_are_an_attribute_before_13_and_an_input_after(opset: int, inputs: int) -> None:
    build, view = builder(opset)
    value = build.Squeeze(view.need(0), axes=[2])
    node = value.producer
    assert node is not None
    assert len(node.inputs) == inputs
    assert node.has("axes") == (inputs == 1)
    assert value.shape == (2, 3)


def test_a_run_time_value_cannot_be_an_attribute() -> None:
    build, view = builder(11)
    axes = build.Shape(view.need(0))
    with pytest.raises(Refuse, match="'axes' must be a constant for Squeeze of opset 11"):
        build.Squeeze(view.need(0), axes=axes)


def test_python_numbers_take_the_dtype_of_the_first_value() -> None:
    build, view = builder(17)
    half = build.Cast(view.need(0), to=onnx.TensorProto.FLOAT16)
    product = build.Mul(half, 0.5)
    constant = product.producer.input(1) if product.producer else None
    assert constant is not None
    assert constant.dtype == np.dtype(np.float16)
    assert product.dtype == np.dtype(np.float16)


def test_numbers_to_choose_from_take_the_dtype_of_one_another() -> None:
    build, view = builder(17)
    x = view.need(0)
    chosen = build.Where(build.Less(x, 0.0), 0.0, x)
    assert chosen.dtype == np.float32
    with pytest.raises(Refuse, match="dtypes of the operands must be known"):
        build.Where(build.Less(x, 0.0), 0.0, 1.0)


def test_an_operator_that_the_opset_lacks_is_refused() -> None:
    build, view = builder(13)
    with pytest.raises(Refuse, match="opset 13 has no HardSwish"):
        build.HardSwish(view.need(0))


def test_an_attribute_that_the_opset_lacks_is_refused() -> None:
    build, view = builder(13)
    with pytest.raises(Refuse, match="allowzero"):
        build.Reshape(view.need(0), [6], allowzero=1)


def test_constants_are_nodes_where_ir_3_would_make_inputs_of_them() -> None:
    build, view = builder(8, ir=3)
    build.Add(view.need(0), 1.0)
    assert [node.op for node in build.nodes] == ["Constant", "Add"]
    assert build.constants == []


def test_nothing_in_the_graph_changes_while_building() -> None:
    build, view = builder(17)
    build.Mul(view.need(0), 2.0)
    assert len(view.need(0).consumers) == 1
    assert view.graph.initializers == []


def test_names_are_unique_over_the_whole_file() -> None:
    build, view = builder(17, "t = Relu (x)  y = Neg (t)")
    names = {build.Abs(view.need(0)).name for _ in range(3)}
    assert len(names) == 3


def test_a_loop_body_sees_the_values_around_it() -> None:
    build, view = builder(17)
    x = view.need(0)

    def make(inner: Builder, _: Value, condition: Value, state: Value) -> list[Value]:
        return [inner.Identity(condition), inner.Add(state, x)]

    body = build.body(
        [("i", 7, ()), ("c", 9, ()), ("s", 1, (2, 3, 1))],
        make,
    )
    (total,) = build.multi("Loop", np.array(3, np.int64), np.array(True), x, outputs=1, body=body)
    assert total.dtype == np.dtype(np.float32)


def test_the_length_of_a_shape_gives_the_rank() -> None:
    build, view = builder(17)
    sizes = build.Mul(build.Shape(view.need(0)), 1)
    assert build.Reshape(view.need(0), sizes).rank == 3
    zeros = build.ConstantOfShape(build.Concat(sizes, sizes, axis=0))
    assert zeros.shape == (None,) * 6


@pytest.mark.parametrize("opset", [1, 7, 8, 9])
def test_a_constant_of_a_file_without_initializers_has_its_type_at_once(opset: int) -> None:
    # The schema of Constant has floats only before opset 9, so that nothing infers the others.
    build, _ = builder(opset, ir=3)
    value = build.constant(np.array([[2, 0, 1]], np.int64))
    assert value.producer is not None
    assert value.producer.op == "Constant"
    assert value.elem_type == onnx.TensorProto.INT64
    assert value.shape == (1, 3)


@pytest.mark.parametrize("opset", [6, 7])
def test_opsets_below_7_are_told_that_an_operand_is_broadcast(opset: int) -> None:
    build, view = builder(opset)
    x = view.need(0)
    row = build.constant(np.ones((3, 1), np.float32))
    array = np.ones((3, 1), np.float32)
    for value in (build.Add(x, 1.0), build.Mul(2.0, x), build.Sub(x, row), build.Sub(x, array)):
        node = value.producer
        assert node is not None
        assert node.attr("broadcast", 0) == (opset < 7)
        if opset < 7:  # the second operand alone is broadcast
            assert node.need(0).tensor is x.tensor
    alike = build.Add(x, build.Relu(x)).producer
    assert alike is not None
    assert not alike.has("broadcast")


def test_what_opsets_below_7_cannot_broadcast_is_refused() -> None:
    build, view = builder(6)
    column = build.constant(np.ones((2, 1, 1), np.float32))
    scalar = build.constant(np.float32(1))
    wide = build.constant(np.ones(1, np.float32))
    for operands in ((1.0, view.need(0)), (view.need(0), column), (scalar, wide)):
        with pytest.raises(Refuse, match="Sub of opset 6 broadcasts a second operand of the last"):
            build.Sub(*operands)
