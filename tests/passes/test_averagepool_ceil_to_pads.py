"""averagepool-ceil-to-pads: windows beyond the end over padding that does not count."""

from typing import Any

import numpy as np
import onnx
import pytest

from graphfix.api import run
from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.lowering_models import written

PASS = "averagepool-ceil-to-pads"
RNG = np.random.default_rng(5)
# onnxruntime has no AveragePool of float64.
TYPES: dict[str, Any] = {"float": np.float32, "float16": np.float16}


def pool(window: str, steps: str, more: str = "") -> str:
    return (
        f"@y = AveragePool <kernel_shape = [{window}], strides = [{steps}], ceil_mode = 1{more}>"
        " (x)"
    )


# The sizes, the windows, the steps, more attributes, the result.
CASES = [
    ("1,2,8,9", "3,3", "2,2", "", "1,2,4,4"),
    ("1,2,9,10", "3,3", "2,2", ", pads = [1,1,1,1]", "1,2,5,6"),
    ("1,2,9,10", "2,3", "2,3", ", count_include_pad = 1", "1,2,5,4"),
    ("1,2,9,9", "2,2", "3,3", "", "1,2,3,3"),
    ("1,2,10", "3", "2", ", pads = [1,0]", "1,2,5"),
    ("1,1,5,6,7", "2,2,2", "2,2,2", "", "1,1,3,3,4"),
]


@pytest.mark.parametrize("place", ["main", "branch"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case[:4]))
def test_values(case: tuple[str, ...], place: str) -> None:
    sizes, window, steps, more, result = case
    body = pool(window, steps, more)
    text = written(body, f"float[{sizes}] x", f"float[{result}]", place=place)
    x = RNG.standard_normal([int(size) for size in sizes.split(",")]).astype(np.float32)
    feed: dict[str, Any] = {"x": x}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-6)
    assert "ceil_mode" not in onnx.printer.to_text(done.after)


@pytest.mark.parametrize("dtype", sorted(TYPES))
def test_types(dtype: str) -> None:
    text = written(pool("3,3", "2,2"), f"{dtype}[1,1,8,8] x", f"{dtype}[1,1,4,4]")
    x = RNG.standard_normal((1, 1, 8, 8)).astype(TYPES[dtype])
    assert_rewrite(PASS, text, feeds=[{"x": x}], rtol=1e-2 if dtype == "float16" else 1e-6)


def test_refusals() -> None:
    def refused(body: str, reason: str, sizes: str = "1,1,8,8", opset: int = 17) -> None:
        text = written(body, f"float[{sizes}] x", "float[a,b,c,d]", opset=opset)
        assert_refused(PASS, text, reason)

    refused(pool("3,3", "2,2", ", pads = [1,1,1,1], count_include_pad = 1"), "must not count")
    refused(pool("3,3", "2,2", ', auto_pad = "SAME_UPPER"'), "they are automatic")
    refused(pool("2,2", "2,2", ", dilations = [2,2]"), "there must be no dilations", opset=19)
    refused(pool("3,3", "2,2"), "the sizes of input and output", "1,1,H,8")
    refused("@y = AveragePool <kernel_shape = [3,3]> (x)", "ceil_mode must be on")


def test_from_the_finding_to_the_end() -> None:
    text = written(pool("3,3", "2,2"), "float[1,2,8,8] x", "float[1,2,4,4]")
    result = run(onnx.parser.parse_model(text), "qnn2", verify="full")
    before = [f.feature for f in result.report.findings_before if f.blocks]
    assert "attr:AveragePool.ceil_mode=1" in before
    assert not [f for f in result.report.findings_after if f.blocks]
