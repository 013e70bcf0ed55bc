"""Export a network of torchvision with random weights: torchvision_models.py NAME ROW FOLDER.

ROW is JSON: `model` (NAME without it), `side`, `kwargs`, `output` (a key of a dict of outputs),
`images` (for detectors, which take a list and return dicts), `detector` (a class, on a small
backbone), and what `torch_onnx` reads.
"""

import json
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("torch", "torchvision.models")

torch: Any = import_module("torch")


class Flat(torch.nn.Module):  # type: ignore[misc]  # of no known type
    """A network that takes a tensor and returns tensors."""

    def __init__(self, model: Any, images: bool, output: str) -> None:
        """Wrap."""
        torch.nn.Module.__init__(self)
        self.model, self.images, self.output = model, images, output

    def forward(self, x: Any) -> Any:
        """Call it."""
        found = self.model([x] if self.images else x)
        if self.images:
            return tuple(found[0].values())
        return found[self.output] if self.output else found


def detector(name: str, kwargs: dict[str, Any]) -> Any:
    """Return a detector on three convolutions."""
    nn: Any = torch.nn
    backbone = nn.Sequential(
        *(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU()),
        *(nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU()),
    )
    backbone.out_channels = 32
    detection: Any = import_module("torchvision.models.detection")
    anchors: Any = import_module("torchvision.models.detection.anchor_utils").AnchorGenerator
    given = dict(kwargs)
    if "RCNN" in name:
        given["rpn_anchor_generator"] = anchors(((16, 32),), ((0.5, 1.0, 2.0),))
        pool: Any = import_module("torchvision.ops").MultiScaleRoIAlign
        given["box_roi_pool"] = pool(["0"], 7, 2)
        if name == "MaskRCNN":
            given["mask_roi_pool"] = pool(["0"], 14, 2)
    elif name == "FCOS":
        given["anchor_generator"] = anchors(((8,),), ((1.0,),))
    else:
        given["anchor_generator"] = anchors(((16, 32),), ((0.5, 1.0, 2.0),))
    return getattr(detection, name)(backbone, **given)


def main() -> None:
    """Export what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    torch.manual_seed(0)
    models: Any = import_module("torchvision.models")
    kwargs = {"weights": None, **row.get("kwargs", {})}
    if row.get("backbone", False):
        kwargs["weights_backbone"] = None
    if "detector" in row:
        model = detector(row["detector"], row["kwargs"])
    else:
        model = models.get_model(row.get("model", name), **kwargs)
    side = row.get("side", 64)
    images = row.get("images", False)
    x = torch.rand(3, side, side) if images else torch.randn(1, 3, side, side)
    flat = Flat(model.eval(), images, row.get("output", ""))
    write: Any = import_module("torch_onnx").export
    outputs = row.get("outputs", ["output"])
    write(flat, (x,), f"{folder}/{name}.onnx", row, (["input"], outputs))


if __name__ == "__main__":
    main()
