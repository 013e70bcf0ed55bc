"""Asks TensorRT for RTX which operators its parser imports: ``facts/rtx.json`` of its family.

    python -m benchmarks.tensorrt.rtx_operators 1.4=PYTHON 1.5=PYTHON ... > FACTS/rtx.json

Each PYTHON has ``tensorrt_rtx`` of that version (``pip install tensorrt-rtx-cu12-bindings==...
tensorrt-rtx-cu12-libs==... nvidia-cuda-runtime-cu12``, then ``pip install --no-deps
tensorrt-rtx-cu12==...``); no GPU is needed. Written is, for each version, its integer, that of
its parser, and the operators that are new to it or gone.
"""

from __future__ import annotations

import json
import subprocess
import sys

import onnx.defs

_ASK = """
import json, sys
import tensorrt_rtx as trt
log = trt.Logger(trt.Logger.ERROR)
trt.init_libnvinfer_plugins(log, "")
parser = trt.OnnxParser(trt.Builder(log).create_network(0), log)
ops = [op for op in json.load(sys.stdin) if parser.supports_operator(op)]
print(json.dumps([trt.__version__, trt.get_nv_onnx_parser_version(), ops]))
"""


def main() -> None:
    """Run from the command line."""
    schemas = onnx.defs.get_all_schemas_with_history()
    operators = sorted({schema.name for schema in schemas if not schema.domain})
    known: set[str] = set()
    lines: list[str] = []
    for given in sys.argv[1:]:
        version, _, python = given.partition("=")
        asked = subprocess.run(
            [python, "-I", "-c", _ASK],
            input=json.dumps(operators),
            capture_output=True,
            text=True,
            check=True,
        )
        build, parser, ops = json.loads(asked.stdout.splitlines()[-1])
        row = {
            "build": build,
            "parser": parser,
            "new": sorted(set(ops) - known),
            "gone": sorted(known - set(ops)),
        }
        lines.append(f" {json.dumps(version)}: {json.dumps(row)}")
        known = set(ops)
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
