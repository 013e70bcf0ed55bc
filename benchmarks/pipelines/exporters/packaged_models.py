"""Export a module of a package with random weights: packaged_models.py NAME ROW FOLDER.

ROW is JSON: `cls` (module and class), `kwargs` ("none" is None), `call` (the sizes of each input;
what ends in `_ids` is of integers below 8, `lengths` are those of the axis before the last one of
the first input), and what `torch_onnx` reads.
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
    module, cls = row["cls"].rsplit(".", 1)
    kwargs = {key: None if one == "none" else one for key, one in row.get("kwargs", {}).items()}
    model = getattr(import_module(module), cls)(**kwargs)
    args: list[Any] = []
    for one, sizes in row["call"].items():
        if one.endswith("_ids"):
            args.append(torch.randint(0, 8, sizes))
        elif one == "lengths":
            args.append(torch.full(sizes, args[0].shape[-2], dtype=torch.long))
        else:
            args.append(torch.randn(sizes))
    outputs = row.get("outputs", ["output"])
    write: Any = import_module("torch_onnx").export
    write(model, tuple(args), f"{folder}/{name}.onnx", row, (list(row["call"]), outputs))


if __name__ == "__main__":
    main()
