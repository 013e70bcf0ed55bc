"""`graphfix edit`: the order of edits, what is written, text, JSON, exit codes, bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import onnx
import pytest

from graphfix.cli import main
from graphfix.rendering.schemas import schema_of
from tests.edits.small_models import TOWER, parsed

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]
SCHEMA = schema_of("edit")


@pytest.fixture
def tower(tmp_path: Path) -> str:
    path = tmp_path / "tower.onnx"
    path.write_bytes(parsed(TOWER).SerializeToString())
    return str(path)


def test_edits_are_done_in_the_order_given(tower: str, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out.onnx"
    words = ["--rename", "x=a", "--prefix", "p_", "--rename", "a=b", "--rename-node", "p_dot=dot"]
    assert main(["edit", tower, *words, "-o", str(out), "-v"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "CHANGED: tower.onnx edited, each claim verified"
    assert [line for line in said if line.startswith("--")] == [
        "--rename",
        "--prefix",
        "--rename",
        "--rename-node",
    ]
    assert sum(line.startswith(("  verified: ", "  verified on ")) for line in said) == 8
    result = onnx.ModelProto.FromString(out.read_bytes())
    assert result.graph.input[0].name == "b"
    assert [node.name for node in result.graph.node] == ["dot", "p_plus", "p_act", "p_neg"]
    kept = {entry.key: entry.value for entry in result.metadata_props}
    assert kept["graphfix.edits"] == "--rename --prefix --rename --rename-node"
    assert main(["edit", tower, *words, "-o", str(out)]) == 0, "what graphfix wrote is replaced"


def test_json(tower: str, tmp_path: Path, capsys: Capture) -> None:
    out = str(tmp_path / "out.onnx")
    assert main(["edit", tower, "--rename", "x=a", "-o", out, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert (found["output"], found["exit_code"], found["verified"]) == (out, 0, True)
    (step,) = found["edits"]
    assert (step["edit"], step["said"]) == ("rename", ["tensor 'x' is called 'a'"])
    assert [proof["verification"]["status"] for proof in step["proofs"]] == ["equal", "equal"]
    assert main(["edit", tower, "--rename", "x=a", "-o", out, "--json", "--verify", "off"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert (found["verified"], found["edits"][0]["proofs"]) == (False, [])


def test_all_or_none(tower: str, tmp_path: Path, capsys: Capture) -> None:
    out = str(tmp_path / "out.onnx")
    assert main(["edit", tower, "--rename", "x=a", "--rename", "x=b", "-o", out]) == 2
    assert "--rename x=b: the model has no tensor 'x'" in capsys.readouterr().err
    assert not Path(out).exists()


def test_bad_input(tower: str, tmp_path: Path, capsys: Capture) -> None:
    out = str(tmp_path / "out.onnx")
    mine = tmp_path / "mine.onnx"
    mine.write_bytes(b"precious")
    for words, code, said in (
        ([tower, "-o", out], 2, "nothing to do"),
        ([tower, "--rename", "x", "-o", out], 2, "'x' is not of the form OLD=NEW"),
        ([tower, "--rename", "x=a"], 2, "give -o OUT.onnx"),
        ([tower, "--rename", "x=a", "-o", tower], 2, "would overwrite the input"),
        ([tower, "--rename", "x=a", "-o", str(mine)], 2, "was not written by graphfix"),
        ([str(mine), "--rename", "x=a", "-o", out], 3, "mine.onnx"),
        ([str(tmp_path / "no.onnx"), "--rename", "x=a", "-o", out], 3, "no such file"),
    ):
        assert main(["edit", *words]) == code, words
        assert said in capsys.readouterr().err
        assert not Path(out).exists()
    assert mine.read_bytes() == b"precious"


def test_a_result_that_goes_to_standard_output(tower: str, capfdbinary: Any) -> None:
    assert main(["edit", tower, "--rename", "x=a", "-o", "-"]) == 0
    reported = capfdbinary.readouterr()
    assert onnx.ModelProto.FromString(reported.out).graph.input[0].name == "a"
    assert b"CHANGED: tower.onnx edited" in reported.err
    assert main(["edit", tower, "--rename", "x=a", "-o", "-", "--json"]) == 2
