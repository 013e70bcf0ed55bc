"""Lists of operators: their cases, the answers for them, and the page of the rows."""

from __future__ import annotations

import json
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from onnx import parser

from benchmarks.coverage import cases, formless, page
from benchmarks.coverage.cases import Case, listed
from benchmarks.coverage.contrib.forms import forms as contrib_forms
from benchmarks.coverage.lists.old_forms import EXPERIMENTS, old_forms
from benchmarks.coverage.outcomes import (
    CONSENT,
    EXACTLY,
    FAILED,
    REFUSED,
    SUPPORTED,
    UNREPAIRED,
    WRONG,
    Answer,
    answered,
)
from benchmarks.coverage.release import NEWEST, held_to_newest, release_of, storable
from benchmarks.coverage.rows import answer

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
NEG = "g (float[2] x) => (float[2] y) { y = Neg (x) }"
CELU = "g (float[2] x) => (float[2] y) { y = Mish (x) }"
X = np.array([-1.0, 2.0], np.float32)


def case(graph: str, expected: object, form: str = "plain", opset: int = 17) -> Case:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> {graph}')
    return Case("Neg-13", form, model.SerializeToString(), {"x": X}, [expected])


def test_an_answer_is_taken_repaired_refused_or_a_fault() -> None:
    assert answered(case(NEG, -X), "trt8.6").answer == SUPPORTED
    assert answered(case(NEG, X), "trt8.6").answer == WRONG
    mish = X * np.tanh(np.log1p(np.exp(X)))
    done = answered(case(CELU, mish, opset=18), "trt8.6")
    assert (done.answer, done.engine) == (EXACTLY, "onnxruntime")
    assert "mish-to-softplus" in done.by
    complex_ = "g (complex64[2] x) => (complex64[2] y) { y = Identity (x) }"
    assert answered(case(complex_, X), "trt8.6").answer == REFUSED


def test_another_interface_is_a_consent() -> None:
    byte = "g (uint8[2] x) => (float[2] y) { y = Cast <to = 1> (x) }"
    assert answered(case(byte, X), "trt8.4").answer == CONSENT


def test_rows_continue_where_they_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several = [case(NEG, -X), case(NEG, -X, "second")]
    monkeypatch.setattr(listed("onnx_operators"), "cases", lambda: iter(several))
    assert cases.store("onnx_operators", tmp_path / "cases") == 2
    rows = tmp_path / "rows.jsonl"
    assert answer(tmp_path / "cases", rows, "trt8.6", ["Abs"], 60) == 0
    assert rows.read_text() == ""
    assert answer(tmp_path / "cases", rows, "trt8.6", ["Neg"], 60) == 0
    assert answer(tmp_path / "cases", rows, "trt8.6", [], 60) == 0
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["case"] for row in found] == ["Neg-13/plain", "Neg-13/second"]


def test_the_page_answers_for_every_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"target": "trt8.6", "by": "", "engine": ""}
    several = [
        {"case": "Neg-13/a", "answer": "supported", "why": ""},
        {"case": "Neg-13/b", "answer": "exact", "why": ""},
        {"case": "Scan-8/a", "answer": "refused", "why": "op:Scan: a | b"},
    ]
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({**said, **row}) + "\n" for row in several))
    monkeypatch.setattr(formless, "FOLDER", tmp_path)
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    text = page.written("onnx_operators", [rows]).read_text()
    assert "| trt8.6 | 3 | 1 | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 50.0% |" in text
    assert "| Neg-13 | 1 taken, 1 exact |" in text
    assert "| Scan-8 | 1 refused |" in text
    assert "| Scatter-11 | deprecated: no model of this opset may hold it |" in text
    assert "| Scan | refused | 1 | trt8.6 | op:Scan: a / b |" in text


def test_what_has_no_form_of_fixed_sizes_is_counted_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = case("g (complex64[2] x) => (complex64[2] y) { y = Identity (x) }", X)
    monkeypatch.setattr(listed("onnx_operators"), "cases", lambda: iter([number]))
    cases.store("onnx_operators", tmp_path / "cases")
    monkeypatch.setattr(formless, "FOLDER", tmp_path)
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    rows = tmp_path / "rows.jsonl"
    answer(tmp_path / "cases", rows, "trt8.6", [], 60)
    found = page.written("onnx_operators", [rows], tmp_path / "cases").read_text()
    assert "| trt8.6 | 1 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 1 | - |" in found
    assert "| COMPLEX64 at the ends of the model | trt8.6 | Neg-13 (plain) |" in found
    byte = case("g (uint8[2] x) => (float[2] y) { y = Cast <to = 1> (x) }", X, "byte")
    monkeypatch.setattr(listed("onnx_operators"), "cases", lambda: iter([byte]))
    cases.store("onnx_operators", tmp_path / "cases")
    row = {"case": "Neg-13/byte", "target": "trt8.4", "answer": "by consent", "why": "", "by": ""}
    rows.write_text(json.dumps({**row, "engine": ""}) + "\n")
    found = page.written("onnx_operators", [rows], tmp_path / "cases").read_text()
    kind = "uint8 at the ends of the model, which the engine does not take"
    assert f"| {kind} | trt8.4 | Neg-13 (byte) |" in found
    wide = case("g (double[2] x) => (double[2] y) { y = Neg (x) }", X, "wide")
    monkeypatch.setattr(listed("onnx_operators"), "cases", lambda: iter([wide]))
    cases.store("onnx_operators", tmp_path / "cases")
    row = {**row, "case": "Neg-13/wide", "target": "trt7.2"}
    assert formless.formless("onnx_operators", [row], tmp_path / "cases") == {
        (
            "trt7.2",
            "Neg-13/wide",
        ): "float64 at the ends of the model, which the engine does not take"
    }


def test_types_newer_than_the_files_that_a_release_reads_have_no_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = "g (float[2] x) => (float8e4m3fn[2] y) { y = Cast <to = 17> (x) }"
    monkeypatch.setattr(listed("onnx_operators"), "cases", lambda: iter([case(graph, X, opset=19)]))
    cases.store("onnx_operators", tmp_path / "cases")
    monkeypatch.setattr(formless, "FOLDER", tmp_path)
    why = "float8e4m3fn at the ends of the model, which files of IR version 8 do not have"
    for target, said in (("ort-1.10", why), ("ort-1.31", None)):
        row = {"case": "Neg-13/plain", "target": target, "answer": "refused"}
        found = formless.formless("onnx_operators", [row], tmp_path / "cases")
        assert found.get((target, "Neg-13/plain")) == said


def test_a_list_says_what_has_no_form_and_cannot_hide_what_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formless, "FOLDER", tmp_path)
    said = {"why": "it draws", "targets": ["trt*"], "forms": ["Neg-13/a*", "Abs-13/*"]}
    (tmp_path / "some.json").write_text(json.dumps([said]))
    rows = [
        {"case": "Neg-13/a1", "target": "trt8.6", "answer": "refused"},
        {"case": "Neg-13/a1", "target": "ort", "answer": "refused"},
        {"case": "Neg-13/b", "target": "trt8.6", "answer": "refused"},
        {"case": "Abs-13/c", "target": "trt8.6", "answer": "approximate"},
        {"case": "Abs-13/d", "target": "trt8.6", "answer": "supported"},
    ]
    found = formless.formless("some", rows)
    assert found == {("trt8.6", "Neg-13/a1"): "it draws", ("trt8.6", "Abs-13/c"): "it draws"}
    with pytest.raises(SystemExit, match=r"Abs-13/d is repaired exactly for trt8\.6, and is said"):
        formless.formless("some", [*rows[:4], {**rows[4], "answer": "exact"}])
    with pytest.raises(SystemExit, match=r"no form is Abs-13/\*"):
        formless.formless("some", rows[:3])
    assert formless.formless("without", rows) == {}


def test_what_is_said_to_have_no_form_is_a_form_of_the_list() -> None:
    names = {f"{form.operator}-1/{form.name}" for form in contrib_forms()}
    reasons = formless.declared("contrib")
    assert len({reason.why for reason in reasons}) == len(reasons) > 10
    for reason in reasons:
        assert reason.targets
        for pattern in reason.forms:
            assert any(fnmatchcase(name, pattern) for name in names), pattern


def test_old_forms_are_of_entries_of_the_list() -> None:
    entries = listed("onnx_operators").entries()
    named = {one.entry for one in old_forms()}
    assert named <= set(entries)
    assert set(EXPERIMENTS) <= named
    assert entries["Neg-13"] == ""


def test_a_fault_is_explained_or_there_is_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"target": "trt8.6", "by": "", "engine": "", "answer": "differs", "why": "by 1"}
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({**said, "case": "Neg-13/neg whole"}) + "\n")
    monkeypatch.setattr(formless, "FOLDER", tmp_path)
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    with pytest.raises(SystemExit, match=r"no explanation of\n  Neg-13/neg whole for trt8\.6"):
        page.written("onnx_operators", [rows])
    monkeypatch.setattr(listed("onnx_operators"), "EXPLAINED", {"Neg-13/neg": "the test is wrong"})
    text = page.written("onnx_operators", [rows]).read_text()
    assert "| Neg-13/neg | trt8.6 | the test is wrong |" in text
    rows.write_text(json.dumps({**said, "case": "Abs-13/a", "why": f"by 1; {NEWEST}"}) + "\n")
    text = page.written("onnx_operators", [rows]).read_text()
    assert "| Abs-13/a | trt8.6 | the file is right: " in text


def test_a_fault_says_what_the_model_gives_as_it_is() -> None:
    assert answered(case(NEG, X), "trt8.6").why.endswith(f"; {UNREPAIRED}")


def test_what_an_older_release_can_be_given_is_reported_by_the_type_of_what_was_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = case("g (bfloat16[2] x) => (bfloat16[2] y) { y = Identity (x) }", X, "wide")
    wide = replace(wide, feed={"x": X.astype(ml_dtypes.bfloat16)})
    monkeypatch.setattr(listed("onnx_operators"), "cases", lambda: iter([case(NEG, -X), wide]))
    cases.store("onnx_operators", tmp_path / "cases")
    assert [storable(one) for one in cases.stored(tmp_path / "cases")] == [True, False]


def test_what_an_evaluator_alone_runs_is_a_fault_for_onnxruntime() -> None:
    right = Answer(SUPPORTED, engine="reference")
    assert held_to_newest(right) is right
    unrun = held_to_newest(replace(right, unrun="no kernel"))
    assert (unrun.answer, unrun.why) == (FAILED, f"no kernel; {NEWEST}")


def test_older_releases_confirm_their_own_target() -> None:
    assert release_of("ort-1.10") == "1.10"
    assert release_of("ort-1.32") == release_of("trt8.6") == ""
    assert release_of("ort-1.31") == "1.31"
