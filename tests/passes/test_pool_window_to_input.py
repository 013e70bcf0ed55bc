"""pool-window-to-input: one window over the whole padded input."""

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "pool-window-to-input"


def _model(
    op: str, more: str = "", *, size: str = "1, 2, 2, 3", opset: int = 17, place: str = "main"
) -> str:
    body = f"@y = {op} <kernel_shape = [8, 2], strides = [8, 1]{more}> (x)"
    return written(body, f"float[{size}] x", "float[A, B, C, D]", opset=opset, place=place)


def _ramp(*shape: int) -> dict[str, np.ndarray]:
    return {"x": np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)}


@pytest.mark.parametrize("opset", [10, 11, 17, 19, 22])
@pytest.mark.parametrize("included", [0, 1])
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 1, 2, 0]])
def test_average(opset: int, included: int, pads: list[int]) -> None:
    more = f", ceil_mode = 1, count_include_pad = {included}, pads = {pads}"
    done = assert_rewrite(
        PASS, _model("AveragePool", more, opset=opset), feeds=[_ramp(1, 2, 2, 3)], rtol=1e-6
    )
    (node,) = done.after.graph.node
    kernel = {a.name: list(a.ints) for a in node.attribute}["kernel_shape"]
    assert kernel == [2 + pads[0] + pads[2], 2]


def test_average_of_known_numbers() -> None:
    text = _model("AveragePool", ", ceil_mode = 1")
    done = assert_rewrite(PASS, text, feeds=[_ramp(1, 2, 2, 3)])
    found = outputs_of(done.after, _ramp(1, 2, 2, 3))["y"]
    np.testing.assert_array_equal(found, [[[[2.0, 3.0]], [[8.0, 9.0]]]])


@pytest.mark.parametrize("opset", [15, 17, 22])
@pytest.mark.parametrize("place", PLACES)
def test_maximum_everywhere(opset: int, place: str) -> None:
    feeds = [_ramp(1, 2, 2, 3)]
    if place == "branch":
        feeds = [{**feeds[0], "c": np.array(c)} for c in (True, False)]
    text = _model("MaxPool", ", ceil_mode = 1", opset=opset, place=place)
    assert_rewrite(PASS, text, feeds=feeds)


def test_any_batch() -> None:
    text = _model("AveragePool", ", ceil_mode = 1", size="N, 2, 2, 3")
    assert_rewrite(PASS, text, feeds=[_ramp(1, 2, 2, 3), _ramp(3, 2, 2, 3)], rtol=1e-6)


def test_refuses() -> None:
    for more, size, reason in (
        (", ceil_mode = 1", "1, 2, H, 3", "the sizes must be known"),
        ("", "1, 2, 2, 3", "empty by the standard"),
        (", ceil_mode = 1, dilations = [1, 2]", "1, 2, 2, 3", "dilations"),
        (
            ', ceil_mode = 1, auto_pad = "VALID"',
            "1, 2, 2, 3",
            "the pads must be written and not negative",
        ),
        (", ceil_mode = 1", "1, 2, 0, 3", "empty"),
    ):
        opset = 19 if "dilations" in more else 17
        assert_refused(PASS, _model("AveragePool", more, size=size, opset=opset), reason)
    tight = _model("AveragePool", ", ceil_mode = 1").replace("strides = [8", "strides = [6")
    assert_refused(PASS, tight, "empty by the standard")
    assert_refused(
        PASS,
        _model("AveragePool", size="1, 2, 9, 3"),
        "the window must be larger than the padded input; it fits",
    )


def test_leaves_other_pooling_alone() -> None:
    text = written("@y = GlobalAveragePool (x)", "float[1, 2, 2, 3] x", "float[1, 2, 1, 1]")
    assert_untouched(PASS, text)
