"""`run --time`: what a model costs before and after, in text, JSON and Markdown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import onnx
import pytest

from graphfix.cli import main
from graphfix.rendering.schemas import schema_of

Capture = pytest.CaptureFixture[str]
# 8 x 16 x 4 multiply-adds; Mod of floats becomes five nodes with one number.
MODEL = (
    '<ir_version: 8, opset_import: ["" : 17]> g (float[8, 16] x, float[16, 4] m) => (float[8, 4] y)'
    " <float[4] w = {1, 2, 3, 4}> { a = MatMul (x, m) y = Mod <fmod = 1> (a, w) }"
)
OPEN = MODEL.replace("float[8, ", "float[N, ")
FOREIGN = MODEL.replace('"" : 17', '"" : 17, "own" : 1').replace("MatMul", "own.Product")
SCHEMA = schema_of("report")
RUN = ("run", "m.onnx", "--target", "trt8.4", "--force", "--time")


def written(text: str) -> None:
    Path("m.onnx").write_bytes(onnx.parser.parse_model(text).SerializeToString())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to a folder of its own."""
    monkeypatch.chdir(tmp_path)


def costs_of(capsys: Capture, *words: str) -> Any:
    """Return what the JSON of a run, which the schema describes, says of costs."""
    main([*words, "--json"])
    reported = json.loads(capsys.readouterr().out)
    jsonschema.validate(reported, SCHEMA)
    return reported.get("costs")


def test_what_is_counted_and_timed(capsys: Capture) -> None:
    written(MODEL)
    costs = costs_of(capsys, *RUN)
    assert costs["before"] == {"nodes": 2, "weights": 16, "largest": 128, "macs": 512, "open": 0}
    result = onnx.ModelProto.FromString(Path("m.trt8.4.onnx").read_bytes())
    assert len(result.graph.node) > 2
    assert costs["after"]["nodes"] == len(result.graph.node)
    assert costs["after"]["macs"] == 512
    # How long is no matter of a test.
    assert costs["microseconds_before"] > 0
    assert costs["microseconds_after"] > 0
    assert not costs["untimed"]
    assert costs_of(capsys, *RUN[:-1]) is None


def test_open_sizes_are_counted_apart(capsys: Capture) -> None:
    written(OPEN)
    costs = costs_of(capsys, *RUN)
    assert costs["before"] == {"nodes": 2, "weights": 16, "largest": 0, "macs": 0, "open": 1}
    assert costs["microseconds_after"] > 0


def test_what_does_not_run_is_not_timed(capsys: Capture) -> None:
    written(FOREIGN)
    costs = costs_of(capsys, *RUN)
    assert "own:Product(-1) is not a registered function/op" in costs["untimed"]
    assert costs["microseconds_before"] is costs["microseconds_after"] is None


def test_the_sentence_in_each_view(capsys: Capture) -> None:
    written(MODEL)
    main([*RUN, "--report", "r.md"])
    short = " ".join(capsys.readouterr().out.split())
    sentence = (
        r"cost [0-9.]+ us -> [0-9.]+ us in onnxruntime, one thread: [0-9.]+ times; nodes 2 -> \d+;"
    )
    assert re.search(sentence, short)
    page = Path("r.md").read_text(encoding="utf-8")
    assert "## Cost" in page
    assert "\n- multiply-adds 512 " in page
    main([*RUN, "-v"])
    whole = " ".join(capsys.readouterr().out.split())
    assert "multiply-adds 512 -> 512 Verification" in whole
    main(RUN[:-1])
    assert "cost" not in capsys.readouterr().out
