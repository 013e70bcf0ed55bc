"""Export a network of timm with random weights: timm_models.py NAME ROW FOLDER.

ROW is JSON: `side` of the image, `kwargs` of create_model (or of `cls` below timm.models, where
create_model does not take them), and what `torch_onnx` reads.
"""

import json
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("torch", "timm")

torch: Any = import_module("torch")


def main() -> None:
    """Export what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    torch.manual_seed(0)
    given = {"num_classes": 10, **row.get("kwargs", {})}
    if "cls" in row:
        module, cls = row["cls"].rsplit(".", 1)
        model = getattr(import_module(f"timm.models.{module}"), cls)(**given)
    else:
        model = import_module("timm").create_model(name, pretrained=False, **given)
    side = row.get("side", 64)
    args = (torch.randn(2 if row.get("free") else 1, 3, side, side),)
    write: Any = import_module("torch_onnx").export
    write(model, args, f"{folder}/{name}.onnx", row, (["input"], ["output"]))


if __name__ == "__main__":
    main()
