"""`graphfix batch`: real models, each in a process of its own, next to those that end theirs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import onnx
import pytest

from graphfix.batch.batch import Fleet
from graphfix.batch.jobs import Row
from graphfix.cli import main
from graphfix.rendering.html.fleet_page import fleet_page
from graphfix.rendering.html.page import rendered
from tests.processes import runs

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
FIXED = "g (int64[N] x) => (int64[N] y) <int64 c = {3}> { y = Mod (x, c) }"
FINE = "g (float[N] x) => (float[N] y) { y = Relu (x) }"
SLOW = """g (int64[1] x) => (int64[1] y)
<int64 m = {9223372036854775807}, bool t = {1}, int64 k = {3}> {
  z = Loop (m, t, x) <body = b (int64 i, bool c, int64[1] s) => (bool d, int64[1] u)
  { d = Identity (c) u = Add (s, k) }>
  y = Mod (z, k) }"""


@pytest.fixture
def nets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of models, good and bad, and go to the one above."""
    folder = tmp_path / "nets"
    folder.mkdir()
    for name, text in {"fixed": FIXED, "fine": FINE}.items():
        model = onnx.parser.parse_model(HEAD + text)
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
    (folder / "bad.onnx").write_bytes(b"no model")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_each_model_has_a_row_and_the_same_command_continues(
    nets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["batch", "nets", "--target", "trt7", "--out", "out", "--json", "--jobs", "2"]
    assert main([*words, "--report", "fleet.html"]) == 1
    reported = json.loads(capsys.readouterr().out)
    by_name = {row["name"]: row for row in reported["rows"]}
    assert {name: row["word"] for name, row in by_name.items()} == {
        "bad": "unreadable",
        "fine": "fine",
        "fixed": "fixed",
    }
    assert by_name["bad"]["message"] == "not an ONNX model"
    assert by_name["fixed"]["verdict"] == "equal"
    assert by_name["fixed"]["repairs"]
    assert reported["targets"] == {"trt7.2": {"unreadable": 1, "fine": 1, "fixed": 1}}
    assert Path("out/fixed.trt7.2.onnx").is_file()
    page = Path("fleet.html").read_text(encoding="utf-8")
    assert "2 of 3 ready" in page
    assert main(words) == 1
    again = json.loads(capsys.readouterr().out)
    assert again["made"] == 0
    assert again["rows"] == reported["rows"]


def test_a_proof_of_one_model_serves_another_and_changes_no_row(
    nets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FIXED.replace("Mod (x, c)", "Mod (x, c) z = Neg (y)").replace("y) <", "y, int64[N] z) <")
    other = onnx.parser.parse_model(HEAD + text)
    (nets / "other.onnx").write_bytes(other.SerializeToString())
    models = ["nets/fixed.onnx", "nets/other.onnx"]
    words = ["batch", *models, "--target", "trt7", "--jobs", "1", "--json", "--out"]
    kept = Path(os.environ["XDG_CACHE_HOME"], "graphfix", "certificates")

    def rows(folder: str, *more: str) -> list[dict[str, object]]:
        assert main([*words, folder, *more]) == 0
        found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["rows"]
        drop = ("key", "seconds", "output")
        return [{name: row[name] for name in row if name not in drop} for row in found]

    plain = rows("plain", "--no-cache")
    assert not kept.exists()
    assert rows("first") == plain
    assert len([path for path in kept.rglob("*") if path.is_file()]) == 2, "Mod of both, and Neg"
    assert rows("second") == plain


def test_what_takes_too_long_ends_its_own_process_alone(
    nets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "batch",
        "nets/fixed.onnx",
        "nets/bad.onnx",
        "--target",
        "trt7",
        "--out",
        "out",
        "--json",
    ]
    assert main([*words, "--timeout", "0.01"]) == 3
    late = json.loads(capsys.readouterr().out)["rows"]
    assert {row["word"] for row in late} == {"unreadable"}
    assert "took longer than 0.01 s" in {row["message"].partition(",")[0] for row in late}
    assert main(words) == 1  # other options: done again
    reported = json.loads(capsys.readouterr().out)
    assert {row["name"]: row["word"] for row in reported["rows"]} == {
        "fixed": "fixed",
        "bad": "unreadable",
    }


def test_a_link_that_leads_nowhere_has_a_row(
    nets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (nets / "gone.onnx").symlink_to("nowhere.onnx")
    (nets / "fixed.onnx").unlink()
    words = ["batch", "nets", "--target", "trt7", "--out", "out", "--json"]
    assert main(words) == 1
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["gone"]["word"] == "unreadable"
    assert main(["batch", "nets/gone.onnx", "--target", "trt7", "--out", "out"]) == 2
    assert "the link leads to no file" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_leaves_the_old_one(
    nets: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["batch", "nets/fine.onnx", "--target", "trt7", "--out", "out", "--report", "a.json"]
    assert main(words) == 0
    before = Path("a.json").read_bytes()

    def full(_descriptor: int, raw: bytes) -> None:
        raise OSError(28, "No space left on device", str(len(raw)))

    monkeypatch.setattr("graphfix.ir.storage.saving.write_all", full)
    assert main(words) == 2
    assert "the report cannot be written: No space left on device" in capsys.readouterr().err
    assert Path("a.json").read_bytes() == before
    assert not list(Path().glob(".graphfix-*"))


def test_wrong_usage_is_said_before_anything_is_done(
    nets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["batch", str(nets), "--target", "nothing9", "--out", "out"]) == 2
    assert main(["batch", str(nets), "--target", "trt7", "--out", "s3://b/out"]) == 2
    assert "say where rows are kept with --rows DIR" in capsys.readouterr().err
    assert not Path("out").exists()


def test_killed_it_leaves_no_process_after_and_continues(nets: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux ends children with a parent that is killed")
    slow = onnx.parser.parse_model(HEAD + SLOW)
    (nets / "a_slow.onnx").write_bytes(slow.SerializeToString())
    words = ["nets", "--target", "trt7", "--out", "out", "--jobs", "1", "--timeout", "60"]
    with subprocess.Popen([sys.executable, "-m", "graphfix", "batch", *words]) as process:
        child = _waited(lambda: _children(process.pid))[0]
        os.kill(process.pid, signal.SIGKILL)
    _waited(lambda: [not runs(child)])


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(word) for word in task.read_text().split()]
    return found


def _waited(asked: object, seconds: float = 30.0) -> list[int]:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found: list[int] = [each for each in asked() if each]  # type: ignore[operator]
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"nothing within {seconds:g} s")


def test_names_on_the_page_are_text(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    row = Row(key="k", name=hostile, model=hostile, target="t", exit=1, left={hostile: 1})
    page = rendered(fleet_page(Fleet((row,), ("t",), 1)))
    assert hostile not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_page_of_many_thousand_shows_what_is_not_ready_first() -> None:
    def row(number: int) -> Row:
        left = {"op:Mod": 1} if number % 1000 == 999 else {}
        name = f"net{number}"
        return Row(key=name, name=name, model=name, target="t", exit=len(left), left=left)

    page = rendered(fleet_page(Fleet(tuple(map(row, range(50_000))), ("t",), 1)))
    assert all(f"net{number} for t" in page for number in range(999, 50_000, 1000))
    assert "49950 of 50000 ready" in page
    assert "2000 of 50000 rows, what is not ready first" in page
    assert len(page) < 5_000_000


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (["--except", "op:Mod", "--shape", "x=4"], "left"),
        (["--assume-op", "Mod", "--skip", "mod-elimination"], "fine"),
    ],
)
def test_options_of_a_run_hold_for_each_model(
    nets: Path, words: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    start = ["batch", "nets/fixed.onnx", "--target", "trt7", "--out", "out", "--json"]
    main([*start, *words])
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["word"] == word, row
