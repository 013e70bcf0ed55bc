"""What the reference evaluator has not implemented, and what a model gets wrong."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from graphfix.errors import EngineFailed
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.runners.engine import MissingForm
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.reference_engine import ReferenceEngine
from graphfix.proving.values.kinds import Feed, Value
from graphfix.proving.whole.samples import Samples


def model(text: str, opset: int) -> onnx.ModelProto:
    return parser.parse_model(f'<ir_version: 4, opset_import: ["" : {opset}]> g {text}')


@pytest.mark.parametrize(
    ("text", "opset", "op"),
    [
        (
            "(float[1, 1, 2, 3] x) => (float[1, 1, 4, 6] y) <float[4] s = {1, 1, 2, 2}> "
            '{ a = Relu (x) y = Upsample <mode = "linear"> (a, s) }',
            9,
            "Upsample",
        ),
        (
            "(float[2, 3] x) => (float[2, 3] y) <float[3] s = {1, 2, 3}> "
            "{ y = LayerNormalization <stash_type = 10> (x, s) }",
            17,
            "LayerNormalization",
        ),
    ],
)
def test_what_is_not_implemented_is_named(text: str, opset: int, op: str) -> None:
    proto = model(text, opset)
    engine = ReferenceEngine(proto, "", Evaluators({}))
    shape = [d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
    with pytest.raises(MissingForm) as caught:
        engine.run({"x": np.ones(shape, np.float32)})
    assert caught.value.key == ("", op)


def test_what_a_model_gets_wrong_is_no_missing_form() -> None:
    text = "(float[N] x) => (float[7] y) <int64[1] s = {7}> { y = Reshape (x, s) }"
    engine = ReferenceEngine(model(text, 17), "", Evaluators({}))
    with pytest.raises(EngineFailed) as caught:
        engine.run({"x": np.ones(3, np.float32)})
    assert not isinstance(caught.value, MissingForm)


class _OfOneRow:
    """An engine that has implemented Neg of one row alone."""

    name = "one row"

    def run(self, feed: Feed) -> dict[str, Value]:
        x = feed["x"]
        assert isinstance(x, np.ndarray)
        if x.shape[0] != 1:
            raise MissingForm(("", "Neg"), "not implemented")
        return {"y": -x}


def test_other_sizes_are_tried_where_a_form_is_missing() -> None:
    proto = model("(float[N, 2] x) => (float[N, 2] y) { y = Neg (x) }", 13)
    found = Samples(proto, _OfOneRow(), FeedMaker(proto, 0, {}), None, 15.0).next(0)
    assert found is not None
    x = found[0]["x"]
    assert isinstance(x, np.ndarray)
    assert x.shape == (1, 2)
