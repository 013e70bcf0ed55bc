"""`check` and `inspect` on many files: each is looked at, whatever the others are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import onnx
import pytest

from graphfix.cli import main
from graphfix.rendering.schemas import schema_of

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
GOOD = "g (float[2] x) => (float[2] y) { y = Relu (x) }"
BAD = "g (float[2] x) => (float[2] y) { y = Mod <fmod = 1> (x, x) }"
OTHER = "g (float[2] x) => (float[2] y) { y = Det (x) }"


@pytest.fixture
def nets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two models that have problems, one that has none, and one damaged."""
    folder = tmp_path / "nets"
    (folder / "deep").mkdir(parents=True)
    for name, text in {"good": GOOD, "mod": BAD, "deep/det": OTHER}.items():
        model = onnx.parser.parse_model(HEAD + text)
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
    (folder / "hurt.onnx").write_bytes(b"no model")
    monkeypatch.chdir(tmp_path)
    return folder


SCHEMA = schema_of("report")


def reported(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_folder_is_checked_to_its_depth(nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "nets", "--target", "trt7", "--json"]) == 1
    found = reported(capsys)
    jsonschema.validate(found, SCHEMA)
    models = found["models"]
    assert {each["model"]: each["exit"] for each in models} == {
        "nets/deep/det.onnx": 1,
        "nets/good.onnx": 0,
        "nets/hurt.onnx": 3,
        "nets/mod.onnx": 1,
    }
    by_name = {Path(each["model"]).stem: each for each in models}
    assert by_name["hurt"]["error"]["message"] == "not an ONNX model"
    assert by_name["good"]["ok"]
    assert {f["feature"] for f in by_name["mod"]["findings"] if f["severity"] == "reject"} == {
        "op:Mod"
    }


def test_what_is_said_of_a_model_is_what_it_alone_gets(
    nets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--target", "trt7", "--json"]
    assert main(["check", "nets/mod.onnx", *words]) == 1
    alone = reported(capsys)
    assert main(["check", "nets/mod.onnx", "nets/good.onnx", *words]) == 1
    model, code, *rest = reported(capsys)["models"][0].items()
    assert (model, code, dict(rest)) == (("model", "nets/mod.onnx"), ("exit", 1), alone)


def test_text_is_summed_up(nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "nets/*.onnx", "nets/absent.onnx", "--target", "trt7"]) == 1
    out, err = capsys.readouterr()
    assert out.rstrip().endswith("4 models: 1 without problems, 1 with problems, 2 not checked")
    assert "\nnets/mod.onnx\n\nPROBLEMS: 1 in mod.onnx" in out
    assert "nets/absent.onnx: no such file" in err


@pytest.mark.parametrize(
    ("names", "code"), [(["good", "good"], 0), (["hurt", "absent"], 3), (["good", "hurt"], 1)]
)
def test_exit_codes(nets: Path, names: list[str], code: int) -> None:
    # The same file twice is one model, but still a list.
    paths = [f"nets/{name}.onnx" for name in names]
    assert main(["check", *paths, "--target", "trt7"]) == code


def test_reports_of_many_are_one_file_each(nets: Path) -> None:
    words = ["--report", "all.sarif", "--report", "all.xml", "--report", "all.json"]
    assert main(["check", "nets", "--target", "trt7", *words]) == 1
    run = json.loads(Path("all.sarif").read_text(encoding="utf-8"))["runs"][0]
    places = {
        r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for r in run["results"]
        if r["level"] == "error"
    }
    assert sorted(places) == ["nets/deep/det.onnx", "nets/mod.onnx"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [rules[r["ruleIndex"]] for r in run["results"]] == [r["ruleId"] for r in run["results"]]
    suites = ElementTree.parse("all.xml").getroot()
    assert [(s.get("name"), s.get("failures") != "0", s.get("errors")) for s in suites] == [
        ("graphfix check nets/deep/det.onnx", True, "0"),
        ("graphfix check nets/good.onnx", False, "0"),
        ("graphfix check nets/mod.onnx", True, "0"),
        ("graphfix check nets/hurt.onnx", False, "1"),
    ]
    assert len(json.loads(Path("all.json").read_text(encoding="utf-8"))["models"]) == 4


def test_a_page_shows_one_model(nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "nets", "--target", "trt7", "--report", "all.html"]) == 2
    assert "a page shows one model" in capsys.readouterr().err
    assert main(["check", "nets/mod.onnx", "--target", "trt7", "--report", "one.html"]) == 1
    assert Path("one.html").stat().st_size > 10_000


def test_many_are_inspected(nets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "nets", "--json"]) == 1
    models = reported(capsys)["models"]
    assert [(Path(each["model"]).stem, each["exit"]) for each in models] == [
        ("det", 0),
        ("good", 0),
        ("hurt", 3),
        ("mod", 0),
    ]
    assert main(["inspect", "nets/good.onnx", "nets/mod.onnx", "--op-table"]) == 0
    out = capsys.readouterr().out
    assert out.index("nets/good.onnx") < out.index("Relu") < out.index("nets/mod.onnx")


def test_wrong_usage_is_said_before_anything_is_done(
    nets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "-", "nets/good.onnx", "--target", "trt7"]) == 2
    assert "must be the only one" in capsys.readouterr().err
    assert main(["inspect", "none/*.onnx"]) == 2
    assert "no such file, folder or match" in capsys.readouterr().err


PASS = """
import os, signal
from graphfix import rewrite

@rewrite("Det", removes="op:Det", emits=("Mul",))
def misbehave(node, build):
    os.kill(os.getpid(), signal.SIGSEGV)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_one_that_ends_its_process_stops_nothing(nets: Path) -> None:
    Path("pass.py").write_text(PASS, encoding="utf-8")
    words = ["nets", "--target", "trt7", "--json", "--explain", "--pass-file", "pass.py"]
    done = subprocess.run(
        [sys.executable, "-m", "graphfix", "check", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    models = json.loads(done.stdout)["models"]
    assert [each["exit"] for each in models] == [3, 0, 3, 1]
    assert models[0]["error"]["message"].startswith("crashed a library that reads it (SIGSEGV)")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_each_has_the_time_that_is_given(nets: Path) -> None:
    words = ["check", "nets/good.onnx", "nets/mod.onnx", "--target", "trt7", "--timeout", "0.01"]
    done = subprocess.run(
        [sys.executable, "-m", "graphfix", *words, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    reported = json.loads(done.stdout)["models"]
    assert [each["error"]["message"].partition(",")[0] for each in reported] == [
        "took longer than 0.01 s",
        "took longer than 0.01 s",
    ]
