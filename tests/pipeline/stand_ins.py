"""Stand-ins for TensorRT: a `trtexec` and the Python packages, with onnxruntime inside.

They take the options and write what the real ones are documented to take and write; what they
compute can be made wrong, and models can be refused, by `GRAPHFIX_STAND_IN`.
"""

from __future__ import annotations

import sys
from pathlib import Path

MODE = "GRAPHFIX_STAND_IN"

PROGRAM = """
import os, re, shutil, sys
import numpy as np, onnx, onnxruntime

mode = os.environ.get("GRAPHFIX_STAND_IN", "")
options = dict(word[2:].split("=", 1) if "=" in word else (word[2:], "") for word in sys.argv[1:])
number = {"ten": "100100"}.get(mode, "8601")
print(f"&&&& RUNNING TensorRT.trtexec [TensorRT v{number}] # " + " ".join(sys.argv))
if mode == "refuse":
    print("[11/22/2026-03:00:00] [E] [TRT] ModelImporter.cpp:773: While parsing node number 0")
    print("[11/22/2026-03:00:00] [E] Failed to parse onnx file")
    sys.exit(1)
plan = options.get("loadEngine") or options["onnx"]
if "saveEngine" in options:
    shutil.copy(plan, options["saveEngine"])
    assert "noTF32" in options
model = onnx.load(plan)
sizes = {}
for name, shape in re.findall(r"('[^']+'|[^,:]+):([0-9x]+)", options.get("shapes", "")):
    sizes[name.strip("'")] = [int(size) for size in shape.split("x")]
files = re.findall(r"('[^']+'|[^,:]+):([^,]+)", options.get("loadInputs", ""))
files = {name.strip("'"): file for name, file in files}
feed = {}
for info in model.graph.input:
    tensor = info.type.tensor_type
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    stored = {"int64": np.int32, "float64": np.float32}.get(dtype.name, dtype)
    dims = sizes.get(info.name) or [dim.dim_value for dim in tensor.shape.dim]
    feed[info.name] = np.fromfile(files[info.name], stored).astype(dtype).reshape(dims)
session = onnxruntime.InferenceSession(plan)
results = session.run(None, feed)
parts = []
for output, value in zip(session.get_outputs(), results):
    if mode == "wrong":
        value = value * 2
    numbers = ", ".join(f"{float(v):g}" if value.dtype.kind == "f" else str(int(v))
                        for v in value.reshape(-1))
    dims = "x".join(map(str, value.shape))
    parts.append(f'{{ "name" : "{output.name}"\\n  , "dimensions" : "{dims}"\\n'
                 f'  , "values" : [ {numbers} ]\\n  }}\\n')
with open(options["exportOutput"], "w") as stream:
    stream.write("[\\n  " + ", ".join(parts) + "]\\n")
with open(os.path.join(os.path.dirname(__file__), "calls.txt"), "a") as stream:
    stream.write(" ".join(sorted(options)) + "\\n")
print("&&&& PASSED TensorRT.trtexec")
"""

PACKAGE = """
import os
import numpy as np, onnxruntime


class Profile:
    def __init__(self):
        self.shapes = {}

    def add(self, name, min, opt, max):
        assert min == opt == max
        self.shapes[name] = min


def NetworkFromOnnxPath(path):
    return path


def CreateConfig(tf32, profiles):
    assert tf32 is False
    return profiles[0]


def EngineFromNetwork(network, config):
    def build():
        if os.environ.get("GRAPHFIX_STAND_IN") == "refuse":
            raise RuntimeError("Could not parse ONNX correctly")
        return onnxruntime.InferenceSession(network)

    return build


class TrtRunner:
    def __init__(self, engine):
        self.engine = engine

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def infer(self, feed):
        names = [output.name for output in self.engine.get_outputs()]
        wanted = {i.name: i.type for i in self.engine.get_inputs()}
        given = {n: v.astype(np.int64) if "int64" in wanted[n] else v for n, v in feed.items()}
        found = dict(zip(names, self.engine.run(None, given)))
        if os.environ.get("GRAPHFIX_STAND_IN") == "wrong":
            found = {name: value + 1 for name, value in found.items()}
        return found
"""


def put_program(folder: Path) -> Path:
    """Put a `trtexec` into a folder for PATH; return where it counts its calls."""
    program = folder / "trtexec"
    program.write_text(f"#!{sys.executable}\n{PROGRAM}", encoding="utf-8")
    program.chmod(0o755)
    return folder / "calls.txt"


def put_packages(folder: Path, version: str) -> None:
    """Put `tensorrt` and `polygraphy.backend.trt` into a folder for PYTHONPATH."""
    (folder / "tensorrt.py").write_text(f"__version__ = {version!r}\n", encoding="utf-8")
    backend = folder / "polygraphy" / "backend"
    backend.mkdir(parents=True)
    (folder / "polygraphy" / "__init__.py").touch()
    (backend / "__init__.py").touch()
    (backend / "trt.py").write_text(PACKAGE, encoding="utf-8")
