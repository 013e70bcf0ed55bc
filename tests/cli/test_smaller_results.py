"""--share-weights and --strip: what results hold more than once, and what no engine reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from graphfix.cli import main
from graphfix.rendering.schemas import schema_of

Capture = pytest.CaptureFixture[str]
SIDE = 32
MODS = """<ir_version: 10, opset_import: ["" : 17]>
g (int64[N] x) => (int64[N] y) <int64 c = {3}> { [m] z = Mod (x, c) [n] y = Neg (z) }"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a model whose halves read one matrix, and go there."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("MatMul", ["h", "w"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, SIDE]) for n in ("x", "y")]
    weight = numpy_helper.from_array(np.eye(SIDE, dtype=np.float32), "w")
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _location(path: str) -> str:
    (weight,) = ModelProto.FromString(Path(path).read_bytes()).graph.initializer
    return next((entry.value for entry in weight.external_data if entry.key == "location"), "")


def test_the_parts_of_a_model_read_one_file(folder: Path, capsys: Capture) -> None:
    split = ["edit", "m.onnx", "--split", "h=front.onnx,back.onnx", "--share-weights"]
    assert main([*split, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of("edit"))
    shared: dict[str, Any] = found["shared_weights"]
    (data,) = shared["data"]
    assert shared["weights"] == 2
    assert (folder / data).stat().st_size == SIDE * SIDE * 4
    assert {_location("front.onnx"), _location("back.onnx")} == {data}
    onnx.checker.check_model("back.onnx")  # pyright: ignore[reportUnknownMemberType]
    assert main([*split, "--verify", "off"]) == 0
    said = capsys.readouterr().out
    assert f"  weights   2 weights of the results are read in {data}, 4.0 kB less\n" in said


def test_one_result_has_nothing_to_share_with(folder: Path, capsys: Capture) -> None:
    words = ["edit", "m.onnx", "--rename", "x=a", "--share-weights", "-o", "out.onnx"]
    assert main(words) == 2
    assert "nothing to share with" in capsys.readouterr().err
    assert not (folder / "out.onnx").exists()


def test_a_fleet_reads_one_file_and_is_known_from_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    words = ["batch", "m.onnx", "--target", "trt8,ort", "--out", "out", "--share-weights", "--json"]
    assert main(words) == 0
    first = json.loads(capsys.readouterr().out)
    (data,) = first["shared_weights"]["data"]
    assert {_location(row["output"]) for row in first["rows"]} == {data}
    assert main(words) == 0
    again = json.loads(capsys.readouterr().out)
    assert (first["made"], again["made"]) == (2, 0)
    assert again["shared_weights"] == {"data": [], "weights": 0, "spared": 0}
    for name in "ab":
        (folder / "nets" / name).mkdir(parents=True)
        (folder / "nets" / name / "m.onnx").write_bytes((folder / "m.onnx").read_bytes())
    words[1] = "nets"
    assert main(words) == 0
    shared = json.loads(capsys.readouterr().out)["shared_weights"]
    assert sorted(path.partition("/")[0] for path in shared["data"]) == ["a", "b"]
    assert shared["weights"] == 4
    words[words.index("out")] = "memory://out"
    assert main([*words, "--rows", "rows"]) == 2
    assert "--share-weights requires a folder" in capsys.readouterr().err


def test_what_exporters_wrote_is_left_out(folder: Path) -> None:
    model = onnx.parser.parse_model(MODS)
    graph = model.graph
    parts: list[Any] = [model, graph, *graph.node, *graph.initializer, graph.input[0]]
    for noted in parts:
        noted.doc_string = "a trace"
        noted.metadata_props.add(key="pkg.torch.onnx.stack_trace", value="a trace")
    graph.value_info.append(helper.make_tensor_value_info("c", TensorProto.INT64, []))
    path = folder / "mods.onnx"
    path.write_bytes(model.SerializeToString())
    run = ["run", "mods.onnx", "--target", "trt8.0", "-o", "out.onnx"]
    assert main(run) == 0
    kept = ModelProto.FromString((folder / "out.onnx").read_bytes())
    assert [node.doc_string for node in kept.graph.node if node.op_type == "Neg"] == ["a trace"]
    assert main([*run, "--strip"]) == 0
    raw = (folder / "out.onnx").read_bytes()
    result = ModelProto.FromString(raw)
    assert raw.count(b"a trace") == 2
    assert result.doc_string == "a trace"
    assert result.metadata_props[0].key == "pkg.torch.onnx.stack_trace"
    keys = {entry.key for node in result.graph.node for entry in node.metadata_props}
    assert keys == {"graphfix.made_by", "graphfix.from"}
    assert main(["run", "mods.onnx", "--target", "ort", "-o", "out.onnx", "--strip"]) == 0
    raw = (folder / "out.onnx").read_bytes()
    assert raw.count(b"a trace") == 2, "also where there is nothing to repair"
    assert not ModelProto.FromString(raw).graph.value_info, "the initializer says its type"
