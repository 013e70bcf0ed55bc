"""What `inspect`, `targets` and `passes` print, and lines that commands share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from onnx import parser

from graphfix.cli import main

Capture = pytest.CaptureFixture[str]


def test_inspect_both_ways(written: Path, capsys: Capture) -> None:
    assert main(["inspect", str(written)]) == 0
    assert "  x  float32  batchx3  (dynamic)\n" in capsys.readouterr().out
    assert main(["inspect", str(written), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"] == [{"name": "x", "dtype": "float32", "shape": ["batch", 3]}]
    assert found["operators"] == [{"domain": "", "op": "Relu", "count": 1, "since_opset": 14}]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no such file"),
        (b"", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "it looks like a PNG picture"),
        (b"truncated", "not an ONNX model"),
    ],
)
def test_inspect_of_what_is_no_model(
    tmp_path: Path, capsys: Capture, content: bytes | None, says: str
) -> None:
    path = tmp_path / "m.onnx"
    if content is not None:
        path.write_bytes(content)
    assert main(["inspect", str(path), "--json"]) == 3
    out, err = capsys.readouterr()
    assert says in json.loads(out)["error"]["message"]
    assert err.startswith(f"graphfix: error: {path}: ")
    assert err.count("\n") == 1


def test_targets_both_ways(capsys: Capture) -> None:
    assert main(["targets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:4] == ["trt", "trt5.1", "to", "trt11.4"] for line in lines)
    assert len(lines) <= 20
    assert main(["targets", "-v"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:2] == ["trt8.6", "trt8"] for line in lines)
    assert main(["targets", "--json"]) == 0
    listed = {t["name"]: t for t in json.loads(capsys.readouterr().out)["targets"]}
    assert listed["trt8.6"]["aliases"] == ["trt8"]
    assert main(["targets", "trt8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "trt8.6"
    assert main(["targets", "jetpack5.1"]) == 0
    assert capsys.readouterr().out.startswith("trt8.5: TensorRT 8.5\n")
    assert main(["targets", "trt77"]) == 2
    assert capsys.readouterr().err.startswith("graphfix: error: there is no target 'trt77'")


def test_passes_both_ways(capsys: Capture) -> None:
    assert main(["passes", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["passes"]
    assert main(["passes"]) == 0
    short = capsys.readouterr().out.splitlines()
    assert short[0].startswith(f"{len(listed)} passes in ")
    assert len(short) <= 20
    assert main(["passes", "-v"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[-1].startswith(f"{len(listed)} pass")
    for known in listed:
        assert f"  {known['id']}" in text
        assert main(["passes", known["id"], "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"schema": 1, **known}
    assert main(["passes", "no-such-pass"]) == 2
    assert "no pass is called 'no-such-pass'" in capsys.readouterr().err


def test_passes_are_searched(capsys: Capture) -> None:
    assert main(["passes", "--family", "mod"]) == 0
    family = capsys.readouterr().out.splitlines()
    assert family[0] == "mod"
    assert any(line.startswith("  mod-elimination ") for line in family)
    assert main(["passes", "--family", "mod", "--grep", "MOD-ELIM", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["passes"]
    assert [known["id"] for known in listed] == ["mod-elimination"]
    assert main(["passes", "--grep", "no such text"]) == 0
    assert capsys.readouterr().out.startswith("No pass has that in its name")
    assert main(["passes", "--family", "mode"]) == 2
    assert "there is no family 'mode' (known: " in capsys.readouterr().err
    assert main(["passes", "mod-elimination", "--grep", "x"]) == 2


def test_a_verdict_is_one_line(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "g (int64[4] x) => (int64[4] y) {c = Constant <value_int = 3> () y = Mod (x, c)}"
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> {text}')
    Path("m.onnx").write_bytes(model.SerializeToString())
    for words, says in (
        (["check", "m.onnx", "--target", "trt7.2"], "PROBLEMS: 1 in m.onnx for trt7.2\n"),
        (
            ["run", "m.onnx", "--target", "trt7.2"],
            "FIXED: m.onnx for trt7.2: 1 problem repaired, none is left\n",
        ),
        (
            ["edit", "m.onnx", "--rename", "x=z", "-o", "o.onnx"],
            "CHANGED: m.onnx edited, each claim verified\n",
        ),
    ):
        assert main([*words, "-q"]) == int(says.startswith("PROBLEMS"))
        assert capsys.readouterr().out == says


def test_the_next_command_names_the_profile_as_it_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile, path = tmp_path / "chip.toml", tmp_path / "m.onnx"
    profile.write_text(
        'name = "chip-1.0"\nfamily = "chip"\nversion = "1.0"\ntitle = "Chip"\nsource = "manual"\n'
        'opset = {max = 13, rejects_above = true}\ndomains = [""]\nfunctions = false\n'
        "[ops]\nMod = {supported = false}\n"
    )
    graph = "g (float[2] x) => (float[2] y) {y = Mod <fmod = 1> (x, x)}"
    text = f'<ir_version: 8, opset_import: ["" : 13]> {graph}'
    path.write_bytes(parser.parse_model(text).SerializeToString())
    assert main(["check", str(path), "--target", str(profile)]) == 1
    assert f"\n  graphfix run {path} --target {profile}\n" in capsys.readouterr().out
    assert main(["check", str(path), "--target", str(profile), "-v"]) == 1
    assert f"Next: graphfix run {path} --target {profile}\n" in capsys.readouterr().out
