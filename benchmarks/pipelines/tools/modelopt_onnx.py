"""Quantize a file with NVIDIA's ModelOpt, on the CPU.

    modelopt_onnx.py OPTIONS SOURCE OUT

OPTIONS is JSON: arguments of `modelopt.onnx.quantization.quantize`.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

PRELOADED = ("onnxruntime", "modelopt.onnx.quantization")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
draws: Any = import_module("draws")


def main() -> None:
    """Do what the command line says."""
    given, source, out = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
    session = draws.session_of(source)
    sizes = draws.running_sizes(session)
    feeds = list(draws.feeds(session.get_inputs(), sizes, 1, 1))
    quantize: Any = import_module("modelopt.onnx.quantization").quantize
    quantize(
        source,
        calibration_data=feeds[0],
        calibration_eps=["cpu"],
        output_path=out,
        log_level="ERROR",
        **given,
    )


if __name__ == "__main__":
    main()
