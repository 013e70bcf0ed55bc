"""fused-conv-to-conv: the product, what is added, and the activation."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.attention_models import MICROSOFT, numbers
from tests.passes.lowering_models import PLACES, written

PASS = "fused-conv-to-conv"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}
OF_CONV = {
    "Relu": "",
    "Sigmoid": "",
    "Tanh": "",
    "HardSwish": "",
    "LeakyRelu": "0.3",
    "Clip": "-0.5, 1.0",
    "HardSigmoid": "0.3, 0.4",
}


def conv(activation: str, parameters: str = "", operands: str = "x, w, b", **more: Any) -> str:
    given = f", activation_params = [{parameters}]" if parameters else ""
    body = (
        f"@y = com.microsoft.FusedConv <pads = [1, 1, 1, 1], strides = [2, 1], "
        f'activation = "{activation}"{given}> ({operands})'
    )
    z = ", float[N, 4, 3, 5] z" if "z" in operands else ""
    inputs = f"float[N, 3, 5, 5] x, float[4, 3, 3, 3] w, float[4] b{z}"
    return written(body, inputs, "float[N, 4, 3, 5]", imports=MICROSOFT, **more)


def feed_of(operands: str = "xwb") -> dict[str, Any]:
    shapes = {"x": (2, 3, 5, 5), "w": (4, 3, 3, 3), "b": (4,), "z": (2, 4, 3, 5)}
    return {name: numbers(*shapes[name]) for name in operands}


@pytest.mark.parametrize("opset", [10, 17])
@pytest.mark.parametrize("activation", OF_CONV)
def test_convolutions(activation: str, opset: int) -> None:
    for operands in ("x, w, b", "x, w, b, z"):
        text = conv(activation, OF_CONV[activation], operands, opset=opset)
        assert_rewrite(PASS, text, feeds=[feed_of(operands.replace(", ", ""))], **CLOSE)


def test_the_numbers() -> None:
    feed = feed_of()
    done = assert_rewrite(PASS, conv("Relu"), feeds=[feed], after=["Conv", "Relu"], **CLOSE)
    padded = np.pad(feed["x"], np.array([(0, 0), (0, 0), (1, 1), (1, 1)]))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2]
    plain = np.einsum("nchwij,mcij->nmhw", windows, feed["w"]) + feed["b"][:, None, None]
    given = outputs_of(done.after, feed)["y"]
    np.testing.assert_allclose(given, np.maximum(plain, 0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("place", PLACES)
def test_everywhere(place: str) -> None:
    feed = feed_of()
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, conv("Relu", place=place), feeds=[feed], **CLOSE)
