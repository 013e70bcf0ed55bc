"""recurrent-activations-left-out: names of activations that a node has anyway."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.shape_models import text

PASS = "recurrent-activations-left-out"
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
NAMED = {"RNN": '"Tanh"', "GRU": '"Sigmoid", "Tanh"', "LSTM": '"sigmoid", "Tanh", "Tanh"'}
RNG = np.random.default_rng(4)


def model(op: str, named: str, *, both: bool = False, opset: int = 14) -> Any:
    ways, rows = (2 if both else 1), GATES[op] * 2
    more = f"activations = [{named}], hidden_size = 2"
    more += ', direction = "bidirectional"' if both else ""
    return text(
        f"g (float[T,N,3] x, float[{ways},{rows},3] w, float[{ways},{rows},2] r) => "
        f"(float[T,{ways},N,2] y) {{ y = {op} <{more}> (x, w, r) }}",
        opset,
    )


@pytest.mark.parametrize("opset", [7, 14])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("op", sorted(GATES))
def test_values(op: str, both: bool, opset: int) -> None:
    ways, rows = (2 if both else 1), GATES[op] * 2
    named = ", ".join([NAMED[op]] * ways)
    feeds = [
        {
            "x": RNG.standard_normal((4, batch, 3)).astype(np.float32),
            "w": RNG.standard_normal((ways, rows, 3)).astype(np.float32),
            "r": RNG.standard_normal((ways, rows, 2)).astype(np.float32),
        }
        for batch in (1, 3)
    ]
    done = assert_rewrite(
        PASS, model(op, named, both=both, opset=opset), feeds=feeds, rtol=0, atol=0
    )
    assert "activations" not in {a.name for a in done.after.graph.node[0].attribute}
