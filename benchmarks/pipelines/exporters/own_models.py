"""Export a module of `own` (speech, robotics, graphs, tables): own_models.py NAME ROW FOLDER.

ROW is JSON: what `torch_onnx` reads.
"""

import json
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("torch",)


def main() -> None:
    """Export what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    torch: Any = import_module("torch")
    torch.manual_seed(0)
    own: Any = import_module("own_networks")
    model, args, names = getattr(own, name.replace("-", "_"))()
    write: Any = import_module("torch_onnx").export
    write(model, args, f"{folder}/{name}.onnx", row, names)


if __name__ == "__main__":
    main()
