"""The plugin runs as its numpy model; rows are compared with onnxruntime up to the count."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import assert_refused
from tests.passes.detection_models import THRESHOLD, assert_selected, model

PASS = "nms-to-efficient-nms"


def plugin_of(proto: onnx.ModelProto) -> dict[str, object]:
    """Return the attributes of the only plugin node."""
    (node,) = [n for n in proto.graph.node if n.op_type == "EfficientNMS_TRT"]
    assert node.domain == "TRT"
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_one_class(center: int, opset: int) -> None:
    text = model(
        constants=THRESHOLD,
        inputs="b, s, k, t, m",
        attributes=f"<center_point_box = {center}>",
        opset=opset,
    )
    done = assert_selected(PASS, text, (1, 1, 9))
    assert plugin_of(done.after) == {
        "background_class": -1,
        "box_coding": 0,
        "iou_threshold": pytest.approx(np.nextafter(np.float32(0.4), np.float32(1)), abs=0),
        "max_output_boxes": 3,
        "plugin_version": b"1",
        "score_activation": 0,
        "score_threshold": pytest.approx(np.nextafter(np.float32(0.3), np.float32(1)), abs=0),
    }


def test_images_and_classes_in_the_order_of_onnxruntime() -> None:
    done = assert_selected(
        PASS, model((2, 3, 8), THRESHOLD, "b, s, k, t, m"), (2, 3, 8), numbers=range(12)
    )
    assert done.ops.count("EfficientNMS_TRT") == 3


@pytest.mark.parametrize("threshold", ["0", "0.005", "1"])
@pytest.mark.parametrize("overlap", ["0", "1"])
def test_thresholds(threshold: str, overlap: str) -> None:
    constants = f"int64 k = {{20}}, float t = {{{overlap}}}, float[1] m = {{{threshold}}}"
    text = model(constants=constants, inputs="b, s, k, t, m")
    assert_selected(PASS, text, (1, 1, 9), numbers=range(12))


def test_scores_that_cannot_be_negative_need_no_threshold() -> None:
    text = model(inputs="b, p, k, t").replace("{ y =", "{ p = Sigmoid (s)  y =")
    done = assert_selected(PASS, text, (1, 1, 9), numbers=range(12))
    assert plugin_of(done.after)["score_threshold"] == 0


REFUSED = [
    (model(), "score_threshold must be at least 0 or scores be known to be; it is None"),
    (
        model(("N", 1, 9), THRESHOLD, "b, s, k, t, m"),
        "the shape of b must be static; it is ['N', 9, 4]",
    ),
    (
        model((1, 1, 5000), THRESHOLD, "b, s, k, t, m"),
        "there must be at most 4096 boxes, which is what the plugin looks at; there are 5000",
    ),
    (model((1, 17, 9), THRESHOLD, "b, s, k, t, m"), "there must be at most 16 plugin nodes"),
    (
        model(
            constants=THRESHOLD,
            inputs="b, s, k, t, m",
            after="z = NonZero (y)",
            outputs="int64[2, q] z",
        ),
        "what comes after it must treat each row alone; NonZero is not known to",
    ),
    (
        '<ir_version: 8, opset_import: ["": 17]> g (bool c, float[1, 9, 4] b, float[1, 1, 9] s) '
        f"=> (int64[n, 3] y) <{THRESHOLD}> {{ y = If (c) "
        "<then_branch = t () => (int64[m, 3] p) { p = NonMaxSuppression (b, s, k, t, m) }, "
        "else_branch = e () => (int64[m, 3] q) { q = NonMaxSuppression (b, s, k, t, m) }> }",
        "it must be in the main graph; a body or a function has no declared rows",
    ),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_refused(text: str, reason: str) -> None:
    assert_refused(PASS, text, reason)


def test_proved_by_site_and_as_a_whole_and_never_chosen() -> None:
    text = model(constants=THRESHOLD, inputs="b, s, k, t, m")
    proto = onnx.parser.parse_model(text)
    result = graphfix.run(proto, "trt8.4", passes=[PASS], allow_io_change=True)
    assert result.exit_code == 0, result.report
    assert not [f for f in result.report.findings_after if f.blocks]
    (mine,) = result.report.outcomes
    proved = [s.certificate for s in mine.sites if s.certificate is not None]
    # That nothing is cut off any more is seen in the whole model alone.
    assert [p.status for p in proved] == ["equal", "inconclusive"]
    assert {s.accuracy for s in mine.sites if s.certificate is not None} == {"approximate"}
    assert result.report.verification.status == "equal"
    again = graphfix.compare(proto, result.model.to_proto()).verification
    assert again.status == "equal"
    alone = graphfix.run(proto, "trt8.4", allow_io_change=True, verify="off")
    applied = {o.pass_id for o in alone.report.outcomes if o.status == "applied"}
    assert applied == {"nms-by-selection"}
    refused = graphfix.run(proto, "trt8.4", passes=[PASS], verify="off")
    reasons = [o.reason for o in refused.report.outcomes if o.pass_id == PASS]
    assert reasons == ["needs --allow-io-change"]
