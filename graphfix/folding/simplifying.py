"""Running onnxsim in a child process, so that a crash, a leak or a loop of its own ends there."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from onnx import ModelProto, ValueInfoProto

from graphfix.errors import EngineFailed
from graphfix.folding.running import child_environment

SECONDS = 600
MEMORY = 12 << 30
_SHOWN = 300


def simplified(model: ModelProto, threshold: int, seconds: int = SECONDS) -> ModelProto:
    """Return what onnxsim makes of a model.

    Args:
        model: The model, its weights inside.
        threshold: onnxsim folds no tensor of more bytes than that.
        seconds: How long it may take.

    Raises:
        EngineFailed: onnxsim raised, crashed, ran out of memory or time, is not installed, or its
            own check on random inputs found other outputs.
    """
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        source, target = Path(folder) / "model.onnx", Path(folder) / "simple.onnx"
        source.write_bytes(model.SerializeToString())
        command = [sys.executable, "-m", "graphfix.folding.simplifying"]
        arguments = [str(source), str(target), str(threshold)]
        try:
            done = subprocess.run(
                [*command, *arguments],
                capture_output=True,
                timeout=seconds,
                check=False,
                env=child_environment(),
            )
        except subprocess.TimeoutExpired:
            raise EngineFailed(f"onnxsim took more than {seconds} s") from None
        if done.returncode != 0 or not target.exists():
            text = " ".join(done.stderr.decode(errors="replace").split())[-_SHOWN:]
            raise EngineFailed(f"onnxsim ended with code {done.returncode}: {text}")
        return ModelProto.FromString(target.read_bytes())


def _child(source: Path, target: Path, threshold: int) -> int:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    onnxsim: Any = import_module("onnxsim")

    model = ModelProto.FromString(source.read_bytes())
    static = all(_is_static(info) for info in model.graph.input)
    # Its own check draws inputs for static shapes only; the run compares the others.
    result, same = onnxsim.simplify(
        model, check_n=2 if static else 0, tensor_size_threshold=f"{threshold}B"
    )
    if not same:
        print("its own check on random inputs found other outputs", file=sys.stderr)
        return 1
    target.write_bytes(result.SerializeToString())
    return 0


def _is_static(info: ValueInfoProto) -> bool:
    tensor = info.type.tensor_type
    return tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim)


if __name__ == "__main__":
    sys.exit(_child(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
