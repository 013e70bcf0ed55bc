"""TensorRT for RTX in a process of its own: stages, sizes and the device, with a stand-in."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from types import ModuleType

import numpy as np
import onnx
import pytest

from graphfix.api import run
from graphfix.engines.engine import engine_of
from graphfix.errors import UsageError
from graphfix.report import Verdict
from graphfix.testing import parse
from tests.engines.tensorrt import rtx_stand_in

TARGET = "trt-rtx1.7"
MODEL = """
<ir_version: 8, opset_import: ["": 17]>
g (float[N, 4] x) => (float[N, 4] y) { i = Identity (x) y = Add (i, x) }
"""
X = np.arange(8, dtype=np.float32).reshape(2, 4)


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program, in this process."""
    monkeypatch.setitem(sys.modules, "tensorrt_rtx_bindings", rtx_stand_in)
    path = engine_of("trt-rtx").program
    assert path is not None
    spec = importlib.util.spec_from_file_location("rtx_program", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    rtx_stand_in.asked.clear()
    return made


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment for the engine, with the stand-in for its library."""
    home = tmp_path / TARGET
    venv.create(home, symlinks=sys.platform != "win32")
    packages = next(home.rglob("site-packages"))
    shutil.copy(str(rtx_stand_in.__file__), packages / "tensorrt_rtx_bindings.py")
    found = {str(Path(str(module.__file__)).parents[1]) for module in (np, onnx)}
    (packages / "here.pth").write_text("\n".join(found))
    monkeypatch.setenv("GRAPHFIX_ENGINES", str(tmp_path))


def saved(folder: Path, graph: str) -> str:
    path = folder / "m.onnx"
    model = parse(f'<ir_version: 8, opset_import: ["": 17]> g {graph}')
    path.write_bytes(model.SerializeToString())
    return str(path)


def test_open_sizes_are_those_of_the_first_sample(program: ModuleType, tmp_path: Path) -> None:
    graph = "(float[N,4] x, float[2] z, int64[2] sizes) => (float[a,b] y) { y = Expand (x, sizes) }"
    program.load(saved(tmp_path, graph), {"x": [3, 4]})
    sizes, shape = [1, 1], (3, 4)
    assert rtx_stand_in.asked[:-1] == [
        ("sm86", 0),
        ("x", shape, shape, shape),
        ("sizes", sizes, sizes, sizes),
    ]


def test_a_compute_capability_is_asked_for_by_name(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, "(float[2] x) => (float[2] y) { y = Relu (x) }")
    monkeypatch.setenv("GRAPHFIX_COMPUTE_CAPABILITY", "sm89")
    program.load(path, {})
    assert rtx_stand_in.asked == [("sm89", 0)]
    monkeypatch.setenv("GRAPHFIX_COMPUTE_CAPABILITY", "sm10")
    with pytest.raises(program.Refusal, match="it builds for no compute capability SM10"):
        program.load(path, {})


@pytest.mark.parametrize(
    ("node", "stage", "text"),
    [
        ("NonZero (x)", "parse", "In node n0 with operator NonZero: no plugin"),
        ("NonMaxSuppression (x, x)", "build", "n0 has no runners that implement it"),
    ],
)
def test_a_refusal_has_its_stage(
    program: ModuleType, tmp_path: Path, node: str, stage: str, text: str
) -> None:
    with pytest.raises(program.Refusal) as refused:
        program.load(saved(tmp_path, f"(float[2] x) => (int64[n,3] y) {{ y = {node} }}"), {})
    assert (refused.value.stage, str(refused.value)) == (stage, text)


def test_without_a_driver_there_is_nothing_to_run_on(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(program.ctypes, "CDLL", absent)
    built = program.load(saved(tmp_path, "(float[2] x) => (float[2] y) { y = Relu (x) }"), {})
    with pytest.raises(program.Refusal, match="an engine for sm86; there is no GPU") as refused:
        built({"x": X})
    assert refused.value.stage == program.DEVICE


def test_numbers_go_to_the_device_and_come_back(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = rtx_stand_in.Driver((8, 9))

    def driver_of(name: str) -> rtx_stand_in.Driver:
        return driver

    monkeypatch.setattr(program.ctypes, "CDLL", driver_of)
    built = program.load(saved(tmp_path, "(float[2] x) => (float[2] y) { y = Add (x, x) }"), {})
    for given in (X, X.astype(np.float64)[:, ::2]):
        np.testing.assert_array_equal(built({"x": given})["y"], given * 2)
    assert driver.buffers == {}
    assert rtx_stand_in.asked[0] == ("sm89", 0), "built for the GPU that is here"


@pytest.mark.parametrize(
    ("gpu", "wanted", "reason"),
    [
        ((9, 0), None, "an engine for sm86; the GPU here is sm90, which does not run that"),
        ((8, 6), "sm89", "an engine for sm89; the GPU here is sm86, which does not run that"),
    ],
)
def test_a_gpu_that_does_not_run_the_engine_is_none_to_run_on(
    program: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gpu: tuple[int, int],
    wanted: str | None,
    reason: str,
) -> None:
    driver = rtx_stand_in.Driver(gpu)

    def driver_of(name: str) -> rtx_stand_in.Driver:
        return driver

    monkeypatch.setattr(program.ctypes, "CDLL", driver_of)
    if wanted:
        monkeypatch.setenv("GRAPHFIX_COMPUTE_CAPABILITY", wanted)
    built = program.load(saved(tmp_path, "(float[2] x) => (float[2] y) { y = Relu (x) }"), {})
    with pytest.raises(program.Refusal, match=reason) as refused:
        built({"x": X})
    assert refused.value.stage == program.DEVICE


@pytest.mark.usefixtures("environment")
def test_a_result_that_builds_has_a_verdict_of_its_own() -> None:
    result = run(parse(MODEL), TARGET, verify="engine")
    found = result.report.verification
    assert (result.exit_code, found.status) == (0, Verdict.BUILT), found
    assert "TensorRT for RTX 1.7.1" in found.reason
    assert "there is no GPU here" in found.reason
    assert "onnxruntime" in found.method
    assert [(output.name, output.max_abs) for output in found.outputs] == [("y", 0.0)]


@pytest.mark.usefixtures("environment")
def test_it_builds_for_the_capability_that_is_asked_for() -> None:
    result = run(parse(MODEL), TARGET, verify="engine", compute_capability="sm89")
    assert result.report.verification.status is Verdict.BUILT
    assert "it builds an engine for sm89" in result.report.verification.reason


@pytest.mark.parametrize(
    ("target", "wanted", "complaint"),
    [
        (TARGET, "sm10", "'sm10' is none"),
        ("trt8.6", "sm86", "is for engines that build ahead of time"),
    ],
)
def test_a_capability_that_is_none_is_wrong_usage(target: str, wanted: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        run(parse(MODEL), target, compute_capability=wanted)


@pytest.mark.usefixtures("environment")
def test_what_the_builder_refuses_is_not_shown_to_be_equal() -> None:
    text = (
        '<ir_version: 8, opset_import: ["": 17]> g (float[1,9,4] b, float[1,1,9] s) => '
        "(int64[n,3] y) { y = NonMaxSuppression (b, s) }"
    )
    result = run(parse(text), TARGET, verify="engine", skip=["nms-by-selection"])
    assert result.exit_code == 1
    assert "build: n0 has no runners" in result.report.verification.reason


@pytest.mark.usefixtures("environment")
def test_an_engine_that_is_broken_says_nothing_about_the_model(tmp_path: Path) -> None:
    bindings = next(tmp_path.rglob("tensorrt_rtx_bindings.py"))
    bindings.write_text("raise ImportError('libcudart: failed to map segment')")
    path = tmp_path / "m.onnx"
    path.write_bytes(parse(MODEL).SerializeToString())
    words = [sys.executable, "-m", "graphfix", "check", str(path), "--target", TARGET]
    done = subprocess.run([*words, "--engine", "--json"], capture_output=True, check=False)
    found = json.loads(done.stdout)["findings"]
    assert done.returncode == 0, done.stderr
    assert [finding["severity"] for finding in found] == ["note"]
    assert "could not be asked: " in found[0]["message"]
    assert "failed to map segment" in found[0]["message"]
