"""vector-matmul-turned: the transposed matrix by the vector."""

from typing import Any

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import PLACES, written

PASS = "vector-matmul-turned"
AFTER = ["Transpose", "MatMul"]
FEED: dict[str, Any] = {
    "v": np.array([1, -2, 3], np.float32),
    "w": np.arange(12, dtype=np.float32).reshape(3, 4),
}
RESULT = [16, 18, 20, 22]


@pytest.mark.parametrize("opset", [7, 9, 13, 21])
@pytest.mark.parametrize(("n", "m"), [("3", "4"), ("N", "M")])
def test_values(n: str, m: str, opset: int) -> None:
    inputs = f"float[{n}] v, float[{n}, {m}] w"
    done = assert_rewrite(
        PASS, written("@y = MatMul (v, w)", inputs, f"float[{m}]", opset=opset),
        feeds=[FEED], after=AFTER, rtol=1e-6,
    )  # fmt: skip
    assert outputs_of(done.after, FEED)["y"].tolist() == RESULT


@pytest.mark.parametrize("kind", ["float16", "double", "int32", "int64"])
def test_every_type(kind: str) -> None:
    feed = {
        name: value.astype({"double": "float64"}.get(kind, kind)) for name, value in FEED.items()
    }
    text = written("@y = MatMul (v, w)", f"{kind}[3] v, {kind}[3, 4] w", f"{kind}[4]")
    done = assert_rewrite(PASS, text, feeds=[feed], after=AFTER, rtol=1e-3)
    assert outputs_of(done.after, feed)["y"].tolist() == RESULT


@pytest.mark.parametrize("place", PLACES)
def test_everywhere(place: str) -> None:
    text = written("@y = MatMul (v, w)", "float[3] v, float[3, 4] w", "float[4]", place=place)
    feed = FEED | ({"c": np.array(True)} if place == "branch" else {})
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-6)


def test_it_repairs_for_the_engine_that_takes_no_rows() -> None:
    text = written("@y = MatMul (v, w)", "float[3] v, float[3, 4] w", "float[4]")
    result = graphfix.run(parse(text), target="tflite1.29")
    assert result.exit_code == 0
    assert [node.op_type for node in result.model.to_proto().graph.node] == AFTER
