"""What the name of a target stands for: said in short by each run, in full where someone asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphfix.cli import main
from graphfix.engines.targets import resolve, resolve_briefly
from graphfix.testing import parse

MODEL = parse(
    '<ir_version: 8, opset_import: ["" : 11]> g (float[2] x) => (float[2] y) { y = Relu (x) }'
)


def _said(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 0
    return " ".join(capsys.readouterr().out.split())


def test_the_jetson_note_is_reported_where_it_is_asked_for_and_not_by_every_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(MODEL.SerializeToString())
    short = "trt8 is taken as trt8.6 (TensorRT 8.6); see `graphfix targets trt8`"
    for words in (["run", str(path)], ["check", str(path)]):
        reported = _said([*words, "--target", "trt8"], capsys)
        assert short in reported
        assert "Jetson" not in reported
    for words in (["targets", "trt8"], ["check", str(path), "--target", "trt8", "--explain"]):
        assert "on a Jetson type what it holds: trt8.0 for JetPack 4.6" in _said(words, capsys)


def test_a_note_without_more_to_say_stays_as_it_is() -> None:
    assert resolve_briefly("jetpack5.1")[1] == resolve("jetpack5.1")[1]
    assert resolve_briefly("trt9")[1] == ("trt9 is taken as trt9.3 (TensorRT 9.3)",)
    assert resolve_briefly("trt8.6")[1] == ()
