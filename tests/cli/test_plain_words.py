"""What commands say of a file that is as it was, of words, and of nodes that a model may lack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphfix.cli import main
from graphfix.testing import parse

Capture = pytest.CaptureFixture[str]
HEAD = '<ir_version: 8, opset_import: ["" : 13]> g (float[2] x) => (float[2] y) '


def written(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.onnx"
    path.write_bytes(parse(HEAD + text).SerializeToString())
    return path


def test_a_file_that_is_as_it_was_is_no_copy(tmp_path: Path, capsys: Capture) -> None:
    model = written(tmp_path, "m", "{ y = Abs (x) }")
    before = model.read_bytes()
    assert main(["run", str(model), "--target", "trt8.6", "--in-place"]) == 0
    printed = capsys.readouterr().out
    assert f"  output    {model}, which is as it was" in printed
    assert "copy" not in printed
    assert model.read_bytes() == before
    assert main(["run", str(model), "--target", "trt8.6", "-o", str(tmp_path / "o.onnx")]) == 0
    assert f"  copy      {tmp_path / 'o.onnx'}" in capsys.readouterr().out


def test_the_page_of_such_a_file_says_the_same(tmp_path: Path, capsys: Capture) -> None:
    model, page = written(tmp_path, "m", "{ y = Abs (x) }"), tmp_path / "page.html"
    words = ["run", str(model), "--target", "trt8.6", "--in-place", "--report", str(page)]
    assert main(words) == 0
    text = page.read_text(encoding="utf-8")
    assert "was left as it was in" in text
    assert "copied unchanged" not in text
    capsys.readouterr()


def test_certificates_want_a_folder(tmp_path: Path, capsys: Capture) -> None:
    model, kept = written(tmp_path, "m", "{ y = Abs (x) }"), tmp_path / "kept"
    kept.write_text("mine", encoding="utf-8")
    words = ["run", str(model), "--target", "trt8.6", "-o", str(tmp_path / "o.onnx")]
    assert main([*words, "--certificates", str(kept)]) == 2
    assert f"{kept}: is a file; certificates are kept in a folder" in capsys.readouterr().err
    assert kept.read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "o.onnx").exists()


@pytest.mark.parametrize(
    ("text", "there", "absent"),
    [
        ("Mod", "mod-elimination", "ir-version-lowering"),  # of "the model needs"
        ("reduce", "reductions-by-sum", "matmul-of-rows"),
        ("batchnorm", "batch-normalization-to-arithmetic", "mod-elimination"),
    ],
)
def test_passes_are_found_by_words(text: str, there: str, absent: str, capsys: Capture) -> None:
    assert main(["passes", "--grep", text, "--json"]) == 0
    found = {each["id"] for each in json.loads(capsys.readouterr().out)["passes"]}
    assert there in found
    assert absent not in found


def test_a_batch_spares_nodes_of_the_models_that_have_them(tmp_path: Path, capsys: Capture) -> None:
    models = tmp_path / "models"
    written(models, "plain", "{ y = Abs (x) }")
    written(models, "modulo", "{ y = Mod <fmod = 1> (x, x) }")
    out = tmp_path / "out"
    words = ["batch", str(models), "--target", "trt7.0", "--out", str(out), "--except", "op:Mod"]
    assert main(words) == 1
    rows = [
        json.loads(line) for line in (out / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert {Path(row["model"]).stem: row["exit"] for row in rows} == {"plain": 0, "modulo": 1}
    capsys.readouterr()


def test_a_run_says_that_there_was_nothing_to_spare(tmp_path: Path, capsys: Capture) -> None:
    model = written(tmp_path, "m", "{ y = Abs (x) }")
    words = ["run", str(model), "--target", "trt8.6", "-o", str(tmp_path / "o.onnx")]
    assert main([*words, "--except", "op:Mod"]) == 2
    capsys.readouterr()
    assert main([*words, "--except-if-there", "op:Mod"]) == 0
    assert "the model has no node 'op:Mod' to leave as it is" in capsys.readouterr().out


def test_explain_says_what_to_do_with_the_smallest_model(tmp_path: Path, capsys: Capture) -> None:
    log = tmp_path / "log.txt"
    log.write_text("[E] something that no engine says\n", encoding="utf-8")
    assert main(["explain", str(log)]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "make the smallest model that still fails, and report that one: " in printed
