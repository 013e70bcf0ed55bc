"""`graphfix diff`: text, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from onnx import ModelProto, numpy_helper

from graphfix.cli import main
from graphfix.rendering.schemas import schema_of
from tests.difference.shuffling import disguised
from tests.difference.small_models import MODELS, chain

Capture = pytest.CaptureFixture[str]
SCHEMA = schema_of("two-models")


def written(path: Path, model: ModelProto) -> str:
    path.write_bytes(model.SerializeToString())
    return str(path)


def changed_chain() -> ModelProto:
    model = disguised(chain(), 1)
    weight = model.graph.initializer[0]
    values = numpy_helper.to_array(weight).copy()
    values[2, 1] += np.float32(0.5)
    weight.CopyFrom(numpy_helper.from_array(values, "other"))
    for node in model.graph.node:
        if node.op_type == "MatMul":
            node.input[1] = "other"
    return model


def test_the_same_under_other_names(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.onnx", chain())
    two = written(tmp_path / "b.onnx", disguised(chain(), 1, keep_interface=True))
    assert main(["diff", one, two]) == 0
    out = capsys.readouterr().out
    assert out == "OK: a.onnx -> b.onnx: the same, up to names\n  renamed: 3 nodes, 3 tensors\n"


def test_a_changed_weight_in_text(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.onnx", chain())
    two = written(tmp_path / "b.onnx", changed_chain())
    assert main(["diff", one, two]) == 1
    out = capsys.readouterr().out
    assert "~ w -> other  float32[3, 4]" in out
    assert "1 of 12 elements differ, by up to 0.5" in out
    assert "first at [2, 1]" in " ".join(out.split())
    assert "read by MatMul 'b' (main, #1)" in out
    assert max(map(len, out.splitlines())) <= 80


def test_json_is_as_the_schema_says(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.onnx", chain())
    two = written(tmp_path / "b.onnx", changed_chain())
    assert main(["diff", one, two, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert found["same"] is False
    assert [w["name"] for w in found["weights"]] == ["w"]
    assert found["weights"][0]["statistics"]["max_abs"] == pytest.approx(0.5)
    assert found["matched_nodes"] == 3


def test_json_of_models_that_share_little(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.onnx", MODELS["convolution"]())
    two = written(tmp_path / "b.onnx", MODELS["quantized"]())
    assert main(["diff", one, two, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert {n["op"] for n in found["removed"]} == {"Conv", "LeakyRelu"}
    assert {n["op"] for n in found["added"]} == {"QuantizeLinear", "DequantizeLinear"}


def test_bad_input(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.onnx", chain())
    (tmp_path / "bad.onnx").write_bytes(b"\x89PNG is no model")
    assert main(["diff", one, str(tmp_path / "bad.onnx")]) == 3
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert "bad.onnx: not an ONNX model: it looks like a PNG picture" in error
    assert main(["diff", one, str(tmp_path / "none.onnx"), "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["error"]["code"] == 3
    assert main(["diff", one]) == 2
