"""Export a part of a diffusion pipeline with random weights: diffusers_models.py NAME ROW FOLDER.

ROW is JSON: `module` (diffusers, or transformers), `cls`, `config`, `method`, `call` (the sizes of
each input; what ends in `_ids`, and `timestep`, is of integers), and what `torch_onnx` reads.
"""

import json
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("torch", "diffusers")

torch: Any = import_module("torch")


class Called(torch.nn.Module):  # type: ignore[misc]  # of no known type
    """A network that is called by names and returns its first output."""

    def __init__(self, model: Any, method: str, names: list[str]) -> None:
        """Wrap."""
        torch.nn.Module.__init__(self)
        self.model, self.method, self.names = model, method, names

    def forward(self, *args: Any) -> Any:
        """Call it."""
        given = dict(zip(self.names, args, strict=True))
        found: Any = getattr(self.model, self.method)(**given, return_dict=False)
        first: Any = found[0]
        return first.mode() if self.method == "encode" else first  # of a distribution


def main() -> None:
    """Export what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    torch.manual_seed(0)
    cls: Any = getattr(import_module(row.get("module", "diffusers")), row["cls"])
    if row.get("module") == "transformers":
        model = cls(cls.config_class(**row["config"]))
    else:
        model = cls(**row["config"])
    names = list(row["call"])
    args: list[Any] = []
    for one, sizes in row["call"].items():
        if one.endswith("_ids"):
            args.append(torch.randint(0, 50, sizes))
        elif one in ("timestep", "class_labels"):
            args.append(torch.randint(0, 5, sizes))
        else:
            args.append(torch.randn(sizes))
    write: Any = import_module("torch_onnx").export
    called = Called(model.eval(), row.get("method", "forward"), names)
    write(called, tuple(args), f"{folder}/{name}.onnx", row, (names, ["output"]))


if __name__ == "__main__":
    main()
