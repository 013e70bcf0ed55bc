"""bernoulli-to-random-uniform: 1 where a number between 0 and 1 is less."""

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.report import Status, Verdict
from graphfix.testing import outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "bernoulli-to-random-uniform"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("kind", "dtype"), [("float", "float32"), ("float16", "float16"), ("double", "float64")]
)
def test_one_has_the_probability(kind: str, dtype: str, place: str) -> None:
    text = written("@y = Bernoulli (x)", f"{kind}[5, 800] x", f"{kind}[5, 800]", place=place)
    done = run_pass(PASS, text)
    assert done.outcomes[0].status is Status.APPLIED
    p = np.array([0, 1, 0.5, 0.1, 0.8])
    x = np.repeat(p[:, None], 800, axis=1).astype(dtype)
    feed = {"x": x, **({"c": np.array(True)} if place == "branch" else {})}
    drawn = outputs_of(done.after, feed)["y"]
    assert drawn.dtype == dtype
    assert set(drawn.ravel().tolist()) == {0.0, 1.0}
    assert drawn[0].max() == 0
    assert drawn[1].min() == 1
    # Six standard deviations.
    assert (np.abs(drawn.astype(np.float64).mean(axis=1) - p) < 6 * 0.5 / 800**0.5).all()


@pytest.mark.parametrize(("to", "dtype"), [(6, "int32"), (9, "bool"), (11, "float64")])
def test_the_type_can_be_given(to: int, dtype: str) -> None:
    kind = {6: "int32", 9: "bool", 11: "double"}[to]
    done = run_pass(PASS, written(f"@y = Bernoulli <dtype = {to}> (x)", "float[3] x", f"{kind}[3]"))
    drawn = outputs_of(done.after, {"x": np.array([0, 1, 1], np.float32)})["y"]
    assert drawn.dtype == dtype
    assert drawn.tolist() == [0, 1, 1]


def test_sizes_may_be_open_and_the_seed_stays() -> None:
    text = written("@y = Bernoulli <seed = 5.0> (x)", "float[N, M] x", "float[N, M]")
    done = run_pass(PASS, text)
    assert done.ops == ["RandomUniformLike", "Less", "Cast"]
    (seed,) = [a.f for a in done.after.graph.node[0].attribute if a.name == "seed"]
    assert seed == 5.0
    feed = {"x": np.ones((2, 7), np.float32)}
    assert outputs_of(done.after, feed)["y"].tolist() == [[1.0] * 7] * 2


def test_the_whole_run_says_that_it_compared_distributions() -> None:
    text = written("@p = Sigmoid (x)\n@d = Bernoulli (@p)\n@y = Mul (@d, x)",
                   "float[4, 8] x", "float[4, 8]", opset=22)  # fmt: skip
    done = graphfix.run(parser.parse_model(text), target="trt8")
    assert done.exit_code == 0
    assert not [f for f in done.report.findings_after if f.blocks]
    assert done.report.verification.status is Verdict.EQUAL
    assert "d: drawn at random, compared by distribution" in done.report.verification.reason


def test_below_its_opset_the_probability_is_not_turned_round() -> None:
    text = written("@y = Bernoulli (x)", "float[3] x", "float[3]", opset=15)
    done = graphfix.run(parser.parse_model(text), opset=13)
    proto = done.model.to_proto()
    assert proto.opset_import[0].version == 13
    drawn = outputs_of(proto, {"x": np.array([0, 1, 1], np.float32)})["y"]
    assert drawn.tolist() == [0, 1, 1]
