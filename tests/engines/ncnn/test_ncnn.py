"""The ncnn profile is what its facts make; pnnx and ncnn say the same where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, external_data_helper, helper, numpy_helper

import graphfix
from benchmarks.engines.kernels import Asker
from graphfix.cli import main
from graphfix.engines.engine import engine_of
from graphfix.engines.interface import NextStep, Written
from graphfix.engines.ncnn import generate
from graphfix.engines.targets import load_target, resolve
from graphfix.report import Severity
from tests.engines.cases import model_of

NAME = "ncnn1.0"


def test_the_profile_is_what_the_facts_make() -> None:
    assert engine_of("ncnn").profile(NAME) == generate.profile()
    assert resolve("pnnx 1.0")[0].name == NAME


@pytest.mark.parametrize(
    ("graph", "feature"),
    [
        ("(float[2,3] x) => (float[2,3] y) { a = CumSum (x, c) y = Relu (a) }", "op:CumSum"),
        ("(float[N,3] x) => (float[N,3] y) { y = Relu (x) }", "io:dynamic-input"),
    ],
)
def test_what_ncnn_refuses_is_found(graph: str, feature: str) -> None:
    stored = graph.replace("{", "<int64 c = {1}> {", 1) if "c)" in graph else graph
    found = graphfix.check(model_of(stored), NAME)
    assert [(f.feature, f.severity) for f in found] == [(feature, Severity.REJECT)]


def test_integers_are_not_bound() -> None:
    model = model_of("(int64[2,3] x) => (int64[2,3] y) { y = Neg (x) }")
    assert "io:int64-input" in {found.feature for found in graphfix.check(model, NAME)}


def test_what_is_taken_is_no_finding() -> None:
    model = model_of("(float[1,4] x) => (float[1,4] y) { a = Relu (x) y = Tanh (a) }")
    assert graphfix.check(model, NAME) == ()


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("load: layer CumSum not exists or registered", ("CumSum", "")),
        ("ort Run failed Non-zero status code returned while running Gather node. "
         "Name:'Gather_0' Status Message: indices element out of data bounds",
         ("Gather", "Gather_0")),
        ("load: ncnn does not load what pnnx wrote", ("", "")),
    ],
)  # fmt: skip
def test_a_message_names_the_node(said: str, named: tuple[str, str]) -> None:
    assert engine_of("ncnn").blamed(said) == named


def test_the_next_step_is_the_converter() -> None:
    written = Written("a b.onnx", False, lambda: ((), frozenset()))
    found = engine_of("ncnn").next_step(written, load_target(NAME))
    assert found == NextStep("pnnx 'a b.onnx' fp16=0", "Convert it", "")


def test_a_result_runs_in_ncnn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not engine_of("ncnn").has(load_target(NAME)):
        pytest.skip(f"ncnn is not here: graphfix targets --install {NAME}")
    path = tmp_path / "model.onnx"
    graph = "(float[1,2,4,4] x) => (float[1,2,3,3] y) "
    graph += "{ a = Celu (x) y = MaxPool <kernel_shape = [2, 2]> (a) }"
    path.write_bytes(model_of(graph).SerializeToString())
    words = ["run", str(path), "--target", NAME, "--verify", "engine"]
    assert main([*words, "-o", str(tmp_path / "out.onnx")]) == 0
    assert "ncnn by pnnx 1.0" in capsys.readouterr().out


def test_weights_in_files_of_their_own_are_found(tmp_path: Path) -> None:
    graph = "(float[1,2] x) => (float[1,3] y) <float[2,3] w = {1,2,3,4,5,6}> { y = MatMul (x, w) }"
    model, path = model_of(graph), tmp_path / "model.onnx"
    numbers = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(numbers, "w"))
    external_data_helper.convert_model_to_external_data(model, location="w.bin", size_threshold=0)
    external_data_helper.write_external_data_tensors(model, str(tmp_path))
    path.write_bytes(model.SerializeToString())
    found = graphfix.check(path, NAME)
    assert [(f.feature, f.severity) for f in found] == [("form:external-data", Severity.WRONG)]
    if engine_of("ncnn").has(load_target(NAME)):
        asker, x = Asker(NAME), np.array([[1, -2]], np.float32)
        verdict, _ = asker.verdict(path, {"x": x}, {"y": x @ numbers})
        asker.close()
        assert verdict == "wrong"


@pytest.mark.parametrize(("order", "refused"), [("wbx", True), ("wxb", False), ("xwb", False)])
def test_stored_inputs_in_front_of_a_given_one(order: str, *, refused: bool) -> None:
    model = model_of(
        "(float[1,2] x) => (float[1,2] y) <float[2] w = {1.0, 2.0}, float[2] b = {3.0, 4.0}> "
        "{ m = Mul (x, w) y = Add (m, b) }"
    )
    infos = {info.name: info for info in model.graph.input}
    for name in "wb":
        infos[name] = helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
    del model.graph.input[:]
    model.graph.input.extend(infos[name] for name in order)
    found = [(f.feature, f.severity) for f in graphfix.check(model, NAME)]
    assert found == ([("io:stored-inputs", Severity.REJECT)] if refused else [])
