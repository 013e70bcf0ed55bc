"""Export a detector of ultralytics with random weights: ultralytics_models.py NAME ROW FOLDER.

ROW is JSON: `yaml` of the network, and `kwargs` of `YOLO.export`.
"""

import json
import shutil
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("torch", "ultralytics")


def main() -> None:
    """Export what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    torch: Any = import_module("torch")
    torch.manual_seed(0)
    ultralytics: Any = import_module("ultralytics")
    kind = ultralytics.YOLO if "world" not in row["yaml"] else ultralytics.YOLOWorld
    model = kind(row["yaml"], verbose=False)
    parameters = model.model.parameters()
    with torch.no_grad():
        for one in parameters:  # scores that differ, where the fresh biases make all alike
            one.add_(torch.randn_like(one) * 0.02)
    given = {"format": "onnx", "imgsz": 96, "simplify": False, "verbose": False, "device": "cpu"}
    found = model.export(**{**given, **row.get("kwargs", {})})
    shutil.move(str(found), f"{folder}/{name}.onnx")


if __name__ == "__main__":
    main()
