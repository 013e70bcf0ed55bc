"""--extract-body: the graph inside of a node as a model of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import GraphProto, ModelProto, TensorProto, helper, numpy_helper

from graphfix import UsageError, edits
from graphfix.cli import main
from tests.edits.small_models import BRANCHES, checked, parsed, ran, samples


def search() -> ModelProto:
    """Return a search whose decoder reads a weight from around it."""
    info = helper.make_tensor_value_info
    decoder = GraphProto(name="decoder")
    decoder.node.append(helper.make_node("Gather", ["table", "ids"], ["logits"]))
    decoder.input.append(info("ids", TensorProto.INT32, ["B", "L"]))
    decoder.output.append(info("logits", TensorProto.FLOAT, ["B", "L", 4]))
    table = np.arange(20, dtype=np.float32).reshape(5, 4)
    number = numpy_helper.from_array(np.array([8], np.int32), "length")
    node = helper.make_node(
        "GreedySearch",
        ["x", "length"],
        ["y"],
        "search",
        domain="com.microsoft",
        decoder=decoder,
        eos_token_id=1,
        pad_token_id=0,
    )
    graph = helper.make_graph(
        [node],
        "g",
        [info("x", TensorProto.INT32, ["B", "L"])],
        [info("y", TensorProto.INT32, ["B", "M"])],
        [numpy_helper.from_array(table, "table"), number],
    )
    imports = [helper.make_opsetid("", 14), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def test_a_decoder_and_its_weights() -> None:
    found = edits.extract_body(search(), "search", "decoder")
    after = checked(found)
    assert [tensor.name for tensor in after.graph.initializer] == ["table"]
    ids = np.array([[1, 4]], np.int32)
    assert ran(after, ids=ids)["logits"].tolist() == [[[4, 5, 6, 7], [16, 17, 18, 19]]]
    assert found.steps[0].said == ("decoder of GreedySearch 'search', 1 nodes",)


def test_values_from_around_become_inputs() -> None:
    before = parsed(BRANCHES)
    after = checked(edits.extract_body(before, "choose", "then_branch"))
    x, c = samples(2, 4), np.array(True)
    names = [info.name for info in after.graph.input]
    assert names
    values = {"h": x * 2, "x": x, "c": c}
    given = ran(after, **{name: values[name] for name in names})
    (result,) = given.values()
    assert (result == ran(before, x=x, c=c)["y"]).all()


def test_what_is_no_graph_is_said() -> None:
    with pytest.raises(UsageError, match=r"the node has no graph 'encoder' \(it has: decoder\)"):
        edits.extract_body(search(), "search", "encoder")
    with pytest.raises(UsageError, match=r"the model has no node 'other'"):
        edits.extract_body(search(), "other", "decoder")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "search.onnx", tmp_path / "decoder.onnx"
    path.write_bytes(search().SerializeToString())
    assert main(["edit", str(path), "--extract-body", "search.decoder", "-o", str(out)]) == 0
    assert "decoder of GreedySearch 'search'" in capsys.readouterr().out
    assert main(["edit", str(path), "--extract-body", "decoder", "-o", str(out)]) == 2
    assert "NODE.ATTRIBUTE" in capsys.readouterr().err
