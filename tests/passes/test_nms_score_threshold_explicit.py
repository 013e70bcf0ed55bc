import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite

PASS = "nms-score-threshold-explicit"
NEGATIVE = {
    "b": np.array([[[0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 1, 1]]], np.float32),
    "s": np.array([[[-3, -1, 0]]], np.float32),
}


def model(body: str, constants: str = "int64[1] k = {3}", sizes: str = "1, 3") -> str:
    images, count = sizes.split(", ")
    return (
        f'<ir_version: 8, opset_import: ["": 17]> g (float[{images}, {count}, 4] b, '
        f"float[{images}, 1, {count}] s) => (int64[n, 3] y) <{constants}> {{ {body} }}"
    )


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("sizes", ["1, 3", "N, M"])
def test_boxes_of_negative_scores_stay(center: int, sizes: str) -> None:
    body = f"y = NonMaxSuppression <center_point_box = {center}> (b, s, k)"
    done = assert_rewrite(
        PASS, model(body, sizes=sizes), feeds=[NEGATIVE], after=["NonMaxSuppression"]
    )
    assert len(done.after.graph.node[0].input) == 5
    assert done.after.graph.node[0].attribute[0].i == center


def test_in_a_body() -> None:
    done = assert_rewrite(
        PASS,
        '<ir_version: 8, opset_import: ["": 17]> g (bool c, float[1, 3, 4] b, float[1, 1, 3] s) '
        "=> (int64[n, 3] y) <int64[1] k = {3}, float[1] t = {0.5}> "
        "{ y = If (c) <then_branch = t () => (int64[m, 3] p) { p = NonMaxSuppression (b, s, k, t) "
        "}, else_branch = e () => (int64[m, 3] q) { q = NonMaxSuppression (b, s, k) }> }",
        feeds=[{**NEGATIVE, "c": np.array(value)} for value in (True, False)],
    )
    assert len(done.outcomes[0].sites) == 2


def test_tensorrt_is_given_it() -> None:
    import onnx

    proto = onnx.parser.parse_model(model("y = NonMaxSuppression (b, s, k)"))
    result = graphfix.run(proto, "trt8.6", verify="sites")
    assert result.exit_code == 0
    assert [o.pass_id for o in result.report.outcomes if o.status == "applied"] == [PASS]
    assert not [f for f in graphfix.check(result.model, "trt8.6") if f.blocks]
