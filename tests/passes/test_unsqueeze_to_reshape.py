"""unsqueeze-to-reshape: the sizes that it gives."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite

PASS = "unsqueeze-to-reshape"


def text(axes: str, x: str = "float[2,3]", *, opset: int = 17, kind: str = "float") -> str:
    head = f'<ir_version: 8, opset_import: ["" : {opset}]> g '
    count = axes.count(",") + 1
    made = f"{kind}[{','.join('abcd'[: 2 + count])}] y"
    if opset < 13:
        return f"{head} ({x} x) => ({made}) {{ y = Unsqueeze <axes = [{axes}]> (x) }}"
    return f"{head} ({x} x) => ({made}) <int64[{count}] a = {{{axes}}}> {{ y = Unsqueeze (x, a) }}"


@pytest.mark.parametrize("opset", [9, 11, 13, 21])
@pytest.mark.parametrize(
    ("axes", "shape"),
    [("0", (1, 2, 3)), ("1", (2, 1, 3)), ("-1", (2, 3, 1)), ("0, 3", (1, 2, 3, 1))],
)
def test_shapes(axes: str, shape: tuple[int, ...], opset: int) -> None:
    if opset < 11 and "-" in axes:
        pytest.skip("axes count from the end from opset 11 on")
    x = np.array([[np.nan, 1, -2], [np.inf, 0, -0.0]], np.float32)
    done = assert_rewrite(
        PASS, text(axes, opset=opset), feeds=[{"x": x}], after=["Reshape"], rtol=0, atol=0
    )
    assert done.after.graph.output[0].type.tensor_type.elem_type == 1
    sizes = next(t for t in done.after.graph.initializer if list(t.dims) == [len(shape)])
    assert list(np.frombuffer(sizes.raw_data, np.int64)) == list(shape)
