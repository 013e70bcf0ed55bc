"""conv-transpose-bias-to-add: the bias after the product."""

from onnx import parser

import graphfix

W = ", ".join(f"{n / 7 - 1:.3f}" for n in range(24))
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '
VOLUME = HEAD + (
    "(float[1,1,2,3,2] x) => (float[A,B,C,D,E] y) "
    f"<float[1,3,2,2,2] w = {{{W}}}, float[3] b = {{0.5, -1.0, 2.0}}> "
    "{ y = ConvTranspose <strides = [2, 1, 1]> (x, w, b) }"
)


def test_tflite_gets_the_bias_of_volumes_after_them() -> None:
    model = parser.parse_model(VOLUME)
    found = [f.feature for f in graphfix.check(model, "tflite1.29")]
    assert found == ["form:ConvTranspose.bias", "attr:ConvTranspose.no-kernel_shape"]
    result = graphfix.run(model, "tflite1.29", trust_rules=True)
    assert (result.exit_code, result.report.findings_after) == (0, ())
