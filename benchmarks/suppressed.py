"""Suppressions attached to exported heads, next to torchvision.ops.nms of each class.

    python -m benchmarks.suppressed FILE... [--torchvision] [--images 3] [-o nms.md]

Each file is the raw head of a detector, or has a suppression, which is detached first;
`--torchvision` exports the raw heads of torchvision's RetinaNet, SSD and SSDlite next to them. A
suppression is attached with its score threshold as an input, and run in onnxruntime on drawn images
with the threshold where so many scores pass as make detections. What it gives is compared with
torchvision.ops.nms, called for each class on what the raw head gives; then it is detached and
attached again, and both files run on the same. Needs torch and torchvision.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from onnx import ModelProto

from benchmarks import RESULTS
from graphfix import UsageError, edits
from graphfix.edits.detectors.heads import Noted, noted_of
from graphfix.ir.protos import copied

Array = np.ndarray[Any, Any]
_IOU, _COUNT = 0.45, 100
_PASSING = (40, 90, 400)  # scores of one image after the other
_SIDE = 96  # of images where the file leaves it open


@dataclass(frozen=True)
class Row:
    """One file.

    Attributes:
        file: Its name.
        layout: That of its head, or why there is none.
        sizes: Boxes, classes and further columns.
        found: How many scores passed in each image, and how many of those boxes were chosen.
        wrong: How many of them torchvision did not choose at this place.
        differ: By how much boxes and scores differ at most.
        again: Whether the file that was detached and attached again gives the same.
    """

    file: str
    layout: str
    sizes: str = ""
    found: tuple[tuple[int, int], ...] = ()
    wrong: int = 0
    differ: float = 0.0
    again: bool = False


def measured(path: Path, images: int, fallback: str) -> Row:
    """Attach a suppression to a file, run it, and compare it with torchvision."""
    model = ModelProto.FromString(path.read_bytes())
    detached = ""
    try:
        if any(node.op_type == "NonMaxSuppression" for node in _nodes(model)):
            model, detached = _proto(edits.detach_nms(model, verify="off")), ", detached first"
        try:
            made = _attached(model, "auto")
        except UsageError as error:
            if " may be " not in error.message or "chosen already" in error.message:
                raise
            made, detached = _attached(model, fallback), f"{detached}, named"
    except UsageError as error:
        return Row(path.name, error.message)
    noted = noted_of(made)
    raw = copied(model)
    again = _attached(_proto(edits.detach_nms(made, verify="off")), "auto")
    sessions = [_session(each) for each in (raw, made, again)]
    found: list[tuple[int, int]] = []
    wrong, differ, same, sizes = 0, 0.0, True, ""
    for number, image in enumerate(_drawn(sessions[0], images)):
        head = _ran(sessions[0], image)
        boxes, scores = read([head[name] for name in noted.heads], noted)
        sizes = f"{boxes.shape[0]} of {scores.shape[1]}"
        ranked = np.unique(scores)[::-1]
        place = min(_PASSING[number % len(_PASSING)], len(ranked))
        lower = ranked[place] if place < len(ranked) else 0
        threshold = np.array([(ranked[place - 1] + lower) / 2], np.float32)
        feed = {**image, "score_threshold": threshold}
        got, other = (_ran(session, feed) for session in sessions[1:])
        same &= all(np.array_equal(value, other[name]) for name, value in got.items())
        wanted = torchvision_nms(boxes, scores, float(threshold[0]))
        count = int(got["num_detections"][0, 0])
        found.append((int((scores > threshold).sum()), count))
        wrong += abs(count - len(wanted))
        first = 1 if noted.layout == "ssd" else 0
        for row, (box, label, score) in enumerate(wanted[:count]):
            far = max(
                float(np.abs(got["detection_boxes"][0, row] - boxes[box]).max()),
                abs(float(got["detection_scores"][0, row]) - score),
            )
            wrong += far > 1e-3 or int(got["detection_classes"][0, row]) != label + first
            differ = max(differ, far)
    return Row(path.name, noted.layout + detached, sizes, tuple(found), wrong, differ, same)


def _attached(model: ModelProto, layout: str) -> ModelProto:
    asked: dict[str, Any] = {"score": "input", "iou": _IOU, "count": _COUNT}
    return _proto(edits.attach_nms(model, layout, verify="off", **asked))


def _proto(found: edits.Edited) -> ModelProto:
    return found.model.to_proto()


def _nodes(model: ModelProto) -> Iterator[Any]:
    for node in model.graph.node:
        yield node
        for attribute in node.attribute:
            yield from attribute.g.node


def _session(model: ModelProto) -> Any:
    """Return a session without optimizations: they leave out casts to float16 and back."""
    runtime: Any = onnxruntime
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return runtime.InferenceSession(model.SerializeToString(), options)


def _ran(session: Any, feed: dict[str, Array]) -> dict[str, Array]:
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feed), strict=True))


def _drawn(session: Any, images: int) -> Iterator[dict[str, Array]]:
    """Yield images of smooth noise, which differ from place to place as photographs do."""
    for seed in range(images):
        rng = np.random.default_rng(seed)
        feed: dict[str, Array] = {}
        for given in session.get_inputs():
            sizes = [n if isinstance(n, int) else _SIDE for n in given.shape]
            if len(sizes) == 4 and not isinstance(given.shape[0], int):
                sizes[0] = 1
            coarse = rng.uniform(size=(*sizes[:-2], 8, 8)).repeat(64, -1).repeat(64, -2)
            image = coarse[..., : sizes[-2], : sizes[-1]] * 0.8 + rng.uniform(size=sizes) * 0.2
            kind = np.float16 if "float16" in given.type else np.float32
            feed[given.name] = image.astype(kind)
        yield feed


def read(heads: Sequence[Array], noted: Noted) -> tuple[Array, Array]:
    """Return the corners of boxes [boxes, 4] and scores [boxes, classes] of the first image."""
    arrays = [head.astype(np.float32) for head in heads]
    if noted.layout == "yolov8":
        rows = arrays[0][0].T
        boxes, scores = rows[:, :4], rows[:, 4:]
        scores = scores[:, : noted.of] if noted.of else scores
        half = boxes[:, 2:] * np.float32(0.5)
        return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1), scores
    boxes, scores = (each.reshape(-1, each.shape[-1]) for each in arrays)
    if noted.layout == "ssd":
        return boxes, scores[:, 1:]
    assert noted.layout == "retinanet", "no other layout is among the files"
    return boxes, scores


def torchvision_nms(boxes: Array, scores: Array, threshold: float) -> list[tuple[int, int, float]]:
    """Return (box, class, score) of what torchvision.ops.nms keeps of each class, best first."""
    torch: Any = import_module("torch")
    ops: Any = import_module("torchvision.ops")
    found: list[tuple[int, int, float]] = []
    for label in range(scores.shape[1]):
        own = scores[:, label]
        passing = np.flatnonzero(own > np.float32(threshold))
        kept = ops.nms(torch.from_numpy(boxes[passing]), torch.from_numpy(own[passing]), _IOU)
        found += [(int(passing[i]), label, float(own[passing[i]])) for i in kept.tolist()]
    return sorted(found, key=lambda row: (-row[2], row[1]))[:_COUNT]


def exported(folder: Path) -> None:
    """Write the raw heads of three detectors of torchvision, with random weights."""
    torch: Any = import_module("torch")
    detection: Any = import_module("torchvision.models.detection")
    boxes_of: Any = import_module("torchvision.models.detection.image_list").ImageList

    class Raw(torch.nn.Module):  # type: ignore[misc]  # of no known type
        """The head of a detector, its boxes decoded."""

        def __init__(self, model: Any, softmax: bool) -> None:
            torch.nn.Module.__init__(self)
            self.model, self.softmax = model, softmax

        def forward(self, image: Any) -> Any:
            features = list(self.model.backbone(image).values())
            found = self.model.head(features)
            sizes = [tuple(image.shape[-2:])]
            (anchors,) = self.model.anchor_generator(boxes_of(image, sizes), features)
            boxes = self.model.box_coder.decode_single(found["bbox_regression"][0], anchors)
            logits = found["cls_logits"][0]
            scores = logits.softmax(-1) if self.softmax else logits.sigmoid()
            return boxes.unsqueeze(0), scores.unsqueeze(0)

    sides = {
        "retinanet_resnet50_fpn": 128,
        "ssd300_vgg16": 300,
        "ssdlite320_mobilenet_v3_large": 320,
    }
    for name, side in sides.items():
        torch.manual_seed(0)
        model = getattr(detection, name)(weights=None, weights_backbone=None, num_classes=21)
        raw = Raw(model.eval(), "ssd" in name)
        torch.onnx.export(
            raw,
            (torch.rand(1, 3, side, side),),
            str(folder / f"{name}-raw.onnx"),
            input_names=["image"],
            output_names=["boxes", "scores"],
            opset_version=17,
            dynamo=False,
        )


def page(rows: Sequence[Row]) -> str:
    """Return the page of some rows."""
    same = [row for row in rows if row.found and not row.wrong and row.again]
    lines = [
        "# Suppressions attached to exported heads",
        "",
        "`python -m benchmarks.suppressed FILE... --torchvision`: `edit --attach-nms` with ONNX's",
        f"NonMaxSuppression (iou {_IOU}, {_COUNT} rows), run in onnxruntime"
        f" {onnxruntime.__version__} on drawn images, next to torchvision.ops.nms of each class;",
        f"weights are random, the threshold of scores is put where {_PASSING} values or more pass.",
        f"The same boxes, and the same once detached and attached again: {len(same)} of"
        f" {sum(bool(row.found) for row in rows)} heads.",
        "",
        "| file | head | boxes of classes | chosen of those that pass, in each image |"
        " other than torchvision's | differ by at most | detached and attached again |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if not row.found:
            lines.append(f"| {row.file} | refused: {row.layout} | | | | | |")
            continue
        chosen = ", ".join(f"{count} of {passed}" for passed, count in row.found)
        again = "the same" if row.again else "**differs**"
        cells = [row.file, row.layout, row.sizes, chosen, row.wrong, f"{row.differ:.1g}", again]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def main(words: Iterable[str] | None = None) -> int:
    """Run from the command line; 1 where a file gives other boxes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--torchvision", action="store_true")
    parser.add_argument("--images", type=int, default=3)
    parser.add_argument("--layout", default="yolov8", help="where the shape does not say it")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "nms.md")
    given = parser.parse_args(None if words is None else list(words))
    with tempfile.TemporaryDirectory() as folder:
        files = list(given.files)
        if given.torchvision:
            exported(Path(folder))
            files += sorted(Path(folder).glob("*.onnx"))
        rows: list[Row] = []
        for path in files:
            rows.append(measured(path, given.images, given.layout))
            print(rows[-1], flush=True)
    given.output.write_text(page(rows), encoding="utf-8")
    return int(any(row.found and (row.wrong or not row.again) for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
