"""Small detectors that give what they are fed with, and torch-free suppression to check them."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto

from tests.edits.small_models import parsed

Array = np.ndarray[Any, Any]


def passing_on(*ends: str, opset: int = 17, nodes: str = "", ir: int = 8) -> ModelProto:
    """Return a model whose outputs are its inputs times one: ``float[N, 7, 9] head``.

    Where it has a head, the metadata calls it a detector, as ultralytics does.
    """
    inputs = ", ".join("] in_".join(end.rsplit("] ", 1)) for end in ends)
    names = [end.split()[-1] for end in ends]
    body = nodes or " ".join(f"{n} = Mul (in_{n}, one)" for n in names)
    kind = ends[0].split("[")[0]
    one = 0x3C00 if kind == "float16" else 1  # the parser takes bits of float16
    model = parsed(
        f'<ir_version: {ir}, opset_import: ["" : {opset}]> g ({inputs}) => ({", ".join(ends)})'
        f"<{kind} one = {{{one}}}> {{ {body} }}"
    )
    if "head" in names:
        model.metadata_props.add(key="task", value="detect")
    return model


def chosen(
    corners: Array, scores: Array, score: float = 0.25, iou: float = 0.45, count: int = 100
) -> list[tuple[int, int, float]]:
    """Return (box, class, score) of one image, slowly: one pair of boxes after the other."""
    found: list[tuple[int, int, float]] = []
    for label in range(scores.shape[1]):
        kept: list[int] = []
        for box in sorted(range(len(corners)), key=lambda i: (-scores[i, label], i)):
            alive = all(overlap(corners[box], corners[other]) <= iou for other in kept)
            if scores[box, label] > score and alive and len(kept) < count:
                kept.append(box)
        found += [(box, label, float(scores[box, label])) for box in kept]
    return sorted(found, key=lambda row: (-row[2], row[1]))[:count]


def overlap(one: Array, two: Array) -> float:
    """Return the intersection over union of two boxes by their corners."""
    width = min(one[2], two[2]) - max(one[0], two[0])
    height = min(one[3], two[3]) - max(one[1], two[1])
    common = max(width, 0) * max(height, 0)
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (one, two)]
    return float(common / (sum(areas) - common))


def boxes_of(images: int, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Return boxes by middle and size, and by corners; eighths, so that nothing is rounded."""
    rng = np.random.default_rng(seed)
    middle = rng.integers(8, 40, (images, count, 2)).astype(np.float32)
    size = rng.integers(4, 16, (images, count, 2)).astype(np.float32)
    corners = np.concatenate([middle - size / 2, middle + size / 2], axis=-1)
    return np.concatenate([middle, size], axis=-1), corners


def check_detections(got: dict[str, Any], corners: Array, scores: Array, **asked: Any) -> None:
    """Assert that outputs are what `chosen` gives for each image, and zeros after it."""
    first = asked.pop("first", 0)
    for image in range(len(corners)):
        rows = chosen(corners[image], scores[image], **asked)
        count = len(rows)
        assert got["num_detections"][image].tolist() == [count]
        want = [corners[image, box].tolist() for box, _, _ in rows]
        assert got["detection_boxes"][image, :count].tolist() == want
        assert got["detection_classes"][image, :count].tolist() == [c + first for _, c, _ in rows]
        np.testing.assert_allclose(
            got["detection_scores"][image, :count], [s for _, _, s in rows], rtol=1e-5
        )
        for name in ("detection_boxes", "detection_scores", "detection_classes"):
            assert not got[name][image, count:].any()
