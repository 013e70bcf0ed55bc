"""dynamic-quantize-to-arithmetic: the range of the numbers gives scale and zero point."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "dynamic-quantize-to-arithmetic"
BODY = (
    "@q, @s, @z = DynamicQuantizeLinear (x)\n@n = Cast <to = 1> (@q)\n"
    "@m = Cast <to = 1> (@z)\n@d = Sub (@n, @m)\n@y = Mul (@d, @s)"
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_values(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(BODY, "float[2, 5] x", "float[2, 5]", opset=opset, place=place)
    x = np.array([[-3, -1.5, -0.0, 0.01, 2], [7, 0, -0.02, 1e-9, 3.3]], np.float32)
    feed: dict[str, Any] = {"x": x, **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, text, feeds=[feed])
    if place == "main":
        assert not any(info.type.tensor_type.elem_type == 2 for info in done.after.graph.value_info)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1000, 1000, width=32, allow_subnormal=False), min_size=1, max_size=9))
def test_any_numbers(values: list[float]) -> None:
    text = written(BODY, "float[N] x", "float[N]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values, np.float32)}])


@pytest.mark.parametrize("values", [[0.0, 0.0], [5.0, 5.0], [-5.0, -5.0], [255.0, 0.5], [-1, 254]])
def test_edges_and_bytes_that_go_out(values: list[float]) -> None:
    text = written("@y, @s, @z = DynamicQuantizeLinear (x)", "float[N] x", "uint8[N]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values, np.float32)}])
