"""glow-to-onnx: operators that Glow writes for itself."""

import numpy as np
import pytest

from graphfix.api import check, run
from graphfix.testing import assert_rewrite, outputs_of, parse
from passes.contrib.glow_to_onnx import MODELS

PASS = "glow-to-onnx"
ONE = '<ir_version: 7, opset_import: ["": 9]> g (float[2, 3] a) => (float[2, 3] y) { y = %s (a) }'
TWO = (
    '<ir_version: 7, opset_import: ["": 9]> g (%s a, %s b) => (%s y) '
    '{ y = %s <i0_elemKind = "float", o0_shape = [2, 3], partitionName = "p"> (a, b) }'
)
A = np.array([[1, -2, 3], [0.5, 4, -8]], np.float32)
MODELED = {("", op): model for op, model in MODELS.items()}
B = np.array([[2, 5, -3], [0.5, -1, 2]], np.float32)


@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        ("Add", [[3, 3, 0], [1, 3, -6]]),
        ("Sub", [[-1, -7, 6], [0, 5, -10]]),
        ("Mul", [[2, -10, -9], [0.25, -4, -16]]),
        ("Div", [[0.5, -0.4, -1], [1, -4, -4]]),
        ("Max", [[2, 5, 3], [0.5, 4, 2]]),
        ("Min", [[1, -2, -3], [0.5, -1, -8]]),
    ],
)
def test_two_operands(op: str, wanted: list[list[float]]) -> None:
    kind = "float[2, 3]"
    model = TWO % (kind, kind, kind, f"Glow_{op}")
    done = assert_rewrite(
        PASS, model, feeds=[{"a": A, "b": B}], after=[op], rtol=1e-6, evaluators=MODELED
    )
    given = outputs_of(done.after, {"a": A, "b": B})["y"]
    np.testing.assert_allclose(given, np.array(wanted), rtol=1e-6)


@pytest.mark.parametrize(
    ("op", "at_one"), [("Relu", 1), ("Sigmoid", 0.7310586), ("Tanh", 0.7615942)]
)
def test_one_operand(op: str, at_one: float) -> None:
    done = assert_rewrite(
        PASS, ONE % f"Glow_{op}", feeds=[{"a": A}], after=[op], rtol=1e-5, evaluators=MODELED
    )
    assert outputs_of(done.after, {"a": A})["y"][0, 0] == pytest.approx(at_one, rel=1e-6)


@pytest.mark.parametrize(
    ("op", "shapes", "batch"),
    [
        ("MatMul", ("float[2, 3]", "float[3, 2]", "float[2, 2]"), ()),
        ("BatchMatMul", ("float[N, 2, 3]", "float[N, 3, 2]", "float[N, 2, 2]"), (1,)),
    ],
)
def test_products(op: str, shapes: tuple[str, str, str], batch: tuple[int, ...]) -> None:
    feed = {"a": A.reshape(*batch, 2, 3), "b": B.T.reshape(*batch, 3, 2)}
    done = assert_rewrite(
        PASS,
        TWO % (*shapes, f"Glow_{op}"),
        feeds=[feed],
        after=["MatMul"],
        rtol=1e-6,
        evaluators=MODELED,
    )
    given = outputs_of(done.after, feed)["y"]
    np.testing.assert_array_equal(given.reshape(2, 2), [[-17, 8.5], [45, -19.75]])


GRAPH = """
<ir_version: 7, opset_import: ["": 9]>
g (float[2, 3] a, float[3, 2] b) => (float[2, 2] y) {
    m = Glow_MatMul <partitionName = "p1"> (a, b)
    i = Identity <isIntermediateOutputForDAG = 1, partitionName = "p1"> (m)
    r = Relu <NodeOpt_NNPI_numParallelChunks = ["2"]> (i)
    y = Glow_Sub (r, i)
}
"""


def test_a_file_of_glow_has_nothing_left() -> None:
    result = run(parse(GRAPH), "trt8.6")
    assert result.exit_code == 0
    assert [node.op for node in result.model.graph.nodes] == ["MatMul", "Relu", "Sub"]
    assert not [f for f in check(result.model.to_proto(), "trt8.6") if f.blocks]
