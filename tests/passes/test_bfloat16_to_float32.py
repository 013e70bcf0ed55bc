"""bfloat16-to-float32: what stands between nodes as bfloat16."""

import numpy as np
import onnx

import graphfix
from graphfix.report import APPROXIMATE, EXACT, Accuracy
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.bfloat16_models import TABLE, embedding, network
from tests.passes.lowering_models import written

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


def test_in_a_branch() -> None:
    body = "@q = Cast <to = 16> (x)\n@t = Concat <axis = 0> (@q, @q)\n@y = Cast <to = 1> (@t)"
    text = written(body, "int8[N] x", "float[M]", place="branch")
    feed = {"x": np.array([-128, 0, 127], np.int8), "c": np.array(True)}
    assert_rewrite(PASS, text, feeds=[feed])


def test_refuses_bodies() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (bool c, float[3] x) => (float[3] y) {
      q = Cast <to = 16> (x)
      r = If (c) <then_branch = t () => (bfloat16[3] a) { a = Identity (q) },
                  else_branch = e () => (bfloat16[3] b) { b = Neg (q) }>
      y = Cast <to = 1> (r) }"""
    assert_refused(PASS, text, "the bodies of If get or give bfloat16")


def test_leaves_the_ends_of_the_model_alone() -> None:
    assert_untouched(PASS, written("@y = Cast <to = 1> (x)", "bfloat16[3] x", "float[3]"))
