"""add-to-sum: the same sum of two tensors."""

import onnx

import graphfix


def test_a_sum_of_a_concat_within_a_conv_is_repaired_for_opencv_4() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1,2,2,2] x, float[1,1,2,2] z)'
        " => (float[1,2,2,2] y) <float[2,2,1,1] w = {1, 2, 3, 4}> { a = Relu (z) b = Abs (z)"
        " k = Concat <axis = 1> (a, b) d = Conv <kernel_shape = [1,1]> (x, w) y = Add (d, k) }"
    )
    result = graphfix.run(model, target="opencv4.10")
    assert result.exit_code == 0
    assert result.model.graph.nodes[-1].op == "Sum"
