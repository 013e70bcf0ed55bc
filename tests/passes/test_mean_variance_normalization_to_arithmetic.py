"""mean-variance-normalization-to-arithmetic: away from the mean, by the root of the square."""

from typing import Any

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, parse
from tests.passes.lowering_models import PLACES, written

PASS = "mean-variance-normalization-to-arithmetic"
RNG = np.random.default_rng(4)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("attributes", ["", "<axes = [1]>", "<axes = [0, 1, 2, 3]>"])
@pytest.mark.parametrize("opset", [9, 13, 18])
def test_axes(opset: int, attributes: str, place: str) -> None:
    if place == "function" and not attributes:
        pytest.skip("onnxruntime cannot infer the shapes of the default axes in a function")
    body = f"@y = MeanVarianceNormalization {attributes} (x)"
    text = written(body, "float[N, 3, H, 5] x", "float[N, 3, H, 5]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": RNG.normal(2, 3, (2, 3, 4, 5)).astype(np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_fewer_dimensions_for_an_old_onnxruntime(rank: int) -> None:
    kind = f"float[{', '.join('NKM'[:rank])}]"
    text = written("@y = MeanVarianceNormalization <axes = [0]> (x)", f"{kind} x", kind, opset=13)
    done = graphfix.run(parse(text), "ort-1.10", verify="full")
    assert done.exit_code == 0, done.report.findings_after
    assert "MeanVarianceNormalization" not in [n.op for n in done.model.nodes()]


@pytest.mark.parametrize("across", [0, 1])
@pytest.mark.parametrize("divided", [0, 1])
def test_the_experiment_before_opset_9(across: int, divided: int) -> None:
    attributes = f"<across_channels = {across}, normalize_variance = {divided}>"
    kind = "float[2, 3, 4, 5]"
    text = written(f"@y = MeanVarianceNormalization {attributes} (x)", f"{kind} x", kind, opset=7)
    feed = {"x": RNG.normal(2, 3, (2, 3, 4, 5)).astype(np.float32)}
    after = ["ReduceMean", "Sub", *(["Mul", "ReduceMean", "Sqrt", "Div"] if divided else [])]
    assert_rewrite(PASS, text, feeds=[feed], after=after, rtol=1e-4, atol=1e-5)
