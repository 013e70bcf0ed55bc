"""The example of docs/output.md is what the command prints."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from graphfix.cli import main
from graphfix.rendering.wording import Word

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "output.md").read_text(encoding="utf-8")


def test_the_example_is_what_a_run_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fixtures").mkdir()
    shutil.copy(ROOT / "fixtures" / "pool_aten17.onnx", tmp_path / "fixtures")
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"^```\n(FIXED.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert main(["run", "fixtures/pool_aten17.onnx", "--target", "trt8"]) == 0
    printed = capsys.readouterr().out
    # Versions and the last digits of float noise differ from one machine to another.
    varying = re.compile(r"onnxruntime [\d.]+|error [\d.e-]+|\d+ inputs")
    assert varying.sub("#", printed) == varying.sub("#", example)


def test_the_table_has_every_word() -> None:
    assert re.findall(r"^\| `([A-Z ]+)` \|", PAGE, re.MULTILINE) == [str(word) for word in Word]
