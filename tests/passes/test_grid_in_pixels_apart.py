"""grid-in-pixels-apart: places that are scaled before what is added to them."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, run_pass

PASS = "grid-in-pixels-apart"
GIVEN = (
    "<float[1,1,2,2] p = {{0, 0, 1, 0}}, float[2] d = {{2, 4}}, float two = {{2}}, "
    "float one = {{1}}, float zero = {{0}}> "
)
HEAD = '<ir_version: 8, opset_import: ["" : {opset}]> g (float[1,1,5,3] x, float[1,1,2,2] f) => '
X = np.arange(15, dtype=np.float32).reshape(1, 1, 5, 3)
F = np.array([[[[0.25, 1.5], [-0.5, 3.25]]]], np.float32)
AFTER = ["Mul", "Add", "GridSample"]


def _text(body: str, opset: int = 17) -> str:
    mode = "linear" if opset >= 20 else "bilinear"
    return (
        HEAD.format(opset=opset)
        + "(float[1,1,1,2] y) "
        + GIVEN.format()
        + f'{{ {body} y = GridSample <align_corners = 1, mode = "{mode}"> (x, g) }}'
    )


@pytest.mark.parametrize("opset", [16, 17, 20])
@pytest.mark.parametrize(
    "body",
    [
        "a = Add (p, f) q = Div (a, d) m = Mul (q, two) g = Sub (m, one)",
        "a = Add (f, p) q = Mul (d, a) m = Div (q, two) g = Add (one, m)",
        "a = Sub (f, p) q = Div (a, d) g = Sub (one, q)",
        "a = Sub (p, f) g = Div (a, d)",
    ],
)
def test_values(body: str, opset: int) -> None:
    feeds = [{"x": X, "f": F}, {"x": X, "f": F * 3 - 4}]
    done = assert_rewrite(PASS, _text(body, opset), feeds=feeds, after=AFTER, rtol=1e-5)
    assert len(done.after.graph.initializer) >= 2


def test_the_constants() -> None:
    body = "a = Add (p, f) q = Div (a, d) m = Mul (q, two) g = Sub (m, one)"
    done = assert_rewrite(PASS, _text(body), feeds=[{"x": X, "f": F}], after=AFTER, rtol=1e-5)
    nodes = {node.op_type: list(node.input) for node in done.after.graph.node}
    stored = {held.name: held for held in done.after.graph.initializer}
    factor, added = stored[nodes["Mul"][1]], stored[nodes["Add"][1]]
    np.testing.assert_array_equal(np.frombuffer(factor.raw_data, np.float32), [1, 0.5])
    np.testing.assert_array_equal(np.frombuffer(added.raw_data, np.float32), [-1, -1, 0, -1])


def test_two_grids_of_one_sum() -> None:
    body = "a = Add (p, f) g = Div (a, d) h = Mul (a, two) z = GridSample (x, h) k = Neg (z)"
    done = run_pass(
        PASS, _text(body).replace("(float[1,1,1,2] y)", "(float[1,1,1,2] y, float[1,1,1,2] k)")
    )
    assert done.ops.count("GridSample") == 2
    assert done.ops.count("Mul") == 2
