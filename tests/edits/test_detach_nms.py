"""--detach-nms: where models are cut, what is noted of it, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, numpy_helper

from graphfix import UsageError, edits
from graphfix.cli import main
from tests.edits.detector_models import boxes_of, passing_on
from tests.edits.small_models import HEAD, TOWER, checked, parsed, ran, samples

BOXES = 30
# As ultralytics writes it: boxes and their best classes, of which those that pass go to NMS.
CHOSEN = (
    HEAD
    + """
g (float[N, 7, 30] x, float[N, 4] other) => (float[kept, 5] y, float[N, 4] z)
<float[1] one = {1}, float[1] low = {0.25}, int64[1] zero = {0}, int64[1] four = {4},
 int64[1] seven = {7}, int64[1] two = {2}, float[1] iou = {0.5}, int64[1] most = {200},
 int64[3] single = {1, 1, -1}, int64[3] alone = {1, -1, 4}, int64[2] column = {-1, 1}>
{
  [head] h = Sigmoid (x)
  [turn] t = Transpose <perm = [0, 2, 1]> (h)
  z = Neg (other)
  boxes = Slice (t, zero, four, two)
  classes = Slice (t, four, seven, two)
  best = ReduceMax <axes = [2], keepdims = 0> (classes)
  passing = Greater (best, low)
  found = NonZero (passing)
  where = Transpose <perm = [1, 0]> (found)
  near = GatherND (boxes, where)
  points = GatherND (best, where)
  all_near = Reshape (near, alone)
  all_points = Reshape (points, single)
  [nms] s = NonMaxSuppression (all_near, all_points, most, iou)
  last = Gather <axis = 1> (s, two)
  index = Squeeze (last, one_axis)
  b = Gather (near, index)
  p = Gather (points, index)
  p2 = Reshape (p, column)
  y = Concat <axis = 1> (b, p2)
}
"""
).replace("int64[2] column", "int64[1] one_axis = {1}, int64[2] column")
# Boxes and scores of their own, the suppression in a branch as torchvision has it.
PAIR = (
    HEAD
    + """
g (float[20, 4] b, float[20, 3] s) => (int64[kept, 3] y)
<float[1] iou = {0.6}, float[1] low = {0.05}, int64[1] most = {7}, int64[3] as_boxes = {1, 20, 4},
 int64[3] as_scores = {1, 3, 20}, int64 no = {0}>
{
  boxes = Relu (b)
  scores = Softmax (s)
  turned = Transpose <perm = [1, 0]> (scores)
  one = Reshape (boxes, as_boxes)
  two = Reshape (turned, as_scores)
  count = Size (boxes)
  some = Greater (count, no)
  y = If (some) <
    then_branch = t () => (int64[a, 3] r) { r = NonMaxSuppression (one, two, most, iou, low) },
    else_branch = e () => (int64[e, 3] q) { q = NonMaxSuppression (one, two, most, iou, iou) }
  >
}
"""
)


def noted(proto: ModelProto) -> dict[str, Any]:
    """Return what is in the metadata."""
    (entry,) = (e for e in proto.metadata_props if e.key == "graphfix_nms")
    found: dict[str, Any] = json.loads(entry.value)
    return found


def test_what_chooses_goes() -> None:
    before = parsed(CHOSEN)
    found = edits.detach_nms(before)
    after = checked(found)
    assert [node.op_type for node in after.graph.node] == ["Sigmoid", "Neg"]
    assert [info.name for info in after.graph.output] == ["h", "z"]
    x, other = samples(2, 7, BOXES), samples(2, 4)
    got = ran(after, x=x, other=other)
    np.testing.assert_allclose(got["h"], 1 / (1 + np.exp(-x)), rtol=1e-5)
    assert (got["z"] == -other).all()
    assert noted(after) == {
        "op": "NonMaxSuppression",
        "layout": "yolov8",
        "heads": ["h"],
        "score": 0.25,
        "iou": 0.5,
        "count": 200,
    }
    assert found.steps[0].said[:2] == (
        "cut at h: yolov8",
        "it was NonMaxSuppression, score 0.25, iou 0.5, count 200; noted for --attach-nms auto",
    )


def test_it_is_attached_again_as_it_is_noted() -> None:
    after = checked(edits.attach_nms(checked(edits.detach_nms(parsed(CHOSEN)))))
    assert noted(after) == {
        "attached": True,
        "op": "NonMaxSuppression",
        "layout": "yolov8",
        "heads": ["h"],
        "score": 0.25,
        "iou": 0.5,
        "count": 200,
        "classes": [],
    }
    assert after.graph.output[1].type.tensor_type.shape.dim[1].dim_value == 200


@pytest.mark.parametrize("type", ["float", "float16"])
def test_what_was_attached_and_detached_is_as_it_was(type: str) -> None:
    before = passing_on(f"{type}[N, 9, {BOXES}] head", f"{type}[N, 2, 6, 6] masks")
    asked: dict[str, Any] = {"score": "input", "iou": 0.3, "classes": (2, 0), "of": 3}
    once = checked(edits.attach_nms(before, **asked))
    bare = checked(edits.detach_nms(once))
    assert list(bare.graph.node) == list(before.graph.node)
    assert list(bare.graph.output) == list(before.graph.output)
    assert list(bare.graph.initializer) == list(before.graph.initializer)
    again = checked(edits.attach_nms(bare))
    assert noted(again) == noted(once)
    assert list(again.graph.node) == list(once.graph.node)
    rng = np.random.default_rng(0)
    boxes, _ = boxes_of(2, BOXES)
    rows = np.concatenate([boxes, rng.uniform(size=(2, BOXES, 5))], axis=-1)
    kind = np.float16 if type == "float16" else np.float32
    feed = {
        "in_head": rows.swapaxes(1, 2).astype(kind),
        "in_masks": samples(2, 2, 6, 6).astype(kind),
        "score_threshold": np.array([0.4], np.float32),
    }
    one, two = ran(once, **feed), ran(again, **feed)
    assert one["num_detections"].min() > 3
    for name, value in one.items():
        np.testing.assert_array_equal(value, two[name])


def test_a_plugin_that_was_attached_goes_too() -> None:
    before = passing_on(f"float[N, 7, {BOXES}] head")
    bare = checked(edits.detach_nms(edits.attach_nms(before, op="TRT::EfficientNMS_TRT").model))
    assert list(bare.graph.node) == list(before.graph.node)
    assert list(bare.graph.output) == list(before.graph.output)


def test_boxes_and_scores_before_a_branch() -> None:
    after = checked(edits.detach_nms(parsed(PAIR)))
    assert [info.name for info in after.graph.output] == ["boxes", "scores"]
    assert [node.op_type for node in after.graph.node] == ["Relu", "Softmax"]
    said = noted(after)
    assert (said["layout"], said["heads"]) == ("ssd", ["boxes", "scores"])
    again = checked(edits.attach_nms(after))
    assert again.graph.output[0].name == "num_detections"


def test_a_plugin() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 17, "TRT" : 1]>'
        "g (float[2, 20, 4] b, float[2, 20, 3] s) =>"
        " (int32[2, 1] n, float[2, 9, 4] nb, float[2, 9] ns, int32[2, 9] nc)"
        "{ boxes = Relu (b) scores = Sigmoid (s) n, nb, ns, nc = TRT.EfficientNMS_TRT"
        ' <plugin_version = "1", score_threshold = 0.1, iou_threshold = 0.5, max_output_boxes = 9,'
        " background_class = -1, score_activation = 0, box_coding = 0> (boxes, scores) }"
    )
    after = checked(edits.detach_nms(parsed(text)))
    assert [info.name for info in after.graph.output] == ["boxes", "scores"]
    said = noted(after)
    assert said["op"] == "TRT::EfficientNMS_TRT"
    assert said["layout"] == "retinanet"
    assert (said["count"], round(said["iou"], 6), round(said["score"], 6)) == (9, 0.5, 0.1)
    assert "TRT" not in {node.domain for node in after.graph.node}


REFUSED = {
    "no node suppresses boxes": TOWER,
    "takes the best by score, whatever they overlap": HEAD
    + "g (float[N, 30] x) => (float[N, 5] y, int64[N, 5] i) <int64[1] k = {5}>"
    "{ y, i = TopK (x, k) }",
    "no boxes and scores are before all": HEAD
    + "g (float[1, 9, 4] b, float[1, 2, 9] s) => (int64[n, 3] y) <int64[1] k = {5}>"
    "{ y = NonMaxSuppression (b, s, k) }",
    "the boxes of If 'y' are decoded after some were chosen, by Exp 'large'": PAIR.replace(
        "one = Reshape (boxes, as_boxes)",
        "best, at = TopK (boxes, tops) row = Slice (at, no_row, one_row, one_row)"
        " column = Reshape (row, all) part = Gather (boxes, column)"
        " large = Exp (part) one = Reshape (large, as_boxes)",
    )
    .replace(
        "int64 no = {0}",
        "int64 no = {0}, int64[2] tops = {1, 4}, int64[1] no_row = {0}, int64[1] one_row = {1},"
        " int64[1] all = {-1}",
    )
    .replace("int64[2] tops = {1, 4}", "int64[1] tops = {2}"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_refused(reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        edits.detach_nms(parsed(REFUSED[reason]))


def test_a_network_after_the_suppression_is_refused() -> None:
    text = PAIR.replace("(int64[kept, 3] y)", "(float[kept, 3, 1900] y)").replace(
        "y = If", "z = If"
    )
    text = text.replace("<float[1] iou", "<int64[1] two_axis = {2}, float[1] iou")
    end = "f = Cast <to = 1> (z) r = Unsqueeze (f, two_axis) y = Mul (r, heavy) }"
    model = onnx.parser.parse_model(text[: text.rindex("}")] + end)
    heavy = numpy_helper.from_array(np.ones((1, 1, 1900), np.float32), "heavy")
    model.graph.initializer.append(heavy)
    with pytest.raises(UsageError, match="or weights come after"):
        edits.detach_nms(model)


def test_metadata_that_says_something_else() -> None:
    before = passing_on("float[N, 7, 30] head")
    before.metadata_props.add(key="graphfix_nms", value='{"attached": true, "heads": ["gone"]}')
    with pytest.raises(UsageError, match="no node computes 'gone', the head"):
        edits.detach_nms(before)
    before.metadata_props[-1].value = '{"score": "much"}'
    after = checked(edits.attach_nms(before))
    assert noted(after)["score"] == 0.25


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(parsed(CHOSEN).SerializeToString())
    words = ["edit", "m.onnx", "--detach-nms", "--attach-nms", "auto", "-o", "o.onnx"]
    assert main(words) == 0
    graph = ModelProto.FromString(Path("o.onnx").read_bytes()).graph
    assert [info.name for info in graph.output][-2:] == ["detection_classes", "z"]
