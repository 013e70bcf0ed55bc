"""slope-to-where: PRelu of integers and float64, LeakyRelu of float64, against numpy."""

from typing import Any

import numpy as np
import pytest

from graphfix.api import run
from graphfix.testing import (
    assert_refused,
    assert_rewrite,
    assert_untouched,
    outputs_of,
    parse,
    run_pass,
)
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


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("attribute", ["", "<alpha = 0.25>"])
def test_leaky(kind: str, attribute: str) -> None:
    text = written(f"@y = LeakyRelu {attribute} (x)", f"{kind}[N] x", f"{kind}[N]", opset=16)
    dtype: Any = np.float32 if kind == "float" else np.float64
    x = np.array([-3, 0, 7, -1e-3], dtype)
    done = assert_rewrite(PASS, text, feeds=[{"x": x}], rtol=1e-6)
    slope = dtype(0.25 if attribute else 0.01)
    found = outputs_of(done.after, {"x": x})["y"]
    np.testing.assert_allclose(found, np.where(x < 0, x * slope, x), rtol=1e-6)


@pytest.mark.parametrize("target", ["trt8.6", "trt11.1", "ort-1.10"])
def test_targets_take_integers(target: str) -> None:
    text = written("@y = PRelu (x, s)", "int32[N, 3] x, int32[3] s", "int32[N, 3]", opset=15)
    result = run(parse(text), target, verify="off")
    assert not [f for f in result.report.findings_after if f.blocks]
    assert [node.op for node in result.model.nodes()] == AFTER


def test_refused_and_left_alone() -> None:
    text = written("@y = PRelu (x, s)", "float16[2] x, float16[2] s", "float16[2]")
    assert_refused(PASS, text, "x must be int32, int64, float32 or float64")
    text = written("@y = LeakyRelu (x)", "float16[2] x", "float16[2]")
    assert_refused(PASS, text, "x must be float32 or float64; it is float16")
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
