"""The table of operators against the schemas of onnx and the values of its node tests."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto
from onnx.reference import ReferenceEvaluator

from graphfix.ir.schemas import decode_attribute
from graphfix.operators.row import Motion, Operator
from graphfix.operators.table import AXES, MAY_DRAW, OPERATORS, PLACES, RANDOM, SIZES
from tests.node_tests import node_tests

Array = np.ndarray[Any, Any]
Example = tuple[NodeProto, list[Array], list[Array]]
EMPTY = np.zeros(0)


def schemas(name: str) -> list[onnx.defs.OpSchema]:
    return [s for s in onnx.defs.get_all_schemas_with_history() if (s.name, s.domain) == (name, "")]


@cache
def examples() -> dict[str, list[Example]]:
    """Return the node tests of onnx with one node and plain tensors, by operator."""
    found: dict[str, list[Example]] = {}
    for test in node_tests():
        nodes = test.model.graph.node
        if len(nodes) != 1 or nodes[0].op_type not in OPERATORS or nodes[0].domain:
            continue
        for inputs, outputs in test.data_sets:
            if any(value is None or isinstance(value, list) for value in (*inputs, *outputs)):
                continue
            given = dict(zip([i.name for i in test.model.graph.input], inputs, strict=True))
            placed = [np.asarray(given.get(name, EMPTY)) for name in nodes[0].input]
            made = [np.asarray(value) for value in outputs]
            found.setdefault(nodes[0].op_type, []).append((nodes[0], placed, made))
    return found


def plain(array: Array) -> list[Any]:
    """Return the elements, NaN as one number, in their order."""
    flat = array.reshape(-1)
    if flat.dtype.kind in "fV":
        flat = np.nan_to_num(flat.astype(np.float64), nan=12345.5)
    return list(flat.tolist())


def reported(row: Operator, node: NodeProto, inputs: list[Array]) -> list[Array]:
    """Return the inputs that the elements come from."""
    return [inputs[place] for place in row.data_places(len(inputs)) if place < len(inputs)]


def reduces(node: NodeProto) -> bool:
    attributes = {a.name: decode_attribute(a) for a in node.attribute}
    return attributes.get("reduction", "none") not in ("none", b"none")


def moves_as_reported(motion: Motion, data: list[Array], outputs: list[Array]) -> bool:
    came = [element for array in data for element in plain(array)]
    gone = [element for array in outputs for element in plain(array)]
    if motion is Motion.SAME:
        return came == gone
    if motion in (Motion.ORDERED, Motion.JOINED):
        return sorted(came) == sorted(gone)
    if motion is Motion.CHOSEN:
        return set(gone) <= {*came, 0}
    return set(gone) <= set(came)


MOVING = [row for row in OPERATORS.values() if row.motion is not None]


@pytest.mark.parametrize("row", MOVING, ids=lambda row: row.name)
def test_elements_are_moved_as_the_row_says(row: Operator) -> None:
    assert row.motion is not None
    seen = 0
    for node, inputs, outputs in examples()[row.name]:
        data = reported(row, node, inputs)
        if reduces(node) or not all(array.size for array in data[:1]):
            continue
        given = outputs[:1] if row.motion is Motion.CHOSEN else outputs
        assert moves_as_reported(row.motion, data, given), (row.name, node)
        seen += 1
    assert seen, row.name


@pytest.mark.parametrize(
    "row",
    [row for row in OPERATORS.values() if (row.low, row.high) != (-np.inf, np.inf)],
    ids=lambda row: row.name,
)
def test_results_lie_in_their_range(row: Operator) -> None:
    for _, _, outputs in examples()[row.name]:
        numbers = outputs[0].astype(np.float64)
        numbers = numbers[~np.isnan(numbers)]
        assert ((numbers >= row.low) & (numbers <= row.high)).all()


@pytest.mark.parametrize("name", sorted(PLACES))
def test_sizes_and_positions_are_not_negative(name: str) -> None:
    ran = [outputs[PLACES[name]] for _, _, outputs in examples()[name]]
    assert ran
    assert all((places >= 0).all() and places.dtype == np.int64 for places in ran)


@pytest.mark.parametrize(
    "row", [row for row in OPERATORS.values() if row.elementwise], ids=lambda row: row.name
)
def test_elementwise_results_have_the_broadcast_shape(row: Operator) -> None:
    ran = examples()[row.name]
    assert ran
    for _, inputs, outputs in ran:
        shapes = [array.shape for array in inputs if array is not EMPTY]
        assert outputs[0].shape == np.broadcast_shapes(*shapes)


@pytest.mark.parametrize("row", OPERATORS.values(), ids=lambda row: row.name)
def test_a_row_fits_the_schemas(row: Operator) -> None:
    forms = schemas(row.name)
    assert forms, f"onnx has no {row.name}"
    newest = max(forms, key=lambda form: form.since_version)
    variadic = str(newest.inputs[-1].option).endswith("Variadic") if newest.inputs else False
    for place in (*row.data, *row.sizes):
        assert place < len(newest.inputs) or row.name == "Upsample"
    assert bool(row.data) == (row.motion is not None and not variadic)
    if row.places is not None:
        assert newest.outputs[row.places].type_str in ("tensor(int64)", "I", "T1")


def test_what_the_schemas_call_axes_is_where_the_table_has_it() -> None:
    named = {
        schema.name: place
        for schema in onnx.defs.get_all_schemas()
        for place, parameter in enumerate(schema.inputs)
        if parameter.name == "axes" and not schema.domain
    }
    others = {"Pad", "Slice"}  # names of axes next to bounds of them
    assert {op: place for op, place in named.items() if op not in others} == AXES


def test_the_inputs_of_sizes_are_numbers() -> None:
    for name, places in SIZES.items():
        (schema,) = [s for s in onnx.defs.get_all_schemas() if (s.name, s.domain) == (name, "")]
        for place in places:
            kinds = schema.inputs[place].types
            assert any("int64" in kind or "float" in kind for kind in kinds), (name, place)


def test_what_draws_is_what_takes_a_seed() -> None:
    seeded = {
        schema.name
        for schema in onnx.defs.get_all_schemas()
        if "seed" in schema.attributes and not schema.domain
    }
    assert seeded == MAY_DRAW
    assert MAY_DRAW - {"Dropout"} == RANDOM


@pytest.mark.parametrize(
    "row", [row for row in OPERATORS.values() if row.commutes], ids=lambda row: row.name
)
def test_two_operands_of_what_commutes_may_are_the_other_way_round(row: Operator) -> None:
    ran = [example for example in examples()[row.name] if len(example[1]) == 2]
    assert ran
    for node, inputs, outputs in ran:
        graph = onnx.helper.make_graph(
            [node],
            "g",
            [onnx.helper.make_tensor_value_info(n, 0, None) for n in node.input],
            [onnx.helper.make_tensor_value_info(n, 0, None) for n in node.output],
        )
        opsets = [onnx.helper.make_opsetid("", onnx.defs.onnx_opset_version())]
        evaluator: Any = ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=opsets))
        (turned,) = evaluator.run(None, dict(zip(node.input, reversed(inputs), strict=True)))
        np.testing.assert_array_equal(np.asarray(turned), outputs[0])
