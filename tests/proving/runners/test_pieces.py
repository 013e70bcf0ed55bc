"""A model that is run in pieces computes what it computes as a whole."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import parser

from graphfix.proving.runners import pieces
from graphfix.proving.runners.engine import MissingOperator
from graphfix.proving.runners.evaluators import GivenEvaluators, OpKey
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.runners.pieces import PiecewiseEngine
from graphfix.proving.runners.reference_engine import ReferenceEngine
from graphfix.proving.values.kinds import Array, Feed

TEXT = """
<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
g (float[1,2,3,4] x) => (float[1,2,6,8] y) {
    first = Constant<value = int64[1] {0}>()
    last = Constant<value_ints = [2]>()
    axis = Constant<value = int64[1] {0}>()
    wanted = Constant<value = int64[2] {6, 8}>()
    h = own.Twice(x)
    whole = Shape(h)
    front = Slice(whole, first, last, axis)
    sizes = Concat<axis = 0>(front, wanted)
    y = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric",
               nearest_mode = "floor">(h, , , sizes)
}
"""


def twice(inputs: list[Array | None], _attributes: dict[str, object]) -> tuple[Array, ...]:
    value = inputs[0]
    assert value is not None
    return (value * 2,)


def test_constants_are_known_in_every_piece() -> None:
    """Inference takes the Slice of a Shape with unknown bounds for empty, and Resize refuses."""
    evaluators = GivenEvaluators({("own", "Twice"): twice})
    engine = PiecewiseEngine(parser.parse_model(TEXT), "", evaluators, {("own", "Twice")})
    x = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    found = np.asarray(engine.run({"x": x})["y"])
    np.testing.assert_array_equal(found, (2 * x).repeat(2, axis=2).repeat(2, axis=3))


def test_a_numpy_model_is_given_a_sequence_as_a_list_whatever_the_shapes() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    g (float[N] a, float[M, 2] b) => (float[] y) { s = SequenceConstruct (a, b)  y = own.Sum (s) }
    """

    def total(inputs: list[Any], _attributes: dict[str, object]) -> tuple[Array, ...]:
        (several,) = inputs
        assert isinstance(several, list)
        return (np.float32(sum(np.sum(one) for one in cast("list[Array]", several))) * np.ones(()),)

    evaluators = GivenEvaluators({("own", "Sum"): total})
    engine = PiecewiseEngine(parser.parse_model(text), "", evaluators, {("own", "Sum")})
    one, other = np.ones(3, np.float32), np.ones((4, 2), np.float32)
    assert np.asarray(engine.run({"a": one, "b": other})["y"]) == 11
    assert np.asarray(engine.run({"a": one, "b": other[:0]})["y"]) == 3


def test_a_part_of_a_shape_is_followed_with_the_rank_that_is_there() -> None:
    """Inference takes a part of the Shape of an unknown rank for empty, and Resize refuses."""
    text = """
    <ir_version: 8, opset_import: ["" : 18, "own" : 1]>
    g (float[N,2,P,Q] x) => (float[N,2,R,S] y)
    <int64 half = {2}, int64[1] flat = {-1}, int64[2] front = {1, 2},
     float[1,2,2,2] small = {1, 2, 3, 4, 5, 6, 7, 8}>
    {
        h = own.Twice(x)
        height = Shape <start = 2, end = 3> (h)
        width = Shape <start = 3, end = 4> (h)
        one = Squeeze (height)
        two = Squeeze (width)
        third = Div (one, half)
        fourth = Div (two, half)
        row = Reshape (third, flat)
        column = Reshape (fourth, flat)
        back = Concat <axis = 0> (row, column)
        sizes = Concat <axis = 0> (front, back)
        y = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric",
                    nearest_mode = "floor"> (small, , , sizes)
    }"""
    evaluators = GivenEvaluators({("own", "Twice"): twice})
    engine = PiecewiseEngine(parser.parse_model(text), "", evaluators, {("own", "Twice")})
    found = np.asarray(engine.run({"x": np.zeros((1, 2, 8, 12), np.float32)})["y"])
    small = np.arange(1, 9, dtype=np.float32).reshape(1, 2, 2, 2)
    np.testing.assert_array_equal(found, small.repeat(2, axis=2).repeat(3, axis=3))


def test_bfloat16_crosses_pieces_and_functions_are_run_whole() -> None:
    """onnxruntime has no MatMul of bfloat16, writes Softmax by ReduceMax, and outputs neither."""
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] x) => (float[2, 2] y) {
      q = Cast <to = 16> (x)  t = Transpose (q)  h = MatMul (q, t)  s = Softmax (h)
      y = Cast <to = 1> (s) }"""
    engine = PiecewiseEngine(parser.parse_model(text), "", GivenEvaluators({}), {("", "MatMul")})
    x = np.array([[1, 2, 3], [0, 1, 2]], dtype=np.float32)
    found = np.asarray(engine.run({"x": x})["y"])
    scores = np.exp(x @ x.T - (x @ x.T).max(axis=1, keepdims=True))
    np.testing.assert_allclose(found, scores / scores.sum(axis=1, keepdims=True), rtol=1e-2)


@pytest.mark.parametrize("image", ["float", "double", "float16"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_a_grid_of_doubles_is_sampled_by_a_kernel_as_the_reference_does(
    image: str, mode: str, padding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 16]>
        g ({image}[1,2,3,5] x, double[1,2,4,2] grid) => ({image}[1,2,2,4] y) {{
          y = GridSample <mode = "{mode}", padding_mode = "{padding}"> (x, grid) }}"""
    )
    rng = np.random.default_rng(5)
    kind = {"float": np.float32, "double": np.float64, "float16": np.float16}[image]
    feed: Feed = {
        "x": rng.normal(size=(1, 2, 3, 5)).astype(kind),
        "grid": rng.uniform(-1.3, 1.3, size=(1, 2, 4, 2)),
    }
    expected = np.asarray(ReferenceEngine(model, "", GivenEvaluators({})).run(feed)["y"])

    def never(*_: object) -> None:
        pytest.fail("the reference evaluator was asked")

    monkeypatch.setattr(pieces, "ReferenceEngine", never)
    engine = PiecewiseEngine(model, "", GivenEvaluators({}), {("", "GridSample")})
    found = np.asarray(engine.run(feed)["y"])
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(
        found, expected, rtol=1e-3 if image == "float16" else 1e-6, atol=1e-6
    )


def test_a_node_without_inputs_is_no_grid_sample() -> None:
    text = """<ir_version: 10, opset_import: ["" : 22]> g () => (bfloat16[2] y)
        { y = RandomNormal<shape = [2], dtype = 16>() }"""
    assert pieces._in_doubles(parser.parse_model(text)) is None  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("op", "known"),
    [("own.Other", False), ("com.microsoft.YieldOp", False), ("com.microsoft.Gelu", True)],
)
def test_an_operator_that_nothing_knows_is_reported_before_anything_runs(
    op: str, known: bool
) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 17, "own" : 1, "com.microsoft" : 1]>
    g (float[2] x) => (float[2] y) {{ h = own.Twice (x)  z = Exp (h)  y = {op} (z) }}"""
    key: OpKey = ("own", "Twice")
    model, models = parser.parse_model(text), GivenEvaluators({key: twice})
    if not known:
        with pytest.raises(MissingOperator) as caught:
            PiecewiseEngine(model, "", models, {key})
        assert caught.value.key == tuple(op.rsplit(".", 1))
        return
    found = PiecewiseEngine(model, "", models, {key}).run({"x": np.zeros(2, np.float32)})["y"]
    np.testing.assert_allclose(np.asarray(found), [0.8413447, 0.8413447], rtol=1e-5)


def test_a_function_of_the_name_of_a_kernel_is_the_kernel() -> None:
    """onnx.proto leaves to runtimes which of the two counts; onnxruntime takes its own."""
    text = """
    <ir_version: 8, opset_import: ["" : 17, "own" : 1, "com.microsoft" : 1]>
    g (float[2] x) => (float[2] y) { h = own.Twice (x)  y = com.microsoft.QuickGelu (h) }
    <domain: "com.microsoft", opset_import: ["" : 17]> QuickGelu (a) => (b) { b = Neg (a) }
    """
    evaluators = GivenEvaluators({("own", "Twice"): twice})
    model = parser.parse_model(text)
    x = np.array([1.0, -0.5], np.float32)
    for evaluated, factor in ((evaluators, 2), (GivenEvaluators({}), None)):
        if factor is None:
            model.graph.node[0].CopyFrom(onnx.helper.make_node("Identity", ["x"], ["h"]))
        found = np.asarray(RunnableModel(model, evaluators=evaluated).open().run({"x": x})["y"])
        h = x * (factor or 1)
        np.testing.assert_allclose(found, h / (1 + np.exp(-1.702 * h)), rtol=1e-5)
