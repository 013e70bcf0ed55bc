"""Export a detector of ultralytics with random weights: ultralytics_models.py NAME ROW FOLDER.

ROW is JSON: `yaml` of the network, `cls` where it is not YOLO, and `kwargs` of its export.
Networks are half as wide at their deepest as those of the package, so that files stay small.
"""

import json
import shutil
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("torch", "ultralytics")
_MOST_CHANNELS = 512


def narrowed(name: str) -> None:
    """Write a description of a network with fewer channels into the current folder.

    There it is found before that of the package, which has the same name.
    """
    table: Any = import_module("ultralytics.nn.tasks").yaml_model_load(name)
    for scale in table.get("scales", {}).values():
        scale[2] = min(scale[2], _MOST_CHANNELS)
    import_module("ultralytics.utils").YAML.save(name, table)


def main() -> None:
    """Export what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    torch: Any = import_module("torch")
    torch.manual_seed(0)
    ultralytics: Any = import_module("ultralytics")
    narrowed(row["yaml"])
    kind = (
        "YOLOWorld" if "world" in row["yaml"] else "RTDETR" if "rtdetr" in row["yaml"] else "YOLO"
    )
    given = {} if kind == "RTDETR" else {"verbose": False}
    model = getattr(ultralytics, kind)(row["yaml"], **given)
    with torch.no_grad():
        for one in model.model.parameters():  # scores that differ, where fresh biases are alike
            one.add_(torch.randn_like(one) * 0.02)
    usual = {"format": "onnx", "imgsz": 96, "simplify": False, "verbose": False, "device": "cpu"}
    found = model.export(**{**usual, **row.get("kwargs", {})})
    shutil.move(str(found), f"{folder}/{name}.onnx")


if __name__ == "__main__":
    main()
