"""cast-before-gather: the same values, cast before they are taken."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "cast-before-gather"
X = np.array([[1.75, -2.5, 3.0], [0.25, -0.75, 9.5]], np.float32)
BODY = (
    "@i = Constant <value = int64[1] {2}> ()\n@z = Gather <axis = 1> (x, @i)\n"
    "@y = Cast <to = 7> (@z)"
)


@pytest.mark.parametrize("opset", [9, 11, 13, 19])
@pytest.mark.parametrize("sizes", ["2, 3", "N, 3"])
def test_values(sizes: str, opset: int) -> None:
    text = written(BODY, f"float[{sizes}] x", "int64[n, 1]", opset=opset)
    done = assert_rewrite(PASS, text, feeds=[{"x": X}])
    kinds = [node.op_type for node in done.after.graph.node]
    assert kinds == ["Constant", "Cast", "Gather"]
    assert outputs_of(done.after, {"x": X})["y"].tolist() == [[3], [9]]


def test_a_graph_output_stays() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 13]> g (float[2, 3] x) => (int64[2, 1] y, '
        f"float[2, 1] z) {{ {BODY.replace('@', '')} }}"
    )
    done = assert_rewrite(PASS, text, feeds=[{"x": X}])
    kinds = sorted(node.op_type for node in done.after.graph.node)
    assert kinds == ["Cast", "Constant", "Gather", "Gather"]
    assert outputs_of(done.after, {"x": X})["z"].tolist() == [[3.0], [9.5]]
