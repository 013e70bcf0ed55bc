"""Computing constants that numpy does not vouch for: in onnxruntime, in a child process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto

from graphfix.errors import EngineFailed

Array = np.ndarray[Any, Any]
SECONDS = 120
MEMORY = 8 << 30


def run_constants(model: ModelProto) -> dict[str, Array]:
    """Run a model without inputs in a child process and return its outputs by name.

    Raises:
        EngineFailed: onnxruntime refused it, crashed, or ran out of memory or time.
    """
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        source, target = Path(folder) / "model.onnx", Path(folder) / "values.npz"
        source.write_bytes(model.SerializeToString())
        command = [sys.executable, "-m", "graphfix.folding.running", str(source), str(target)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise EngineFailed(f"folding took more than {SECONDS} s") from None
        if done.returncode != 0 or not target.exists():
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise EngineFailed(f"onnxruntime cannot fold: {' '.join(last) or done.returncode}")
        with np.load(target) as values:
            names = [output.name for output in model.graph.output]
            return {name: values[f"v{index}"] for index, name in enumerate(names)}


def _child(source: str, target: str) -> None:
    import resource

    import onnxruntime  # type: ignore[import-untyped]

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    values = session.run(None, {})
    np.savez(target, **{f"v{index}": np.asarray(value) for index, value in enumerate(values)})


if __name__ == "__main__":
    _child(sys.argv[1], sys.argv[2])
