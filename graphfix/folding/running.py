"""Computing constants that numpy does not vouch for: in onnxruntime, in a child process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, numpy_helper

from graphfix.errors import EngineFailed
from graphfix.saturation import unsaturated

Array = np.ndarray[Any, Any]
SECONDS = 120
MEMORY = 8 << 30


def run_constants(model: ModelProto) -> dict[str, Array]:
    """Run a model without inputs in a child process and return its outputs by name.

    Where the model cannot be run as a whole its nodes are run one by one; outputs of nodes that
    fail, and of those that need them, are left out.

    Raises:
        EngineFailed: onnxruntime crashed, or ran out of memory or time.
    """
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        source, target = Path(folder) / "model.onnx", Path(folder) / "values.npz"
        source.write_bytes(model.SerializeToString())
        command = [sys.executable, "-m", "graphfix.folding.running", str(source), str(target)]
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=SECONDS, check=False, env=child_environment()
            )
        except subprocess.TimeoutExpired:
            raise EngineFailed(f"folding took more than {SECONDS} s") from None
        if done.returncode != 0 or not target.exists():
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise EngineFailed(f"onnxruntime cannot fold: {' '.join(last) or done.returncode}")
        names = [output.name for output in model.graph.output]
        with np.load(target) as values:
            return {name: values[f"v{i}"] for i, name in enumerate(names) if f"v{i}" in values}


def child_environment() -> dict[str, str]:
    """Return the environment of a child that finds this package wherever it is started."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _child(source: Path, target: Path) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    model = ModelProto.FromString(source.read_bytes())
    values = computed(model)
    names = {output.name: index for index, output in enumerate(model.graph.output)}
    arrays: dict[str, Any] = {f"v{names[name]}": value for name, value in values.items()}
    np.savez(target, **arrays)


def computed(model: ModelProto) -> dict[str, Array]:
    """Run a model without inputs in this process; what cannot be computed is left out."""
    try:
        return _run(model)
    except Exception:
        return _one_by_one(model)


def _run(model: ModelProto) -> dict[str, Array]:
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(
        unsaturated(model).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in model.graph.output]
    return {n: np.asarray(v) for n, v in zip(names, session.run(None, {}), strict=True)}


def _one_by_one(model: ModelProto) -> dict[str, Array]:
    known = {tensor.name: tensor for tensor in model.graph.initializer}
    infos = {output.name: output for output in model.graph.output}
    values: dict[str, Array] = {}
    for node in model.graph.node:
        if not all(name in known for name in node.input if name):
            continue
        single = ModelProto()
        single.CopyFrom(model)
        for part in ("node", "initializer", "output"):
            single.graph.ClearField(part)
        single.graph.node.append(node)
        single.graph.initializer.extend(known[name] for name in dict.fromkeys(node.input) if name)
        single.graph.output.extend(infos[name] for name in node.output if name)
        try:
            found = _run(single)
        except Exception:
            continue
        values.update(found)
        for name, value in found.items():
            known[name] = numpy_helper.from_array(value, name)
    return values


if __name__ == "__main__":
    _child(Path(sys.argv[1]), Path(sys.argv[2]))
