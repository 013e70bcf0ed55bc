"""bfloat16-to-float32: what is between nodes as bfloat16."""

import numpy as np
import onnx

import graphfix
from graphfix.report import APPROXIMATE, EXACT, Accuracy
from graphfix.testing import outputs_of
from tests.passes.bfloat16_models import TABLE, embedding, network

PASS = "bfloat16-to-float32"


def accuracies(model: onnx.ModelProto) -> set[Accuracy]:
    result = graphfix.run(model, target="trt8", verify="full")
    assert result.exit_code == 0
    (outcome,) = [o for o in result.report.outcomes if o.pass_id == PASS]
    return {site.accuracy for site in outcome.sites}


def test_moves_are_exact() -> None:
    done = graphfix.run(embedding(), target="trt8")
    given = outputs_of(done.model.to_proto(), {"i": np.array([1, 0, -1])})["y"]
    np.testing.assert_array_equal(given, -TABLE.astype(np.float32)[[1, 0, -1]])
    assert accuracies(embedding()) == {EXACT}


def test_what_rounds_is_approximate_and_compared_as_a_whole() -> None:
    assert accuracies(network()) == {APPROXIMATE}
