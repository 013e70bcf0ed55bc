"""concat-constant-to-sum: constants at the ends of a Concat, added to what is padded."""

from onnx import parser

import graphfix
from tests.passes.lowering_models import written

K = "@k = Constant <value = float[2,1,2] {2.5, -3.0, 2.5, -3.0}> ()\n"


def test_what_ncnn_misreads_is_repaired() -> None:
    body = (
        "w = Constant <value = float[2,1,1,1] {1.0, 2.0}> ()\n@c = Conv (x, w)\n"
        "r = Constant <value = int64[3] {2, 2, 2}> ()\n@s = Reshape (@c, r)\n"
        f"{K}@y = Concat <axis = 1> (@k, @s)"
    )
    model = parser.parse_model(written(body, "float[2,1,1,2] x", "float[2,3,2]"))
    assert "form:Concat.constant" in {found.feature for found in graphfix.check(model, "ncnn1.0")}
    result = graphfix.run(model, "ncnn1.0", trust_rules=True)
    assert (result.exit_code, result.report.findings_after) == (0, ())
