"""values-of-attention-apart: the same products, Max before the values."""

import onnx

import graphfix


def test_split_heads_are_repaired_for_rknn() -> None:
    weights = ", ".join(str(i % 7 - 3) for i in range(48))
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]> g (float[1,3,4] x) => (float[1,3,4] y)'
        f" <float[4,12] w = {{{weights}}}, int64[4] h = {{1, 3, 2, 2}}, int64[3] s = {{1, 3, 4}}>"
        " { m = MatMul (x, w) a, b, c = Split <axis = 2, num_outputs = 3> (m) ah = Reshape (a, h)"
        " bh = Reshape (b, h) ch = Reshape (c, h) q = Transpose <perm = [0, 2, 1, 3]> (ah)"
        " k = Transpose <perm = [0, 2, 3, 1]> (bh) v = Transpose <perm = [0, 2, 1, 3]> (ch)"
        " p = MatMul (q, k) o = Softmax (p) r = MatMul (o, v)"
        " t = Transpose <perm = [0, 2, 1, 3]> (r) y = Reshape (t, s) }"
    )
    assert [f.rule for f in graphfix.check(model, target="rknn2.3")] == ["values-of-split-heads"]
    result = graphfix.run(model, target="rknn2.3")
    assert result.exit_code == 0
    assert "Max" in [node.op for node in result.model.graph.nodes]
