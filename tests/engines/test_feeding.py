"""The programs that a run prints for engines: executed, in each that this machine has."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from graphfix.cli import main
from graphfix.engines.engine import engine_of
from graphfix.engines.hosting.places import python_of
from graphfix.engines.interface import Ends, Fed, Written
from graphfix.engines.targets import load_target
from tests.engines.hosted import installed

HEAD = '<ir_version: 8, opset_import: ["": 17]> g '
CONV = "h = Conv <pads = [1, 1, 1, 1], kernel_shape = [3, 3]> (image, w) "
PICTURES = (
    "(float[1, 3, 8, 16] image, float[5, 4] rows) => (float[1, 4, 8, 16] maps, float[5, 4] rest) "
    f"{{ {CONV} rest = Tanh (rows) maps = Relu (h) }}"
)
SEQUENCES = "(float[1, 6, 16] seq) => (float[1, 6, 8] out) { p = MatMul (seq, m) out = Relu (p) }"
OPEN = f"(float[N, 3, H, 16] image) => (float[N, 4, H, 16] maps) {{ {CONV} maps = Relu (h) }}"
# The name in the file and another one are those of one tensor; OpenCV has no vectors.
ODD = (
    "(float[7] v, float[4, 4] unused) => (float[1, 7] z, float[7] y) <int64[1] a = {0}> "
    "{ t = Tanh (v) s = Unsqueeze (t, a) y = Relu (v) q = Squeeze (s, a) z = Unsqueeze (q, a) }"
)
WEIGHTS = {"w": (4, 3, 3, 3), "m": (16, 8)}
_FAMILIES = ("mnn", "ncnn", "opencv", "openvino", "qnn", "rknn", "tflite", "tract", "tvm")
_STATIC = ("ncnn", "qnn", "rknn")  # an open size is a problem that is left
_SHAPE = re.compile(r"^(\S+) [(\[]([\d, ]*)[)\]]$", re.MULTILINE)


class Made(Protocol):
    """Runs graphfix on a graph for a target; returns the program that it writes."""

    def __call__(self, text: str, target: str, *, code: int = 0) -> Path:
        """Return the program, after a run that ends with this code."""
        ...


def targets() -> list[object]:
    """Return each target that is installed, and a skipped one for each family that is not."""
    found: list[object] = ["ort-1.32"]
    for family in _FAMILIES:
        reason = f"no {engine_of(family).title} here: graphfix targets --install {family}"
        skipped = pytest.param(family, marks=pytest.mark.skip(reason=reason))
        found += installed(family) or [skipped]
    return found


def written(text: str, path: Path) -> onnx.ModelProto:
    """Write a model with weights that are drawn."""
    model = parser.parse_model(HEAD + text)
    draw = np.random.default_rng(0)
    used = {name for node in model.graph.node for name in node.input} & WEIGHTS.keys()
    model.graph.initializer.extend(
        numpy_helper.from_array(draw.normal(size=WEIGHTS[name]).astype(np.float32), name)
        for name in used
    )
    path.write_bytes(model.SerializeToString())
    return model


def shapes_printed(program: Path, target: str) -> dict[str, tuple[int, ...]]:
    """Run a program in the Python of an engine; return what it prints."""
    engine = engine_of(load_target(target).family)
    python = python_of(target, engine.requirements) or Path(sys.executable)
    words = [str(python), program.name]
    if engine.family == "rknn":  # without PyTorch, which its toolkit wants, and which our child has
        words[1:] = [
            "-c",
            f"import runpy\nfor p in {[str(engine.program), program.name]}: runpy.run_path(p)",
        ]
    done = subprocess.run(
        words,
        cwd=program.parent,
        env=environment(python, program.parent),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return {
        name: tuple(int(size) for size in re.findall(r"\d+", sizes))
        for name, sizes in _SHAPE.findall(done.stdout)
    }


def environment(python: Path, folder: Path) -> Mapping[str, str]:
    """Return the variables for an engine's Python: its tools are found first."""
    tools = folder / "tools"
    tools.mkdir()
    # The wheel's own script installs packages and reports home.
    convert = tools / "MNNConvert"
    convert.write_text(f"#!{python}\nimport sys, _tools\n_tools.mnnconvert(sys.argv)\n")
    convert.chmod(0o755)
    # The wheel's own script imports PyTorch.
    pnnx = [str(path) for path in python.parent.parent.glob("lib/python3*/site-packages/pnnx")]
    # What onnx2tf would get from the network.
    np.save(
        folder / "calibration_image_sample_data_20x128x128x3_float32.npy",
        np.zeros((20, 128, 128, 3), np.float32),
    )
    path = os.pathsep.join([str(tools), *pnnx, str(python.parent), os.environ["PATH"]])
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    return {**kept, "PATH": path, "TF_USE_LEGACY_KERAS": "1", "CUDA_VISIBLE_DEVICES": "-1"}


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    monkeypatch.chdir(tmp_path)

    def made(text: str, target: str, *, code: int = 0) -> Path:
        written(text, Path("in.onnx"))
        words = ["run", "in.onnx", "--target", target, "-o", "a-b c.onnx", "--verify", "off"]
        assert main([*words, "--example", "run.py"]) == code
        return tmp_path / "run.py"

    return made


@pytest.mark.parametrize("target", targets())
def test_pictures(target: str, example: Made) -> None:
    program = example(PICTURES, target)
    family = load_target(target).family
    maps = (1, 8, 16, 4) if family == "tflite" else (1, 4, 8, 16)
    assert shapes_printed(program, target) == {"maps": maps, "rest": (5, 4)}


@pytest.mark.parametrize("target", targets())
def test_sequences(target: str, example: Made) -> None:
    program = example(SEQUENCES, target)
    assert shapes_printed(program, target) == {"out": (1, 6, 8)}


@pytest.mark.parametrize("target", targets())
def test_vectors_and_what_nothing_reads(target: str, example: Made) -> None:
    program = example(ODD, target)
    vector = (7, 1) if target.startswith("opencv4") else (7,)
    assert shapes_printed(program, target) == {"z": (1, 7), "y": vector}


@pytest.mark.parametrize("target", targets())
def test_open_sizes(target: str, example: Made) -> None:
    family = load_target(target).family
    program = example(OPEN, target, code=family in _STATIC)
    assert "# The file leaves N, H open: put your sizes.\n" in program.read_text()
    sizes = re.search(r"np.zeros\(\(1, 3, (\d+), 16\), np.float32\)", program.read_text())
    assert sizes is not None
    height = int(sizes[1])
    maps = (1, height, 16, 4) if family == "tflite" else (1, 4, height, 16)
    assert shapes_printed(program, target) == {"maps": maps}


@pytest.mark.parametrize("family", ["xnnpack", "directml", "coreml-nn", "coreml-mlprogram"])
def test_providers_leave_the_rest_to_the_cpu(family: str, example: Made) -> None:
    program = example(SEQUENCES, engine_of(family).example)
    said = program.read_text()
    compile(said, "run.py", "exec")
    assert "ExecutionProvider" in said.partition("providers=")[2].partition("CPUExecution")[0]
    assert shapes_printed(program, engine_of(family).example) == {"out": (1, 6, 8)}


@pytest.mark.parametrize("family", ["ort", *_FAMILIES])
def test_every_program_compiles(family: str, example: Made) -> None:
    for number, text in enumerate((PICTURES, SEQUENCES)):
        program = example(text, load_target(family).name)
        compile(program.read_text(), f"{number}.py", "exec")
        program.unlink()
        Path("a-b c.onnx").unlink()


def test_names_and_types_are_spelled_for_python() -> None:
    inputs = (
        Fed('it\'s "it"', "bool", ()),
        Fed("text", "string", (2,)),
        Fed("x\n", "int64", (1, 5), {"N\nimport os": 1}),
    )
    ends = Ends(inputs, ("y",))
    written = Written("a\\b.onnx", False, lambda: ((), frozenset()), lambda: ends)
    step = engine_of("ort").next_step(written, load_target("ort-1.32"))
    assert step is not None
    assert step.program.splitlines()[2:9] == [
        "# The file leaves N\\nimport os open: put your sizes.",
        "feed = {",
        "    'it\\'s \"it\"': np.zeros((), np.bool_),",
        '    "text": np.full((2,), "", object),',
        "    'x\\n': np.zeros((1, 5), np.int64),",
        "}",
        "session = ort.InferenceSession('a\\\\b.onnx', providers=[\"CPUExecutionProvider\"])",
    ]


@pytest.mark.parametrize("kind", ["bfloat16", "int4", "float8e4m3fn", "sequence", "", "unknown"])
def test_what_numpy_has_not_has_no_program(kind: str) -> None:
    ends = Ends((Fed("x", kind, (1,)),), ("y",))
    written = Written("a.onnx", False, lambda: ((), frozenset()), lambda: ends)
    assert engine_of("ort").next_step(written, load_target("ort-1.32")) is None
    assert engine_of("tidl").next_step(written, load_target("tidl")) is None


def test_what_mnn_opencv_and_ncnn_have_no_type_for() -> None:
    ends = Ends((Fed("x", "int64", ()),), ("y",))
    written = Written("a.onnx", False, lambda: ((), frozenset()), lambda: ends)
    for target, array in (
        ("mnn", "np.zeros((), np.int32)"),
        ("ncnn", "np.zeros((), np.int32)"),
        ("opencv4.10", "np.zeros((1,), np.float32)"),
        ("opencv5.0", "np.zeros((), np.int64)"),
    ):
        meant = load_target(target)
        step = engine_of(meant.family).next_step(written, meant)
        assert step is not None
        assert f'feed = {{"x": {array}}}' in step.program


def test_a_target_without_a_program_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(SEQUENCES, tmp_path / "in.onnx")
    words = ["run", str(tmp_path / "in.onnx"), "-o", str(tmp_path / "out.onnx"), "--verify", "off"]
    words += ["--example", str(tmp_path / "run.py")]
    assert main([*words, "--target", "trt8"]) == 2
    assert "no program is known that feeds the file to trt8.6" in capsys.readouterr().err
    assert not (tmp_path / "run.py").exists()
    assert main([*words, "--target", "ort-1.32", "--dry-run"]) == 2
    assert "--example wants a file that is written" in capsys.readouterr().err
