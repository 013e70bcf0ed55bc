"""The shipped fixtures are whole: index, sizes, checker, reference results, no machine paths."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
INDEX: list[dict[str, Any]] = tomllib.loads((FIXTURES / "index.toml").read_text(encoding="utf-8"))[
    "fixture"
]
NAMES: list[str] = [entry["name"] for entry in INDEX]
ATEN = "org.pytorch.aten"


def load(name: str) -> tuple[onnx.ModelProto, dict[str, Any]]:
    with np.load(FIXTURES / f"{name}.npz", allow_pickle=False) as arrays:
        written = (FIXTURES / f"{name}.onnx").read_bytes()
        return onnx.ModelProto.FromString(written), dict(arrays)


def test_the_index_names_every_file_once() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 20
    assert sorted(NAMES) == sorted(path.stem for path in FIXTURES.glob("*.onnx"))
    assert sorted(NAMES) == sorted(path.stem for path in FIXTURES.glob("*.npz"))


def test_all_files_together_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in FIXTURES.iterdir() if path.is_file()}
    assert sum(sizes.values()) < 2_000_000
    assert {name: size for name, size in sizes.items() if size >= 300_000} == {}


@pytest.mark.parametrize("entry", INDEX, ids=NAMES)
def test_a_file_is_what_the_index_says(entry: dict[str, Any]) -> None:
    name: str = entry["name"]
    model, arrays = load(name)
    imports = {opset.domain: opset.version for opset in model.opset_import}
    assert imports[""] == entry["opset"]
    assert (ATEN in imports) == (entry["exporter"] == "torchscript-aten")
    assert entry["troubles"]
    assert model.producer_name == "pytorch"
    expected = {f"in_{value.name}" for value in model.graph.input}
    expected |= {f"out_{value.name}" for value in model.graph.output}
    assert set(arrays) == expected
    for value in (*model.graph.input, *model.graph.output):
        prefix = "in" if value in model.graph.input else "out"
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        assert arrays[f"{prefix}_{value.name}"].dtype == dtype


@pytest.mark.parametrize("name", NAMES)
def test_a_file_passes_the_checker(name: str) -> None:
    checker: Any = importlib.import_module("onnx.checker")  # typed with a bare PathLike
    checker.check_model(load(name)[0], full_check=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_names_no_folder_of_a_machine(name: str) -> None:
    written = (FIXTURES / f"{name}.onnx").read_bytes()
    for folder in (b"/home/", b"/root/", b"/tmp/", b"/work/", b"/usr/", b"site-packages", b":\\"):
        assert folder not in written


def session(name: str) -> Any:
    ort: Any = importlib.import_module("onnxruntime")  # has no type stubs
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return ort.InferenceSession(
        FIXTURES / f"{name}.onnx", options, providers=["CPUExecutionProvider"]
    )


@pytest.mark.parametrize("name", [e["name"] for e in INDEX if e["exporter"] != "torchscript-aten"])
def test_onnxruntime_gives_the_results_of_pytorch(name: str) -> None:
    model, arrays = load(name)
    outputs = [value.name for value in model.graph.output]
    feeds = {value.name: arrays[f"in_{value.name}"] for value in model.graph.input}
    for output, result in zip(outputs, session(name).run(outputs, feeds), strict=True):
        np.testing.assert_allclose(
            result, arrays[f"out_{output}"], rtol=1e-5, atol=1e-6, err_msg=output, strict=True
        )


@pytest.mark.parametrize("name", [e["name"] for e in INDEX if e["exporter"] == "torchscript-aten"])
def test_onnxruntime_refuses_an_aten_operator(name: str) -> None:
    with pytest.raises(Exception, match=ATEN.replace(".", r"\.")):
        session(name)
