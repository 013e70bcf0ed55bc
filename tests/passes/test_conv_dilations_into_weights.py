"""conv-dilations-into-weights: zeros between the weights."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper, parser

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "conv-dilations-into-weights"
RNG = np.random.default_rng(0)


def held(op: str, words: str, x: Any, weights: Any, bias: Any, opset: int = 17) -> ModelProto:
    """Return a model whose weights and bias are constants."""
    kind = "float16" if x.dtype == np.float16 else "float"
    sizes = ",".join(map(str, x.shape[1:]))
    letters = ",".join("ABCDE"[: x.ndim])
    body = f"@y = {op} <{words}> (x, w, b)"
    text = written(body, f"{kind}[N,{sizes}] x", f"{kind}[{letters}]", opset=opset)
    model = parser.parse_model(text)
    for name, array in (("w", weights), ("b", bias)):
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    return model


def drawn(shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize(
    ("words", "window"),
    [
        ("dilations = [2, 1, 1]", [3, 2, 2]),
        ("dilations = [1, 3, 2], kernel_shape = [2, 2, 2], pads = [1, 0, 1, 0, 2, 1]", [2, 4, 3]),
        ("dilations = [3, 2, 1], strides = [1, 2, 2], group = 2", [4, 3, 2]),
    ],
)
@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
@pytest.mark.parametrize("opset", [11, 22])
def test_volumes(opset: int, op: str, words: str, window: list[int]) -> None:
    grouped = 2 if "group" in words else 4
    x, weights = drawn((2, 4, 5, 6, 5)), drawn((4, grouped, 2, 2, 2))
    model = held(op, words, x, weights, drawn((4,)), opset)
    done = assert_rewrite(PASS, model, feeds=[{"x": x}], after=[op], rtol=1e-4, atol=1e-5)
    given = {a.name: a for a in done.after.graph.node[-1].attribute}
    assert list(given["kernel_shape"].ints) == window
    assert "dilations" not in given
