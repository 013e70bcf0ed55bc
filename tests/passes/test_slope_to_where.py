"""slope-to-where: PRelu of integers and float64, LeakyRelu of float64, against numpy."""

from typing import Any

import numpy as np
import pytest

from graphfix.api import run
from graphfix.testing import outputs_of, parse, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "slope-to-where"
AFTER = ["Less", "Mul", "Where"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 16])
@pytest.mark.parametrize("kind", ["int32", "int64", "float", "double"])
def test_prelu(kind: str, opset: int, place: str) -> None:
    text = written(
        "@y = PRelu (x, s)", f"{kind}[N, 3] x, {kind}[3] s", f"{kind}[N, 3]",
        opset=opset, place=place,
    )  # fmt: skip
    dtype: Any = {"float": np.float32, "double": np.float64}.get(kind, kind)
    x = np.array([[-3, 0, 7], [2, -5, -1]]).astype(dtype)
    feed: dict[str, Any] = {"x": x, "s": np.array([2, 3, 4]).astype(dtype)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = run_pass(PASS, text)
    found = outputs_of(done.after, feed)["y"]
    np.testing.assert_array_equal(found, np.where(x < 0, x * feed["s"], x))
    assert found.dtype == dtype


@pytest.mark.parametrize("target", ["trt8.6", "trt11.1", "ort-1.10"])
def test_targets_take_integers(target: str) -> None:
    text = written("@y = PRelu (x, s)", "int32[N, 3] x, int32[3] s", "int32[N, 3]", opset=15)
    result = run(parse(text), target, verify="off")
    assert not [f for f in result.report.findings_after if f.blocks]
    assert [node.op for node in result.model.nodes()] == AFTER
