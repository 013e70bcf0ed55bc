"""What `graphfix run` asks of the layers below, and what it prints."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from graphfix.cli import main
from graphfix.pipeline import files
from graphfix.pipeline.files import RunRequest
from graphfix.pipeline.hooks import Hook
from tests.cli.stub_of_files import Pipeline

Capture = pytest.CaptureFixture[str]


def test_run_with_nothing_asked(pipeline: Pipeline) -> None:
    assert main(["run", "m.onnx"]) == 0
    assert pipeline.runs == [
        RunRequest(
            model=Path("m.onnx"),
            target=None,
            output=None,
            passes=None,
            skip=(),
            options={},
            opset=None,
            allow_lossy=False,
            allow_io_change=False,
            assume_ops=(),
            partial=False,
            strict=False,
            force=False,
            verify="auto",
            inputs=None,
            shapes={},
            seed=0,
            pass_files=(),
            dry_run=False,
            in_place=False,
            data="keep",
            provenance=True,
        )
    ]
    assert pipeline.hooks == ()  # stderr is no terminal here


def test_run_with_everything_asked(pipeline: Pipeline) -> None:
    words = shlex.split(
        "--target trt8 -o o.onnx --passes a,b --skip c --option a.k=v=w --option b.n=1 --opset 13 "
        "--allow-lossy --allow-io-change --assume-op Foo --assume-op my.dom::Bar --partial "
        "--strict --force --verify full --inputs i.npz --shape x=1x3 --shape a=b=2 --seed 7 "
        "--pass-file p.py --dry-run --data copy --no-provenance"
    )
    assert main(["run", "m.onnx", *words]) == 0
    assert pipeline.runs == [
        RunRequest(
            model=Path("m.onnx"),
            target="trt8",
            output=Path("o.onnx"),
            passes=("a", "b"),
            skip=("c",),
            options={"a.k": "v=w", "b.n": "1"},
            opset=13,
            allow_lossy=True,
            allow_io_change=True,
            assume_ops=("Foo", "my.dom::Bar"),
            partial=True,
            strict=True,
            force=True,
            verify="full",
            inputs=Path("i.npz"),
            shapes={"x": (1, 3), "a=b": (2,)},
            seed=7,
            pass_files=(Path("p.py"),),
            dry_run=True,
            in_place=False,
            data="copy",
            provenance=False,
        )
    ]


@pytest.mark.parametrize("code", [0, 1, 4])
def test_run_ends_with_the_code_of_the_result(pipeline: Pipeline, code: int) -> None:
    pipeline.exit_code = code
    assert main(["run", "m.onnx", "--target", "trt8"]) == code
    assert main(["run", "m.onnx", "--target", "trt8", "--json"]) == code


def test_run_prints_text_with_the_trtexec_line(
    pipeline: Pipeline, written: Path, capsys: Capture
) -> None:
    assert main(["run", "m.onnx", "--target", "trt8", "--assume-op", "Relu"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("FIXED: model.onnx for trt8.6: 1 problem repaired, none is left\n")
    assert err == ""
    line = next(text for text in out.splitlines() if "trtexec" in text)
    assert line == (
        f"  trtexec --onnx={written} '--minShapes=x:<batch>x3' '--optShapes=x:<batch>x3' "
        "'--maxShapes=x:<batch>x3' '--staticPlugins=<your-plugins.so>'"
    )


@pytest.mark.parametrize("change", ["other engine", "nothing written", "dry run"])
def test_no_trtexec_line_where_it_would_be_wrong(
    pipeline: Pipeline, capsys: Capture, change: str
) -> None:
    if change == "other engine":
        pipeline.report = replace(pipeline.report, target="ort-1.10")
    elif change == "nothing written":
        pipeline.report = replace(pipeline.report, output=None)
    assert main(["run", "m.onnx", *(["--dry-run"] if change == "dry run" else [])]) == 0
    assert "trtexec --onnx" not in capsys.readouterr().out


def test_run_prints_one_json_object(pipeline: Pipeline, capsys: Capture) -> None:
    assert main(["run", "m.onnx", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["target"] == "trt8.6"
    assert found["outcomes"][0]["pass"] == "mod-elimination"
    assert err == "graphfix: note: trt8 is 8.6\n"


def test_what_native_libraries_print_is_no_result(
    monkeypatch: pytest.MonkeyPatch, pipeline: Pipeline, capfd: pytest.CaptureFixture[str]
) -> None:
    def noisy(request: RunRequest, hooks: Sequence[Hook] = ()) -> object:
        os.write(1, b"Warning: Model contains experimental ops\n")
        return pipeline.run_file(request, hooks)

    monkeypatch.setattr(files, "run_file", noisy)
    assert main(["run", "m.onnx", "--json"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["target"] == "trt8.6"
    assert "experimental ops" not in out + err
    os.write(1, b"after\n")
    assert capfd.readouterr().out == "after\n"


def test_run_writes_reports(pipeline: Pipeline, tmp_path: Path, capsys: Capture) -> None:
    pipeline.exit_code = 1
    for name in ("r.json", "R.MD"):
        assert main(["run", "m.onnx", "--json", "--report", str(tmp_path / name)]) == 1
    printed = json.loads(capsys.readouterr().out.splitlines()[0])
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == printed
    text = (tmp_path / "R.MD").read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "trtexec --onnx=" in text


def test_a_report_that_cannot_be_written_is_one_line(
    pipeline: Pipeline, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "r.md").mkdir()
    assert main(["run", "m.onnx", "--report", str(tmp_path / "r.md")]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"graphfix: error: {tmp_path / 'r.md'}: the report cannot be written: ")
