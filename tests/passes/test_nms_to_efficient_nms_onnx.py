"""The plugin runs as its numpy model; rows are compared with onnxruntime up to the count."""

import numpy as np
import onnx
import pytest

from graphfix.testing import assert_refused
from passes.detection import _plugin_models as models
from tests.passes.detection_models import THRESHOLD, assert_selected, model

PASS = "nms-to-efficient-nms-onnx"


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
    (node,) = [n for n in done.after.graph.node if n.op_type == "EfficientNMS_ONNX_TRT"]
    given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert given["max_output_boxes_per_class"] == 3
    assert given["center_point_box"] == 0
    assert given["iou_threshold"] == np.nextafter(np.float32(0.4), np.float32(1))
    assert given["score_threshold"] == np.nextafter(np.float32(0.3), np.float32(1))


def test_images_and_classes_in_the_order_of_onnxruntime() -> None:
    done = assert_selected(
        PASS, model((2, 3, 8), THRESHOLD, "b, s, k, t, m"), (2, 3, 8), numbers=range(12)
    )
    assert done.ops.count("EfficientNMS_ONNX_TRT") == 6


@pytest.mark.parametrize("threshold", ["-0.05", "0", "0.005", "1"])
@pytest.mark.parametrize("limit", [1, 20])
def test_thresholds(threshold: str, limit: int) -> None:
    constants = f"int64 k = {{{limit}}}, float t = {{0.2}}, float[1] m = {{{threshold}}}"
    text = model(constants=constants, inputs="b, s, k, t, m")
    assert_selected(PASS, text, (1, 1, 9), numbers=range(12))


def test_without_a_threshold_negative_scores_count() -> None:
    assert_selected(PASS, model((1, 1, 4), inputs="b, s, k"), (1, 1, 4), numbers=range(12))


REFUSED = [
    (model(("N", 1, 9)), "the shape of b must be static; it is ['N', 9, 4]"),
    (
        model((1, 1, 5000)),
        "there must be at most 4096 boxes, which is what the plugin looks at; there are 5000",
    ),
    (model((6, 3, 9)), "there must be at most 16 plugin nodes"),
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


BOXES = np.array([[[0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6], [9, 9, 8, 8]]], np.float32)
SCORES = np.array([[[0.9, 0.1], [0.8, 0.95], [0.001, 0.002], [0.3, 0.7]]], np.float32)


def test_what_the_parser_of_tensorrt_8_makes_of_classes() -> None:
    """One limit for all classes, rows by falling score, copies of the last one."""
    given = {"max_output_boxes_per_class": 6, "iou_threshold": 0.5, "score_threshold": 0.2}
    (rows,) = models.efficient_nms_onnx([BOXES, SCORES], given)
    kept = [[0, 1, 1], [0, 0, 0], [0, 1, 3], [0, 0, 3]]
    assert rows.tolist() == [*kept, kept[-1], kept[-1]]
    (few,) = models.efficient_nms_onnx([BOXES, SCORES], {**given, "max_output_boxes_per_class": 2})
    assert few.tolist() == kept[:2]
    (none,) = models.efficient_nms_onnx([BOXES, SCORES], {**given, "score_threshold": 1.0})
    assert none.tolist() == [[-1, -1, -1]] * 6


def test_below_its_smallest_threshold_nothing_is_left_out() -> None:
    given = {"max_output_boxes_per_class": 9, "iou_threshold": 0.5, "score_threshold": 0.0015}
    (rows,) = models.efficient_nms_onnx([BOXES, SCORES], given)
    assert [0, 0, 2] in rows.tolist(), "though its score is 0.001"


def test_other_plugins_on_boxes_by_hand() -> None:
    given = {"max_output_boxes": 3, "iou_threshold": 0.5, "score_threshold": 0.2}
    counts, boxes, scores, labels = models.efficient_nms([BOXES, SCORES], given)
    assert counts.tolist() == [[3]]
    assert labels.tolist() == [[1, 0, 1]]
    assert boxes[0, 2].tolist() == [9, 9, 8, 8], "as they came"
    np.testing.assert_array_equal(scores, np.array([[0.95, 0.9, 0.7]], np.float32))
    agnostic = {**given, "class_agnostic": 1, "max_output_boxes": 4}
    counts, boxes, scores, labels = models.efficient_nms([BOXES, SCORES], agnostic)
    assert (counts.tolist(), labels.tolist()) == ([[2]], [[1, 1, 0, 0]])
    old = {"topK": 4, "keepTopK": 4, "iouThreshold": 0.5, "scoreThreshold": 0.75, "clipBoxes": 1}
    counts, boxes, scores, labels = models.batched_nms([BOXES[:, :, None], SCORES], old)
    assert counts.tolist() == [[2]]
    assert boxes[0, 0].tolist() == [0, 0, 1, 1]
    assert labels.tolist() == [[1, 0, -1, -1]]
    np.testing.assert_array_equal(scores, np.array([[0.95, 0.9, 0, 0]], np.float32))
