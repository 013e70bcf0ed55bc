"""Every bad end: one line, the right exit code, a traceback only when it is asked for."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphfix.cli import main
from graphfix.cli.program import program
from graphfix.errors import GraphfixError, InvalidModel, PassBug, UsageError
from graphfix.inspection import inspection

ROOT = Path(__file__).resolve().parents[2]

Capture = pytest.CaptureFixture[str]


def raising(error: BaseException) -> Callable[[Path], object]:
    """Return a stand-in for the work of a command, one that raises."""

    def work(_path: Path) -> object:
        raise error

    return work


def end_with(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, error: BaseException, *words: str
) -> tuple[int, str, str]:
    """Let `graphfix inspect` run into `error`; return exit code, stdout and stderr."""
    monkeypatch.setattr(inspection, "inspect_file", raising(error))
    code = main(["inspect", "a.onnx", *words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (
            InvalidModel("no such file", where="a.onnx", hint="check the path"),
            3,
            "graphfix: error: a.onnx: no such file (check the path)",
        ),
        (UsageError("no pass is called 'x'"), 2, "graphfix: error: no pass is called 'x'"),
        (GraphfixError("a\nb", where="c"), 2, "graphfix: error: c: a b"),
        (
            OSError(errno.ENOSPC, "x", "/out/a.onnx"),
            2,
            f"graphfix: error: /out/a.onnx: {os.strerror(errno.ENOSPC)}",
        ),
    ],
)
def test_what_the_user_can_mend(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, error: Exception, code: int, line: str
) -> None:
    assert end_with(monkeypatch, capsys, error) == (code, "", line + "\n")


def test_the_error_object(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    error = InvalidModel("no such file", where="a.onnx", hint="check the path")
    code, out, err = end_with(monkeypatch, capsys, error, "--json")
    assert code == 3
    assert json.loads(out) == {
        "schema": 1,
        "error": {
            "code": 3,
            "message": "no such file",
            "where": "a.onnx",
            "hint": "check the path",
        },
    }
    assert err.count("\n") == 1


def test_a_fault_names_the_reproducer(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    bug = PassBug("emitted an Abs", pass_id="mod-elimination", reproducer="/tmp/repro")
    code, out, err = end_with(monkeypatch, capsys, bug)
    assert (code, out) == (5, "")
    assert err == (
        "graphfix: error: mod-elimination: a fault in graphfix, not in your model: emitted an Abs "
        "(reproducer: /tmp/repro; please report it)\n"
    )


def test_an_unexpected_exception_is_explicit(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, out, err = end_with(monkeypatch, capsys, ZeroDivisionError("by\nzero"), "--json")
    assert code == 5
    assert err.count("\n") == 1
    assert "Traceback" not in err
    error = json.loads(out)["error"]
    assert error["code"] == 5
    (file,) = tmp_path.iterdir()
    assert str(file) in error["hint"]
    assert str(file) in err
    kept = file.read_text(encoding="utf-8")
    assert "arguments: ['inspect', 'a.onnx', '--json']" in kept
    assert "ZeroDivisionError: by" in kept


@pytest.mark.parametrize("way", ["option", "option first", "environment"])
def test_a_traceback_where_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, way: str
) -> None:
    monkeypatch.setattr(inspection, "inspect_file", raising(InvalidModel("no such file")))
    words = ["inspect", "a.onnx"]
    if way == "environment":
        monkeypatch.setenv("GRAPHFIX_DEBUG", "1")
    else:
        words = [*words, "--debug"] if way == "option" else ["--debug", *words]
    assert main(words) == 3
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert err.endswith("graphfix: error: no such file\n")


def test_a_fault_in_the_child_that_compares_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    monkeypatch.setattr("graphfix.proving.models.TASKS", "tests.worker.faulty_tasks:")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = tmp_path / "result.onnx"
    model = str(ROOT / "fixtures" / "mod_float_ts13.onnx")
    code = main(["run", model, "--target", "trt8", "-o", str(result)])
    said = capsys.readouterr()
    assert (code, said.out) == (5, "")
    assert "a fault in graphfix, not in your model: " in said.err
    assert "ZeroDivisionError: while it compares" in said.err
    assert not result.exists()
    (kept,) = tmp_path.glob("result.onnx.reproducers/*/reproducer.json")
    seen = json.loads(kept.read_text(encoding="utf-8"))["seen"]
    assert seen == "ChildFault: ZeroDivisionError: while it compares"


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    code, out, err = end_with(monkeypatch, capsys, KeyboardInterrupt())
    assert (code, out) == (130, "")
    assert err.strip() == "graphfix: interrupted"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "graphfix: missing command (see `graphfix --help`)"),
        (["inspect"], "graphfix inspect: missing argument 'MODEL' (see `graphfix inspect --help`)"),
        (["check", "m.onnx"], "graphfix check: missing option '--target' (see "),
        (["rnu"], "graphfix: no such command 'rnu'"),
        (["run", "m", "--shape", "x=1,3"], "--shape: 'x=1,3' is not of the form NAME=1x3x224x224"),
        (["run", "m", "--shape", "1x3"], "--shape: '1x3' is not of the form NAME=1x3x224x224"),
        (["run", "m", "--shape", "x=1", "--shape", "x=2"], "--shape: 'x' is given twice"),
        (["run", "m", "--option", "a=b"], "--option: 'a=b' is not of the form PASS.KEY=VALUE"),
        (["run", "m", "--passes", "a,,b"], "--passes: 'a,,b' is not of the form a,b"),
        (["run", "m", "--assume-op", "a::"], "--assume-op: 'a::' is not of the form OP or"),
        (["run", "m", "--report", "r.pdf"], "--report: 'r.pdf' is not of the form FILE.html or "),
        (["run", "m", "--report", "no/r.md"], "--report: 'no/r.md': there is no folder 'no'"),
        (["run", "m", "--verify", "places"], "--verify: 'places' is not one of "),
        (["run", "m", "--opset", "x"], "--opset: 'x' is not an integer"),
        (["run", "m", "--in-place", "-o", "x"], "graphfix run: --in-place and --output exclude"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_wrong_usage(capsys: Capture, words: list[str], line: str, as_json: bool) -> None:
    code = main([*words, "--json"] if as_json and words else words)
    out, err = capsys.readouterr()
    assert code == 2
    assert err.startswith(f"graphfix: error: {line}")
    assert err.count("\n") == 1
    if as_json and words:
        error = json.loads(out)["error"]
        assert error["code"] == 2
        assert error["message"]
    else:
        assert out == ""


def test_a_reader_that_went_away_changes_nothing() -> None:
    script = (
        "import sys; from graphfix.cli.console import emit; "
        "[emit('x' * 4000) for _ in range(200)]; sys.exit(7)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        complaint = child.stderr.read()
    assert (child.returncode, complaint) == (7, b"")


def test_the_answer_of_a_command_is_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(**_: object) -> int:
        return 4

    monkeypatch.setattr(program, "main", answer)
    assert main([]) == 4


def test_help_ends_in_zero(capsys: Capture) -> None:
    assert main(["run", "--help"]) == 0
    assert re.search(r"--shape NAME=1x3x224x224 +Fix the shape", capsys.readouterr().out)
