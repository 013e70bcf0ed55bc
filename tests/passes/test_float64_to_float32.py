"""float64-to-float32: what stands between nodes as float64."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.report import APPROXIMATE, Verdict
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import PLACES, written

PASS = "float64-to-float32"
X = np.array([-7.5, -1, 0, 1e-3, 2, np.inf, np.nan], np.float32)


@pytest.mark.parametrize("place", PLACES)
def test_a_chain_of_float64(place: str) -> None:
    body = (
        "@q = Cast <to = 11> (x)\n@k = Constant <value = double {0.1}> ()\n@r = Mul (@q, @k)\n"
        "@s = Sin (@r)\n@y = Cast <to = 1> (@s)"
    )
    feed: dict[str, np.ndarray] = {"x": X}
    if place == "branch":
        feed["c"] = np.array(False)
    text = written(body, "float[N] x", "float[N]", place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-6, atol=1e-9)
    if place == "main":
        assert done.ops == ["Identity", "Mul", "Sin", "Identity"]


@pytest.mark.parametrize(
    "body",
    [
        "@q = Shape (x)\n@r = ConstantOfShape <value = double[1] {2.5}> (@q)\n"
        "@y = Cast <to = 1> (@r)",
        "@q = Cast <to = 11> (x)\n@r = CastLike (x, @q)\n@s = Floor (@r)\n@y = Cast <to = 1> (@s)",
        "@q = Cast <to = 11> (x)\n@b = Greater (@q, @q)\n@y = Cast <to = 1> (@b)",
        "@q = Cast <to = 11> (x)\n@s, @t = Split (@q)\n@r = Concat <axis = 0> (@t, @s)\n"
        "@y = Cast <to = 1> (@r)",
    ],
)
def test_forms(body: str) -> None:
    feed = {"x": np.array([0.5, 2.25, -7, 3], np.float32)}
    assert_rewrite(PASS, written(body, "float[4] x", "float[4]"), feeds=[feed], rtol=1e-6)


def test_refuses_what_it_cannot_write() -> None:
    big = "@q = Cast <to = 11> (x)\n@k = Constant <value = double {1e300}> ()\n@r = Mul (@q, @k)\n"
    text = written(big + "@y = Cast <to = 1> (@r)", "float[4] x", "float[4]")
    assert_refused(PASS, text, "numbers that float32 does not reach")


def test_leaves_the_ends_of_the_model_alone() -> None:
    assert_untouched(PASS, written("@y = Cast <to = 1> (x)", "double[3] x", "float[3]"))
    assert_untouched(PASS, written("@y = Sin (x)", "float[3] x", "float[3]"))


def test_a_target_without_float64_takes_the_result() -> None:
    text = written(
        "@q = Cast <to = 11> (x)\n@r = Exp (@q)\n@y = Cast <to = 1> (@r)",
        "float[2, 3] x",
        "float[2, 3]",
    )
    result = graphfix.run(onnx.parser.parse_model(text), target="trt7", verify="full")
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.EQUAL
    (outcome,) = [o for o in result.report.outcomes if o.pass_id == PASS]
    assert {site.accuracy for site in outcome.sites} == {APPROXIMATE}
