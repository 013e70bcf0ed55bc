"""--attach-nms: what is chosen of each layout, how layouts are found, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto

from graphfix import UsageError, edits
from graphfix.analysis.inference import type_text
from graphfix.cli import main
from graphfix.edits.detectors import suppressing
from tests.edits.detector_models import boxes_of, check_detections, passing_on
from tests.edits.small_models import TOWER, checked, parsed, ran

BOXES, CLASSES, ROWS = 30, 3, 20


def scores_of(images: int, classes: int = CLASSES, seed: int = 1) -> np.ndarray[Any, Any]:
    """Return scores of which many tie and half pass, as float16 has them too."""
    rng = np.random.default_rng(seed)
    return (rng.integers(1, 16, (images, BOXES, classes)) / 32).astype(np.float32)


def yolov8(images: int, extra: int = 0) -> tuple[np.ndarray[Any, Any], ...]:
    """Return a head, the corners of its boxes and its scores."""
    boxes, corners = boxes_of(images, BOXES)
    scores = scores_of(images)
    more = np.arange(images * BOXES * extra, dtype=np.float32).reshape(images, BOXES, extra)
    rows = np.concatenate([boxes, scores, more], axis=-1)
    return rows.swapaxes(1, 2), corners, scores, more


@pytest.mark.parametrize("opset", [11, 12, 13, 17, 18, 22])
def test_channels_first(opset: int) -> None:
    before = passing_on(f"float[N, 7, {BOXES}] head", opset=opset)
    found = edits.attach_nms(before, score=0.25, iou=0.3, count=ROWS)
    after = checked(found)
    assert [type_text(info.type) for info in after.graph.output] == [
        "int32[N, 1]",
        "float32[N, 20, 4]",
        "float32[N, 20]",
        "int32[N, 20]",
    ]
    assert found.steps[0].said == (
        f"head read as yolov8: {BOXES} boxes of 3 classes",
        f"NonMaxSuppression, {len(after.graph.node) - 1} nodes: score 0.25, iou 0.3, count 20",
        "outputs num_detections, detection_boxes, detection_scores, detection_classes",
    )
    head, corners, scores, _ = yolov8(3)
    scores[0] /= 4  # nothing passes
    head[:, 4:] = scores.swapaxes(1, 2)
    got = ran(after, in_head=head)
    assert got["num_detections"].tolist() == [[0], [20], [20]]
    check_detections(got, corners, scores, iou=0.3, count=ROWS)


def test_objectness() -> None:
    head = f"float[2, {BOXES}, 8] head"
    after = checked(edits.attach_nms(passing_on(head), score=0.1, count=200, of=3))
    boxes, corners = boxes_of(2, BOXES)
    scores, there = scores_of(2), scores_of(2, 1, seed=2)
    got = ran(after, in_head=np.concatenate([boxes, there, scores], axis=-1))
    assert got["detection_boxes"].shape == (2, 200, 4)  # more rows than boxes and classes
    check_detections(got, corners, scores * there, score=0.1, count=200)


@pytest.mark.parametrize("layout", ["detr", "rtdetr"])
def test_logits(layout: str) -> None:
    columns = 5 + (layout == "detr")
    ends = (f"float[N, {BOXES}, 4] b", f"float[N, {BOXES}, {columns}] s")
    with pytest.raises(UsageError, match="b and s may be detr, rtdetr, ssd or retinanet"):
        edits.attach_nms(passing_on(*ends))
    after = checked(edits.attach_nms(passing_on(*ends), layout))
    boxes, corners = boxes_of(2, BOXES)
    logits = np.random.default_rng(3).normal(size=(2, BOXES, columns)).astype(np.float32)
    scores = 1 / (1 + np.exp(-logits))
    if layout == "detr":
        scores = (np.exp(logits) / np.exp(logits).sum(-1, keepdims=True))[..., :-1]
    check_detections(ran(after, in_b=boxes, in_s=logits), corners, scores)


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("op", ["Softmax", "Sigmoid"])
def test_boxes_and_scores(op: str, rank: int) -> None:
    sizes = "N, " * (rank - 2)
    ends = (f"float[{sizes}{BOXES}, 4] b", f"float[{sizes}{BOXES}, {CLASSES}] s")
    nodes = f"z = Sub (in_b, in_b) e = Exp (z) b = Mul (in_b, e) s = {op} (in_s)"
    found = edits.attach_nms(passing_on(*ends, nodes=nodes))
    after = checked(found)
    first = 1 if op == "Softmax" else 0  # the background
    name = "ssd" if first else "retinanet"
    said = f"b, s read as {name}: {BOXES} boxes of {CLASSES - first} classes"
    assert found.steps[0].said[0] == said
    _, corners = boxes_of(1, BOXES)
    logits = np.random.default_rng(3).normal(size=(1, BOXES, CLASSES)).astype(np.float32)
    scores = 1 / (1 + np.exp(-logits))
    if first:
        scores = (np.exp(logits) / np.exp(logits).sum(-1, keepdims=True))[..., 1:]
    feed = {"in_b": corners, "in_s": logits}
    got = ran(after, **(feed if rank == 3 else {name: x[0] for name, x in feed.items()}))
    check_detections(got, corners, scores, first=first)


HEADS = {  # by what nothing but the nodes shows that they are some, or are not
    "yolov8": "h = Concat <axis = 1> (b, p) y = Identity (h)",
    "wide rows of one Sigmoid": "h = Concat <axis = 1> (b, p) y = Sigmoid (h)",
    "hidden states": "h = Concat <axis = 1> (b, q) y = Tanh (h)",
    "a gate": "h = Concat <axis = 1> (b, q) g = Sigmoid (h) y = Mul (h, g)",
}


@pytest.mark.parametrize("kind", HEADS)
def test_a_head_is_shown_by_scores_next_to_boxes(kind: str) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[N, 4, 30] x, float[N, 3, 30] q) => (float[N, 7, 30] y)
    {{ b = Add (x, x) p = Sigmoid (q) {HEADS[kind]} }}"""
    if kind == "yolov8":
        found = edits.attach_nms(parsed(text), verify="off")
        assert found.steps[0].said[0] == "y read as yolov8: 30 boxes of 3 classes"
        return
    why = "y [N, 7, 30] may be yolov8, or no head: nothing shows that scores of a Sigmoid are next"
    with pytest.raises(UsageError, match=re.escape(why)):
        edits.attach_nms(parsed(text))
    named = edits.attach_nms(parsed(text), heads=("y",), verify="off")
    assert named.steps[0].said[0] == "y read as yolov8: 30 boxes of 3 classes"


def test_tall_outputs_are_asked_for() -> None:
    # Classes may come after 5 columns or after 4, and a transformer has such an output as well.
    before = passing_on("float[N, 30, 12] head")
    why = "head [N, 30, 12] may be yolov5 or yolov8, or no head: nothing says that it has 7 classes"
    with pytest.raises(UsageError, match=re.escape(why)):
        edits.attach_nms(before)
    with pytest.raises(UsageError, match="may be yolov5 or yolov8"):
        edits.attach_nms(before, of=8)  # 4 + classes, which is no layout
    before.metadata_props.add(key="names", value="['a', 'b', 'c', 'd', 'e', 'f', 'g']")
    found = edits.attach_nms(before, verify="off")
    assert found.steps[0].said[0] == "head read as yolov5: 30 boxes of 7 classes"


@pytest.mark.parametrize("op", ["Softmax", "Sigmoid"])
def test_four_columns_are_boxes_where_they_are_decoded(op: str) -> None:
    ends = ("float[N, 30, 4] b", "float[N, 30, 3] s")
    before = passing_on(*ends, nodes=f"b = Mul (in_b, one) s = {op} (in_s)")
    why = "b and s may be detr, rtdetr, ssd or retinanet: nothing shows that boxes are decoded"
    with pytest.raises(UsageError, match=why):
        edits.attach_nms(before)


def test_further_columns_follow_their_boxes() -> None:
    before = passing_on(f"float[N, 9, {BOXES}] head")
    before.metadata_props.add(key="names", value="{0: 'cat', 1: 'dog', 2: 'cow'}")
    after = checked(edits.attach_nms(before))
    head, corners, scores, more = yolov8(2, 2)
    got = ran(after, in_head=head)
    check_detections(got, corners, scores)
    for image, count in enumerate(got["num_detections"][:, 0]):
        near = [
            more[image, corners[image].tolist().index(box.tolist())]
            for box in got["detection_boxes"][image, :count]
        ]
        assert got["detection_extra"][image, :count].tolist() == [row.tolist() for row in near]
        assert not got["detection_extra"][image, count:].any()
    assert checked(edits.attach_nms(passing_on(f"float[N, 9, {BOXES}] head"), of=3))


def test_half_precision() -> None:
    after = checked(edits.attach_nms(passing_on(f"float16[N, 7, {BOXES}] head")))
    head, corners, scores, _ = yolov8(2)
    check_detections(ran(after, in_head=head.astype(np.float16)), corners, scores)


def test_thresholds_as_inputs() -> None:
    before = passing_on(f"float[N, 7, {BOXES}] head")
    found = edits.attach_nms(before, score="input", iou="input", count="input", classes="input")
    after = checked(found)
    names = ["in_head", "score_threshold", "iou_threshold", "max_detections", "classes"]
    assert [info.name for info in after.graph.input] == names
    head, corners, scores, _ = yolov8(2)
    asked = {"score": 0.1, "iou": 0.6, "count": 100}
    given = (
        np.array([0.1], np.float32),
        np.array([0.6], np.float32),
        np.array([100]),
        np.array([0, 1, 2]),
    )
    fed = dict(zip(names[1:], given, strict=True))
    check_detections(ran(after, in_head=head, **fed), corners, scores, **asked)
    logits = 8 * scores - 6
    head[:, 4:] = logits.swapaxes(1, 2)
    fed["score_threshold"] = np.array([-4], np.float32)
    asked["score"] = -4
    check_detections(ran(after, in_head=head, **fed), corners, logits, **asked)


@pytest.mark.parametrize("op", ["NonMaxSuppression", "TRT::EfficientNMS_TRT"])
def test_some_classes(op: str) -> None:
    ends = (f"float[N, {BOXES}, 4] b", f"float[N, {BOXES}, 4] s")
    nodes = "b = Mul (in_b, one) s = Softmax (in_s)"
    before = passing_on(*ends, nodes=nodes)
    found = edits.attach_nms(before, "ssd", classes=(3, 1), heads=("b", "s"), op=op)
    checked(found) if op == "NonMaxSuppression" else None
    assert [proof.verification.status.value for proof in found.proofs][:2] == ["equal", "equal"]
    if op == "NonMaxSuppression":
        _, corners = boxes_of(1, BOXES)
        logits = np.random.default_rng(3).normal(size=(1, BOXES, 4)).astype(np.float32)
        scores = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        got = ran(found.model.to_proto(), in_b=corners, in_s=logits)
        two = got["detection_classes"][0, : got["num_detections"][0, 0]]
        assert set(two) == {1, 3}
        got["detection_classes"] = np.where(
            got["detection_classes"] == 3, 0, got["detection_classes"]
        )
        check_detections(got, corners, scores[..., [3, 1]])


def test_the_plugin() -> None:
    found = edits.attach_nms(passing_on(f"float[N, 7, {BOXES}] head"), op="TRT::EfficientNMS_TRT")
    assert found.exit_code == 0
    node = found.model.to_proto().graph.node[-1]
    assert (node.domain, node.op_type) == ("TRT", "EfficientNMS_TRT")
    given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert given["score_threshold"] == np.nextafter(np.float32(0.25), np.float32(1))
    assert given["max_output_boxes"] == 100


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "may be yolov5 or yolov8": ("float[N, A, B] head", {}),
    "or rows that are chosen already": ("float[1, 300, 6] head", {}),
    "no output is": ("float[N, 7] head", {}),
    "score must be from 0 to 1; it is 2": ("float[N, 7, 30] head", {"score": 2.0}),
    "count must be from 1 to 10000; it is 0": ("float[N, 7, 30] head", {"count": 0}),
    "classes are 0 to 2; 3 is none": ("float[N, 7, 30] head", {"classes": (3,)}),
    "a class is named twice": ("float[N, 7, 30] head", {"classes": (1, 1)}),
    "'yolo' is no layout; they are auto, yolov5": ("float[N, 7, 30] head", {"layout": "yolo"}),
    "'x' is no output; they are head": ("float[N, 7, 30] head", {"heads": ("x",)}),
    "op must be NonMaxSuppression or DOMAIN::NAME of a plugin; it is X": (
        "float[N, 7, 30] head",
        {"op": "X"},
    ),
    "TRT::EfficientNMS_TRT has no input score": (
        "float[N, 7, 30] head",
        {"op": "TRT::EfficientNMS_TRT", "score": "input"},
    ),
    "does not say which boxes it chose, so that 2 columns": (
        "float[N, 9, 30] head",
        {"op": "TRT::EfficientNMS_TRT", "of": 3},
    ),
    "yolov8 of [N, 7, 30] has 3 columns for classes, not 5": ("float[N, 7, 30] head", {"of": 5}),
    "yolov8 has 1 outputs, not 2": (
        "float[N, 7, 30] head",
        {"heads": ("head", "head"), "layout": "yolov8"},
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_refused(reason: str) -> None:
    end, asked = REFUSED[reason]
    with pytest.raises(UsageError, match=re.escape(reason)):
        edits.attach_nms(passing_on(end), **asked)


def test_columns_that_may_be_of_masks_are_asked_for() -> None:
    ends = ("float[N, 9, 30] head", "float[N, 2, 6, 6] masks")
    with pytest.raises(UsageError, match="masks may be masks: how many of 5 columns"):
        edits.attach_nms(passing_on(*ends))
    after = checked(edits.attach_nms(passing_on(*ends), of=3))
    assert [info.name for info in after.graph.output][-2:] == ["detection_extra", "masks"]


def test_turned_boxes_and_taken_names_are_refused() -> None:
    before = passing_on("float[N, 7, 30] head")
    before.metadata_props[0].value = "obb"
    with pytest.raises(UsageError, match="the boxes are turned"):
        edits.attach_nms(before)
    ends = ("float[N, 7, 30] head", "float[N] num_detections")
    with pytest.raises(UsageError, match="has a tensor 'num_detections' already"):
        edits.attach_nms(passing_on(*ends))
    with pytest.raises(UsageError, match="is for models of opset 11 and newer"):
        edits.attach_nms(passing_on("float[N, 7, 30] head", opset=10))
    with pytest.raises(UsageError, match="no output is"):
        edits.attach_nms(parsed(TOWER))


def test_a_wrong_suppression_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = getattr(suppressing, "_boxes_and_scores")  # noqa: B009

    def wrong(*given: Any) -> list[str]:
        return [line.replace("reach = Mul", "reach = Add") for line in right(*given)]

    monkeypatch.setattr(suppressing, "_boxes_and_scores", wrong)
    found = edits.attach_nms(passing_on(f"float[N, 7, {BOXES}] head"))
    assert found.exit_code == 4
    assert found.proofs[0].wrong


def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(passing_on("float[N, 7, 30] head").SerializeToString())
    text = "yolov8,score=0.5,iou=input,count=7,classes=0+2,heads=head"
    assert main(["edit", "m.onnx", "--attach-nms", text, "-o", "o.onnx"]) == 0
    graph = ModelProto.FromString(Path("o.onnx").read_bytes()).graph
    assert [info.name for info in graph.input] == ["in_head", "iou_threshold"]
    assert graph.output[1].type.tensor_type.elem_type == TensorProto.FLOAT
    for wrong in ("yolov8,score", "yolov8,score=much", "yolov8,size=3", "auto,of=1,of=1"):
        assert main(["edit", "m.onnx", "--attach-nms", wrong, "-o", "p.onnx"]) == 2
        assert "is not of the form LAYOUT,score=0.25" in capsys.readouterr().err
