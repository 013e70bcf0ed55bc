"""pool-unreached-pads: padding that no window reaches."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, run_pass

PASS = "pool-unreached-pads"
HEAD = '<ir_version: 8, opset_import: ["" : {opset}]> g (float[{x}] x) => (float[{y}] y) '


def _text(attributes: str, op: str = "MaxPool", x: str = "1,2,9,10", opset: int = 17) -> str:
    y = ",".join("ABCDE"[: x.count(",") + 1])
    return HEAD.format(opset=opset, x=x, y=y) + f"{{ y = {op} <{attributes}> (x) }}"


def _drawn(*shape: int) -> dict[str, np.ndarray[Any, Any]]:
    return {"x": np.random.default_rng(0).normal(size=shape).astype(np.float32)}


@pytest.mark.parametrize("opset", [9, 11, 17])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(
    ("given", "left"), [([0, 1, 1, 2], [0, 1, 0, 2]), ([0, 0, 1, 1], [0, 0, 0, 1])]
)
def test_pads(given: list[int], left: list[int], op: str, opset: int) -> None:
    text = _text(f"kernel_shape = [3,3], strides = [2,2], pads = {given}", op, opset=opset)
    done = assert_rewrite(PASS, text, feeds=[_drawn(1, 2, 9, 10)], after=[op])
    pads = next(a.ints for a in done.after.graph.node[0].attribute if a.name == "pads")
    assert list(pads) == left


def test_dilated_windows() -> None:
    text = _text("kernel_shape = [2,2], dilations = [2,3], strides = [3,2], pads = [1,1,1,1]")
    done = assert_rewrite(PASS, text, feeds=[_drawn(1, 2, 9, 10)], after=["MaxPool"])
    pads = next(a.ints for a in done.after.graph.node[0].attribute if a.name == "pads")
    assert list(pads) == [1, 1, 0, 1]


def test_pads_as_wide_as_a_window() -> None:
    """Such as onnxruntime does not run, and exporters write."""
    done = run_pass(PASS, _text("kernel_shape = [3,3], strides = [2,2], pads = [1,1,2,3]"))
    pads = next(a.ints for a in done.after.graph.node[0].attribute if a.name == "pads")
    assert list(pads) == [1, 1, 1, 2]
