"""Run a pass of Olive on a file.

    olive_passes.py OPTIONS SOURCE OUT

OPTIONS is JSON: `module` below olive.passes.onnx, `cls`, and `config` of the pass.
"""

import json
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

PRELOADED = ("onnx", "onnxruntime", "olive.model", "olive.passes.olive_pass")


def main() -> None:
    """Do what the command line says."""
    given, source, out = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
    module: Any = import_module(f"olive.passes.onnx.{given['module']}")
    make: Any = import_module("olive.passes.olive_pass").create_pass_from_dict
    hardware: Any = import_module("olive.hardware")
    one = make(
        getattr(module, given["cls"]),
        given.get("config", {}),
        disable_search=True,
        accelerator_spec=hardware.DEFAULT_CPU_ACCELERATOR,
    )
    handler: Any = import_module("olive.model").ONNXModelHandler
    made = one.run(handler(source), str(Path(out).with_name("olive")))
    onnx: Any = import_module("onnx")
    onnx.save(onnx.load(made.model_path), out)
    shutil.rmtree(Path(out).with_name("olive"), ignore_errors=True)


if __name__ == "__main__":
    main()
