"""The table of exporters and tools, and the generator, with a script instead of an exporter."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.pipelines import generate
from benchmarks.pipelines.callers import Caller
from benchmarks.pipelines.catalogue import (
    HERE,
    LOOKED_INTO,
    Catalogue,
    Environment,
    Exporter,
    Tool,
    catalogue,
    drawn,
    half,
    parted,
)
from benchmarks.pipelines.forked import last_line

SCRIPT = """
import pathlib, sys
from importlib import import_module
PRELOADED = ("json",)
if __name__ == "__main__":
    name, row, folder = sys.argv[1:]
    if name == "bad":
        raise ValueError("it cannot be built")
    for part in import_module("json").loads(row).get("parts", [name]):
        pathlib.Path(folder, part + ".onnx").write_text(row)
"""
COPIED = """
import json, pathlib, sys
if __name__ == "__main__":
    options, source, out = sys.argv[1:]
    pathlib.Path(out).write_text(json.loads(options)["before"] + pathlib.Path(source).read_text())
"""


def test_every_row_has_its_script_and_environment() -> None:
    table = catalogue()
    for folder, rows in (("exporters", table.exporters), ("tools", table.tools)):
        for name, row in rows.items():
            assert (HERE / folder / row.script).is_file(), name
            assert row.environment in table.environments, name
    assert all(table.environments[e.base] for e in table.environments.values() if e.base)
    assert {of for tool in table.tools.values() for of in tool.of} <= {*table.exporters}
    assert len(table.exporters) >= 12
    assert len(table.tools) >= 20
    assert len(table.exporters["optimum"].architectures) >= 60
    assert table.exporters["timm-dynamo"].architectures == table.exporters["timm"].architectures


def test_halves_are_halves_and_shares_are_shares() -> None:
    names = [f"network{number}" for number in range(400)]
    seen = sum(half(name) == "seen" for name in names)
    assert 170 < seen < 230
    assert (half("bert"), half("gpt2")) == (half("bert"), half("gpt2"))
    assert {half(name) for name in LOOKED_INTO} == {"seen"}
    assert 80 < sum(drawn(name) < 0.25 for name in names) < 120
    assert parted("int8/optimum/bart+decoder_model.onnx") == ("int8", "optimum", "bart")


def test_a_program_that_fails_says_so_in_its_last_line() -> None:
    assert last_line("Traceback\n  x\nValueError: no\n\n", 1) == "ended with 1: ValueError: no"
    assert last_line("", -9) == "ended with -9: says nothing"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("pass", ""),
        ("raise ValueError('no such\\n layer')", "ended with 1: ValueError: no such layer"),
        ("import sys; sys.exit(3)", "ended with 3: says nothing"),
        ("import time; time.sleep(60)", "took longer than 1 s"),
        ("x = bytearray(3 << 30)", "ended with 1: MemoryError:"),
        ("import os; os.kill(os.getpid(), 11)", "ended with -11: says nothing"),
    ],
)
def test_calls_have_limits(tmp_path: Path, body: str, said: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"if __name__ == '__main__':\n    {body}\n")
    with Caller(Path(sys.executable), script, 1.0, 1.0) as caller:
        assert caller.call(["a"]) == said
        assert caller.call(["b"]) == said  # the process that calls is still there


def test_files_are_made_once_and_what_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "exporters").mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / "exporters" / "script.py").write_text(SCRIPT)
    (tmp_path / "tools" / "copied.py").write_text(COPIED)
    here = tmp_path / "environments" / "here" / "bin"
    here.mkdir(parents=True)
    (here / "python").symlink_to(sys.executable)
    rows = {"whole": {}, "split": {"parts": ["a", "b"]}, "bad": {}}
    table = Catalogue(
        {"here": Environment(()), "elsewhere": Environment(())},
        {
            "some": Exporter("here", "script.py", rows, {"way": "new"}),
            "other": Exporter("elsewhere", "script.py", rows),
        },
        {"copied": Tool("here", "copied.py", {"before": "# "})},
    )
    monkeypatch.setattr(generate, "HERE", tmp_path)
    monkeypatch.setattr(generate, "catalogue", lambda: table)
    out = tmp_path / "files"
    words = [str(out), "--environments", str(tmp_path / "environments")]
    assert generate.main(words) == 0
    assert capsys.readouterr().err == "no environment elsewhere: what needs it is left out\n"
    made = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.onnx"))
    names = ["split+a", "split+b", "whole"]
    assert made == [f"{kind}/some/{name}.onnx" for kind in ("copied", "exported") for name in names]
    text = (out / "copied/some/split+a.onnx").read_text("utf-8")
    assert text.startswith("# ")
    assert json.loads(text[2:]) == {"parts": ["a", "b"], "way": "new"}
    notes = (out / "made.tsv").read_text("utf-8").splitlines()
    assert "exported/some/bad\tended with 1: ValueError: it cannot be built" in notes
    assert generate.main([*words, "--again"]) == 0
    assert (out / "made.tsv").read_text("utf-8").splitlines() == [
        *notes,
        next(n for n in notes if "bad" in n),
    ]
    capsys.readouterr()
    assert generate.main(words) == 0
    assert capsys.readouterr().out == ""
