"""`graphfix replay`, and what `graphfix run` says of reproducers: text, JSON, exit codes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import jsonschema
import pytest

from graphfix.cli import main
from graphfix.pipeline.run import Run
from graphfix.rendering.schemas import schema_of
from tests.pipeline.reproducers.faulty import ELEMENT, RAISES, pass_file, secret_model

Capture = pytest.CaptureFixture[str]
SCHEMA = schema_of("report")


def ran(folder: Path, *more: str, sources: tuple[str, ...] = (ELEMENT, RAISES)) -> int:
    (folder / "m.onnx").write_bytes(secret_model().SerializeToString())
    files = [pass_file(folder, source) for source in sources]
    given = [word for path in files for word in ("--pass-file", str(path))]
    passes = ",".join(path.stem for path in files)
    return main(["run", str(folder / "m.onnx"), "--passes", passes, *given, *more])


def test_a_run_names_the_folders(tmp_path: Path, capsys: Capture) -> None:
    assert ran(tmp_path) == 1
    out = capsys.readouterr().out
    parent = tmp_path / "m.fixed.onnx.reproducers"
    folders = sorted(parent.iterdir())
    assert [path.name.rpartition("-")[0] for path in folders] == ["raises", "wrong"]
    lines = [line.strip() for line in out.splitlines() if "graphfix replay" in line]
    assert sorted(lines) == [shlex.join(["graphfix", "replay", str(path)]) for path in folders]
    for path in folders:
        assert main(["replay", str(path)]) == 1
        text = capsys.readouterr().out
        assert f"{path.name.rpartition('-')[0]}: the fault still shows" in text
    mended = pass_file(tmp_path, ELEMENT.replace("-1.01", "-1.0"))
    assert main(["replay", str(folders[1]), "--pass-file", str(mended)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("OK: wrong: the fault no longer shows\n")
    assert "both sides are equal on " in text


def test_where_they_go_and_what_the_json_says(tmp_path: Path, capsys: Capture) -> None:
    assert ran(tmp_path, "--json", "--reproducers", str(tmp_path / "kept"), "--anonymize") == 1
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    made = found["reproducers"]
    assert [(m["pass"], m["kind"], m["reason"]) for m in made] == [
        ("wrong", "differs", ""),
        ("raises", "raises", ""),
    ]
    assert [Path(m["folder"]).parent for m in made] == [tmp_path / "kept"] * 2
    assert not (tmp_path / "m.fixed.onnx.reproducers").exists()
    assert main(["replay", made[0]["folder"], "--json"]) == 1
    replayed = json.loads(capsys.readouterr().out)
    jsonschema.validate(replayed, SCHEMA)
    assert (replayed["pass"], replayed["shows"], replayed["anonymized"]) == ("wrong", True, None)
    assert replayed["certificate"]["status"] == "mismatch"
    assert replayed["node"]["name"] == "n0"


@pytest.mark.parametrize("suffix", ["md", "json"])
def test_a_report_file_names_them(tmp_path: Path, capsys: Capture, suffix: str) -> None:
    path = tmp_path / f"report.{suffix}"
    assert ran(tmp_path, "--report", str(path)) == 1
    capsys.readouterr()
    assert "m.fixed.onnx.reproducers/wrong-" in path.read_text(encoding="utf-8")


def test_nothing_is_written_by_a_dry_run(tmp_path: Path, capsys: Capture) -> None:
    assert ran(tmp_path, "--dry-run", "--json") == 1
    assert "reproducers" not in json.loads(capsys.readouterr().out)
    assert not list(tmp_path.glob("*.reproducers"))


def test_anonymised_text(tmp_path: Path, capsys: Capture) -> None:
    ran(tmp_path, "--reproducers", str(tmp_path / "kept"), sources=(ELEMENT,))
    (folder,) = (tmp_path / "kept").iterdir()
    capsys.readouterr()
    assert main(["replay", str(folder), "--anonymize", str(tmp_path / "out")]) == 1
    assert f"wrote     {tmp_path}" in capsys.readouterr().out
    assert main(["replay", str(folder), "--anonymize", str(tmp_path / "out")]) == 2
    assert "out: is there already" in capsys.readouterr().err


def test_a_folder_that_is_none(tmp_path: Path, capsys: Capture) -> None:
    assert main(["replay", str(tmp_path)]) == 3
    err = capsys.readouterr().err
    assert err == f"graphfix: error: {tmp_path}: is no reproducer: it has no reproducer.json\n"
    assert main(["replay", str(tmp_path / "none"), "--json"]) == 3
    said = json.loads(capsys.readouterr().out)
    jsonschema.validate(said, SCHEMA)
    assert said["error"]["message"] == "no such folder"


def test_a_fault_of_graphfix_names_its_folder(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Run) -> None:
        raise RuntimeError("out of luck")

    with monkeypatch.context() as patched:
        patched.setattr("graphfix.pipeline.running._look_before", broken)
        assert ran(tmp_path, "--json", sources=(ELEMENT,)) == 5
        said = json.loads(capsys.readouterr().out)["error"]
        assert said["message"].endswith("not in your model: RuntimeError: out of luck")
        (folder,) = (tmp_path / "m.fixed.onnx.reproducers").iterdir()
        assert said["hint"] == f"reproducer: {folder}; please report it"
        assert main(["replay", str(folder)]) == 1
        assert "the run: the fault still shows" in capsys.readouterr().out
    assert main(["replay", str(folder)]) == 0
    assert "the run ends with exit code 1" in capsys.readouterr().out
    assert not (tmp_path / "m.fixed.onnx").exists()
