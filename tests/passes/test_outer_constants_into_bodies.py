"""outer-constants-into-subgraphs: a body stores what it reads of the graph around it."""

import numpy as np
from onnx import parser

import graphfix
from graphfix.testing import assert_rewrite

PASS = "outer-constants-into-bodies"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x) => (float[2,3] y) '
LOOP = HEAD + (
    "<int64 n = {3}, bool t = {1}, float k = {0.5}> { y = Loop <body = b "
    "(int64 i, bool c, float[2,3] s) => (bool d, float[2,3] r) "
    "{ d = Identity (c) m = Mul (s, k) r = Add (m, k) }> (n, t, x) }"
)
IF = HEAD + (
    "<float k = {0.5}, float z = {0}> { m = ReduceMax <keepdims = 0> (x) c = Less (m, z) "
    "p = Mul (x, k) y = If <then_branch = a () => (float[2,3] u) { u = Mul (p, k) }, "
    "else_branch = e () => (float[2,3] v) { v = Neg (x) }> (c) }"
)
X = np.array([[1, -2, 3], [0.5, 4, -1]], np.float32)


def test_a_loop_stores_its_constant() -> None:
    done = assert_rewrite(PASS, LOOP, feeds=[{"x": X}])
    (body,) = (a.g for a in done.after.graph.node[-1].attribute if a.name == "body")
    own = {stored.name for stored in body.initializer}
    read = {name for node in body.node for name in node.input}
    assert len(own) == 2
    assert own <= read
    assert "k" not in read


def test_a_branch_continues_reading_what_is_computed() -> None:
    done = assert_rewrite(PASS, IF, feeds=[{"x": X}, {"x": -np.abs(X) - 1}])
    branch = next(a.g for a in done.after.graph.node[-1].attribute if a.name == "then_branch")
    assert branch.node[0].input[0] == "p"
    assert branch.node[0].input[1] == branch.initializer[0].name
    assert "k" in {stored.name for stored in done.after.graph.initializer}


def test_tflite_takes_the_loop_then() -> None:
    model = parser.parse_model(
        LOOP.replace("int64 n = {3}, ", "").replace("x) =>", "x, int64 n) =>")
    )
    assert [f.feature for f in graphfix.check(model, "tflite1.29")] == ["scope:outer-constant"]
    result = graphfix.run(model, "tflite1.29", trust_rules=True)
    assert (result.exit_code, result.report.findings_after) == (0, ())
