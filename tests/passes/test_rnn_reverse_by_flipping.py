"""rnn-reverse-by-flipping: the steps in reverse order, forward."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "rnn-reverse-by-flipping"
RNG = np.random.default_rng(0)
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def feed_of(op: str) -> dict[str, np.ndarray]:
    gates = GATES[op] * 2
    shapes = {"x": (5, 3, 4), "w": (1, gates, 4), "r": (1, gates, 2)}
    return {name: RNG.standard_normal(size).astype(np.float32) for name, size in shapes.items()}


def model(op: str, extra: str = "", opset: int = 17, place: str = "main") -> str:
    gates = GATES[op] * 2
    body = f'@z, @h = {op} <hidden_size = 2, direction = "reverse"{extra}> (x, w, r)'
    body += " @s = Squeeze (@z, axes) @y = Add (@s, @h)"
    inputs = f"float[T,3,4] x, float[1,{gates},4] w, float[1,{gates},2] r, int64[1] axes"
    return written(body, inputs, "float[T,3,2]", opset=opset, place=place)


@pytest.mark.parametrize("op", sorted(GATES))
@pytest.mark.parametrize("opset", [13, 14, 22])
def test_all_steps_and_the_last_state(opset: int, op: str) -> None:
    feed = {**feed_of(op), "axes": np.array([1])}
    small = "onnxruntime runs no sequence without steps"
    after = ["Slice", op, "Slice", "Squeeze", "Add"]
    assert_rewrite(PASS, model(op, opset=opset), feeds=[feed], after=after, no_small_sides=small)


@pytest.mark.parametrize("place", PLACES[:2])
def test_places(place: str) -> None:
    feed = {**feed_of("LSTM"), "axes": np.array([1])}
    feed |= {"c": np.array(True)} if place == "branch" else {}
    small = "onnxruntime runs no sequence without steps"
    assert_rewrite(PASS, model("LSTM", place=place), feeds=[feed], no_small_sides=small)
