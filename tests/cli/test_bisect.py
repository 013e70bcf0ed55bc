"""`graphfix bisect`: text, JSON, exit codes and bad words, for two files and for a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import onnx
import pytest
from onnx import ModelProto, numpy_helper
from referencing import Registry, Resource

import graphfix
from graphfix.cli import main
from graphfix.proving.layers.divergence import Origin
from graphfix.rendering.schemas import schema_of
from graphfix.report import Verdict
from tests.corpus_networks import with_fault
from tests.difference.shuffling import disguised
from tests.difference.small_models import MODELS, branches, chain, constants, functions, tower

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]
SCHEMAS = {f"{name}.schema.json": schema_of(name) for name in ("bisect", "report", "two-models")}
WRONG = '''"""A repair that is wrong at one place."""

from graphfix import rewrite


@rewrite("Relu", removes="op:Relu", emits=("Max", "Mul"))
def relu_to_max(node, build):
    """Replace Relu by Max."""
    value = build.Max(node.inputs[0], 0.0)
    return build.Mul(value, 1.01) if node.outputs[0].name == "r4" else value
'''


def written(path: Path, model: ModelProto) -> str:
    path.write_bytes(model.SerializeToString())
    return str(path)


def validate(found: object) -> None:
    """Check against the schema, which refers to those of the other commands."""
    assert isinstance(found, dict)
    assert "error" not in found, found  # an engine that failed ends with exit code 1 too
    held = [(name, Resource.from_contents(schema)) for name, schema in SCHEMAS.items()]
    registry: Registry[Any] = Registry[Any]().with_resources(held)
    schema = SCHEMAS["bisect.schema.json"]
    validator = jsonschema.Draft202012Validator(schema, registry=registry)
    validator.validate(found)  # pyright: ignore[reportUnknownMemberType]


def faulty_tower() -> ModelProto:
    return disguised(with_fault(tower(), "w3"), 11)


def test_text_of_two_files(tmp_path: Path, capsys: Capture) -> None:
    one, two = written(tmp_path / "a.onnx", tower()), written(tmp_path / "b.onnx", faulty_tower())
    assert main(["bisect", one, two]) == 1
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == "DIFFERENT: a.onnx against b.onnx: mismatch"
    place = lines.index("First node that differs")
    assert lines[place + 1] == "  MatMul 'm3' (main, #6)"
    assert "    reads     r3: equal in both" in lines
    assert "    reads     w3: stored in the model" in lines
    place = lines.index("What is written differently there")
    assert lines[place + 1].startswith("  ~ w3 -> t")
    assert "16 of 16 elements differ" in lines[place + 2]
    assert "(1.00% of the largest)" in out
    assert max(map(len, lines)) <= 80
    assert main(["bisect", one, one]) == 0
    assert "12 tensors compared, none differs" in capsys.readouterr().out


def test_json_of_two_files(tmp_path: Path, capsys: Capture) -> None:
    one, two = written(tmp_path / "a.onnx", tower()), written(tmp_path / "b.onnx", faulty_tower())
    assert main(["bisect", one, two, "--json", "--seed", "4"]) == 1
    found = json.loads(capsys.readouterr().out)
    validate(found)
    assert (found["status"], found["compared"]) == ("mismatch", 12)
    first = found["first"]
    assert (first["tensor"]["name"], first["tensor"]["node"]["op"]) == ("m3", "MatMul")
    assert first["tensor"]["max_rel"] == pytest.approx(0.01, rel=0.01)
    assert first["new_node"]["outputs"] == [first["tensor"]["new_name"]]
    assert [w["name"] for w in first["weights"]] == ["w3"]
    assert first["inputs_equal"] is True
    assert main(["bisect", one, one, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    validate(found)
    assert (found["status"], found["first"]) == ("equal", None)


@pytest.mark.parametrize("name", ["tower", "constants", "several_outputs", "functions", "branches"])
def test_a_disguised_model_has_no_first_node(name: str) -> None:
    model = MODELS[name]()
    found = graphfix.bisect(model, disguised(model, 2))
    assert (found.status, found.exit_code, found.divergence) == (Verdict.EQUAL, 0, None)


def test_an_attribute_and_an_operator() -> None:
    other = disguised(chain(), 4)
    next(node for node in other.graph.node if node.op_type == "Tanh").op_type = "Sigmoid"
    where = graphfix.bisect(chain(), other).divergence
    assert where is not None
    assert where.layer.node.op == "Tanh"
    assert where.after.op == "Sigmoid"
    assert [(f.field, f.old, f.new) for f in where.fields] == [("operator", "Tanh", "Sigmoid")]
    model = MODELS["convolution"]()
    other = disguised(model, 4)
    next(n for n in other.graph.node if n.op_type == "LeakyRelu").attribute[0].f = 0.2
    where = graphfix.bisect(model, other).divergence
    assert where is not None
    assert where.layer.node.op == "LeakyRelu"
    assert [f.field for f in where.fields] == ["attribute alpha"]
    values = [float(text) for f in where.fields for text in (f.old, f.new) if text is not None]
    assert values == pytest.approx([0.1, 0.2])


def test_a_constant_node_and_what_a_body_stores() -> None:
    other = disguised(constants(), 4)
    for node in other.graph.node:
        if node.op_type == "Constant" and len(node.attribute[0].t.dims) == 1:
            values = np.array([1, 2, 5], np.float32)
            node.attribute[0].t.CopyFrom(numpy_helper.from_array(values))
    where = graphfix.bisect(constants(), other).divergence
    assert where is not None
    assert where.layer.node.outputs == ("k",)
    assert [change.name for change in where.weights] == ["k"]
    other = disguised(branches(), 4)
    choice = next(node for node in other.graph.node if node.op_type == "If")
    then = next(a.g for a in choice.attribute if a.name == "then_branch")
    values = numpy_helper.to_array(then.initializer[0]) * np.float32(1.5)
    then.initializer[0].CopyFrom(numpy_helper.from_array(values, then.initializer[0].name))
    where = graphfix.bisect(branches(), other).divergence
    assert where is not None
    assert where.layer.node.op == "If"
    assert [(c.name, c.scope) for c in where.weights] == [("inner", "main/If.then_branch")]
    assert {(o.name, o.origin) for o in where.operands} == {
        ("c", Origin.FED),
        ("x", Origin.FED),
        ("a", Origin.EQUAL),
    }


def test_inside_a_function() -> None:
    other = disguised(functions(), 1)
    call = next(node for node in other.graph.node if node.domain == "own")
    call.attribute[0].f = 3.0
    where = graphfix.bisect(functions(), other).divergence
    assert where is not None
    assert where.layer.node.op in ("Constant", "Mul")
    assert where.layer.depth < 2


def test_what_the_second_model_lacks_is_reported() -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x) => (float[2,3] y) '
    one = onnx.parser.parse_model(f"{head} {{ a = Abs(x) b = Exp(a) c = Neg(b) y = Tanh(c) }}")
    two = onnx.parser.parse_model(f"{head} {{ a = Abs(x) q = Sigmoid(a) y = Tanh(q) }}")
    where = graphfix.bisect(one, two).divergence
    assert where is not None
    assert where.layer.name == "y"
    assert not where.inputs_equal
    assert [node.op for node in where.unseen] == ["Exp", "Neg"]


def test_a_run_in_text_and_json(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(WRONG, encoding="utf-8")
    model = written(tmp_path / "tower.onnx", tower())
    words = ["bisect", model, "--passes", "relu-to-max", "--pass-file", str(file)]
    before = sorted(tmp_path.iterdir())
    assert main(words) == 1
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == "DIFFERENT: tower.onnx, repaired: mismatch"
    assert lines[lines.index("First repair that breaks the outputs") + 1] == "  relu-to-max"
    assert "    node      Relu 'r4' (main, #7)" in lines
    assert "    proof     mismatch on " in out
    assert "are wrong from place 4 on" in " ".join(out.split())
    assert "    without   equal" in lines
    assert max(map(len, lines)) <= 80
    assert main([*words, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    validate(found)
    assert (found["sites"], found["place"], found["target"]) == (6, 4, None)
    assert found["first"]["passes"] == ["relu-to-max"]
    assert found["first"]["site"]["node"]["outputs"] == ["r4"]
    assert found["first"]["site"]["certificate"]["status"] == "mismatch"
    assert found["without"]["status"] == "equal"
    assert found["with"]["status"] == "mismatch"
    assert sorted(tmp_path.iterdir()) == before, "nothing is written"


def test_a_right_run(tmp_path: Path, capsys: Capture) -> None:
    model = str(ROOT / "fixtures" / "slice_assign_ts17.onnx")
    assert main(["bisect", model, "--target", "trt7", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    validate(found)
    assert (found["target"], found["status"], found["first"]) == ("trt7.2", "equal", None)


def test_a_run_without_repairs_is_not_called_repaired(tmp_path: Path, capsys: Capture) -> None:
    model = written(tmp_path / "chain.onnx", chain())
    assert main(["bisect", model, "--target", "trt8"]) == 0
    assert capsys.readouterr().out == (
        "OK: nothing is repaired in chain.onnx for trt8.6, so there is nothing to compare\n"
    )


def test_bad_words_and_files(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.onnx", tower())
    two = written(tmp_path / "b.onnx", branches())
    (tmp_path / "bad.onnx").write_bytes(b"\x89PNG is no model")
    for words, code, said in (
        ([one, two], 2, "the models have different inputs"),
        ([one], 2, "give a second file, or --target, --passes or --opset"),
        ([one, two, "--target", "trt8"], 2, "--target and a second file exclude each other"),
        ([one, two, "--allow-lossy"], 2, "--allow-lossy and a second file exclude each other"),
        ([one, str(tmp_path / "bad.onnx")], 3, "it looks like a PNG picture"),
        ([one, str(tmp_path / "none.onnx")], 3, "no such file"),
        ([str(tmp_path / "none.onnx"), "--target", "trt8"], 3, "no such file"),
        ([one, "--target", "trt99"], 2, "trt99"),
        ([one, one, "--shape", "q=1x2"], 2, "no input 'q'"),
    ):
        assert main(["bisect", *words]) == code, words
        captured = capsys.readouterr()
        assert captured.out == ""
        assert len(captured.err.splitlines()) == 1
        assert said in captured.err
        assert main(["bisect", *words, "--json"]) == code
        assert json.loads(capsys.readouterr().out)["error"]["code"] == code
