"""Ask real engines which opsets, IR versions and local functions they take.

    python -m benchmarks.engines.limits --family openvino openvino2023.0 openvino2024.0 ...

Each is asked with a Relu, oldest target first. Writes ``facts/limits.json`` of the family's folder:
by version the lowest and the highest opset, the highest IR version (null where none that there is
was refused), whether a local function is read, and the operators of com.microsoft that are known:
it says something else of them than of an operator that no one knows, and does not crash.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, defs, helper, parser

from benchmarks import ROOT
from benchmarks.engines.kernels import Asker
from graphfix.learning.limits import FUNCTION, HIGHEST_IR, LOWEST_IR, X, relu

_LOWEST_OPSET = 7


def limits(target: str) -> dict[str, Any]:
    """Return what one engine takes."""
    asker = Asker(target)
    with tempfile.TemporaryDirectory(prefix="limits-") as folder:

        def takes(model: ModelProto) -> bool:
            path = Path(folder, "model.onnx")
            path.write_bytes(model.SerializeToString())
            return asker.verdict(path, {"x": X}, {"y": np.maximum(X, 0)})[0] == "equal"

        opsets = range(_LOWEST_OPSET, defs.onnx_opset_version() + 1)
        taken = [opset for opset in opsets if takes(relu(opset, 8))]
        irs = [ir for ir in range(LOWEST_IR, HIGHEST_IR + 1) if takes(relu(9, ir))]
        functions = takes(parser.parse_model(FUNCTION))
        path = Path(folder, "contrib.onnx")

        def said(op: str) -> str:
            path.write_bytes(_contrib(op).SerializeToString())
            verdict, words = asker.verdict(path, {"x": X}, {"y": X})
            return strange if verdict == "crashed" else words.replace(op, "OP")

        strange = ""
        strange = said("NoSuchOperatorAtAll")
        contrib = [op for op in _contrib_names() if said(op) != strange]
    asker.close()
    return {
        "opset": [min(taken), max(taken)],
        "refuses_newer": max(taken) < opsets[-1],
        "ir": None if max(irs) == HIGHEST_IR else max(irs),
        "functions": functions,
        "contrib": contrib,
    }


def _contrib(op: str) -> ModelProto:
    model = relu(15, 8)
    model.graph.node[0].op_type, model.graph.node[0].domain = op, "com.microsoft"
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def _contrib_names() -> list[str]:
    state: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    known = state.get_all_operator_schema()
    return sorted({schema.name for schema in known if schema.domain == "com.microsoft"})


def main() -> None:
    """Run from the command line."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--family", required=True, help="the name of its folder")
    options.add_argument("targets", nargs="+", metavar="TARGET")
    given = options.parse_args()
    lines = [f" {json.dumps(target)}: {json.dumps(limits(target))}" for target in given.targets]
    path = ROOT / "graphfix" / "engines" / given.family / "facts" / "limits.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
