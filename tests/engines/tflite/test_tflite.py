"""The TFLite profile is what its facts make; onnx2tf and LiteRT say the same where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphfix
from graphfix.cli import main
from graphfix.engines.engine import engine_of
from graphfix.engines.interface import NextStep, Written
from graphfix.engines.targets import load_target, resolve
from graphfix.engines.tflite import generate
from graphfix.report import Severity
from tests.engines.cases import model_of

NAME = "tflite1.29"


def next_step(*inputs: tuple[str, tuple[int | str | None, ...]], op: str) -> NextStep | None:
    written = Written("a b.onnx", False, lambda: (inputs, frozenset({op})))
    return engine_of("tflite").next_step(written, load_target(NAME))


def test_the_profile_is_what_the_facts_make() -> None:
    assert engine_of("tflite").profile(NAME) == generate.profile()
    assert resolve("onnx2tf 1.29")[0].name == NAME


def test_what_onnx2tf_does_not_import_is_found_at_its_node() -> None:
    model = model_of("(float[2,3] x) => (float[2,3] y) { y = Swish (x) }", 24)
    (found,) = graphfix.check(model, NAME)
    assert (found.rule, found.feature) == ("stated-operator", "op:Swish")
    assert found.severity == Severity.REJECT


def test_what_is_taken_is_no_finding() -> None:
    model = model_of("(float[N,4] x) => (float[N,4] y) { a = Relu (x) y = Softmax (a) }")
    assert graphfix.check(model, NAME) == ()


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("convert: onnx_op_name: sng_Swish_0: No module named 'onnx2tf.ops.Swish'",
         ("Swish", "sng_Swish_0")),
        ("convert: onnx_op_name: wa/m/Add: 'NoneType' object has no attribute 'shape'",
         ("", "/m/Add")),
        ("load: Select TensorFlow op(s) are not supported", ("", "")),
    ],
)  # fmt: skip
def test_a_message_names_the_node(said: str, named: tuple[str, str]) -> None:
    assert engine_of("tflite").blamed(said) == named


def test_the_next_step_keeps_pictures_as_they_lie() -> None:
    found = next_step(("x", ("N", 3, 8, 8)), ("n", (2,)), op="Conv")
    line = "onnx2tf -i 'a b.onnx' -o converted -osd -k x -ois 'x:<N>,3,8,8'"
    assert found == NextStep(line, "Convert it", "Put a size for each <name>.")


def test_the_next_step_says_how_sizes_in_subgraphs_are_fixed() -> None:
    found = next_step(("x", ("N", 8)), op="If")
    assert found is not None
    assert found.note == (
        "Put a size for each <name>. Sizes that are computed in subgraphs are not known to onnx2tf"
        " then, which fails at some: `--shape` of graphfix run fixes them for good."
    )
    assert next_step(("x", (2, 8)), op="If") == NextStep(
        "onnx2tf -i 'a b.onnx' -o converted -osd -kat x", "Convert it"
    )


def test_the_next_step_spells_names_as_the_converter_does() -> None:
    found = next_step(("x:0", (1, 3, 8, 8)), op="Conv")
    assert found is not None
    assert found.command.endswith("-osd -k x__0")
    found = next_step(("/x:0", (1, 8)), op="Gemm")
    assert found is not None
    assert found.command.endswith("-osd -kat wa/x__0")


def test_the_next_step_keeps_grids_as_they_are() -> None:
    found = next_step(("x", (1, 3, 8, 8)), ("g", (1, 4, 5, 2)), op="GridSample")
    assert found is not None
    assert found.command.endswith("-osd -k x -kat g")
    found = next_step(("g", (1, 4, 5, 2)), op="GridSample")
    assert found is not None
    assert found.command.endswith("-osd -kat g")


def test_the_next_step_keeps_other_inputs_whatever_their_rank() -> None:
    found = next_step(("x", (1, 3, 8)), ("n", (2,)), op="MatMul")
    line = "onnx2tf -i 'a b.onnx' -o converted -osd -kat x n"
    assert found == NextStep(line, "Convert it", "")


def test_pictures_are_the_same_to_the_program_and_to_the_line() -> None:
    text = (Path(generate.__file__).parent / "program.py").read_text(encoding="utf-8")
    listed = text.partition("_IMAGING = {")[2].partition("}")[0]
    for op in (name.strip().strip('"') for name in listed.split(",") if name.strip()):
        found = next_step(("x", (1, 3, 8, 8)), op=op)
        assert found is not None
        assert found.command.endswith("-k x"), op


@pytest.mark.parametrize("rows", ["1", "N"])  # other sizes are converted again
def test_a_result_runs_in_litert(
    rows: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not engine_of("tflite").has(load_target(NAME)):
        pytest.skip(f"onnx2tf is not here: graphfix targets --install {NAME}")
    path = tmp_path / "model.onnx"
    graph = f"(float[{rows},2,4,4] x) => (float[{rows},2,3,3] y) "
    graph += "{ a = Swish (x) y = MaxPool <kernel_shape = [2, 2]> (a) }"
    path.write_bytes(model_of(graph, 24).SerializeToString())
    words = ["run", str(path), "--target", NAME, "--verify", "engine"]
    assert main([*words, "-o", str(tmp_path / "out.onnx")]) == 0
    assert "TFLite by onnx2tf 1.29" in capsys.readouterr().out
