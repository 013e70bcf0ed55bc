"""unset-inputs-left-out: optional inputs at the end that are empty names."""

from typing import Any

import numpy as np
import onnx
import pytest

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.shape_models import text

PASS = "unset-inputs-left-out"
FLOATS = np.random.default_rng(7).standard_normal((2, 3, 3)).astype(np.float32)


def unset(model: onnx.ModelProto, count: int = 1) -> onnx.ModelProto:
    """Write empty names at the end of the last node's inputs."""
    model.graph.node[-1].input.extend([""] * count)
    return model


@pytest.mark.parametrize(
    ("node", "inputs", "result", "count"),
    [
        ("Trilu (x)", "float[N,3,3] x", "float[N,3,3]", 1),
        ("Dropout (x)", "float[N,3,3] x", "float[N,3,3]", 2),
        ("QuantizeLinear (x, s)", "float[N,3,3] x, float s", "uint8[N,3,3]", 1),
        ("Gemm <transB = 1> (a, a)", "float[3,3] a", "float[3,3]", 1),
    ],
)
def test_left_out(node: str, inputs: str, result: str, count: int) -> None:
    model = unset(text(f"g ({inputs}) => ({result} y) {{ y = {node} }}"), count)
    feeds: list[dict[str, Any]] = [{"x": FLOATS}, {"x": FLOATS[:1]}]
    if " s" in inputs:
        feeds = [{**feed, "s": np.array(0.05, np.float32)} for feed in feeds]
    if " a" in inputs:
        feeds = [{"a": FLOATS[0]}]
    done = assert_rewrite(PASS, model, feeds=feeds)
    assert "" not in done.after.graph.node[0].input
    assert [a.name for a in done.after.graph.node[0].attribute] == (
        ["transB"] if "transB" in node else []
    )


def test_squeeze() -> None:
    """Onnxruntime does not take the empty name here, so the result is self-contained."""
    after = run_pass(PASS, unset(text("g (float[1,2,3] x) => (float[2,3] y) { y = Squeeze (x) }")))
    assert list(after.after.graph.node[0].input) == ["x"]
    given = FLOATS[:1, :2]
    assert np.array_equal(outputs_of(after.after, {"x": given})["y"], given[0])
