"""Where a fault is: in a branch, in a function, in a step of the opset, in the whole model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.authoring.building import Builder
from graphfix.ir.views import NodeView
from graphfix.opset import adapting, planning
from graphfix.pipeline.reproducers.folder import read_folder
from tests.pipeline.reproducers.faulty import ELEMENT, RAISES, kept_model, reproduced

BRANCH = onnx.parser.parse_model(
    """
    <ir_version: 8, opset_import: ["" : 13]>
    g (float[3, 4] x, bool c) => (float[3, 4] y) {
      a = Exp (x)
      y = If (c) <
        then_branch = t () => (float[3, 4] p) { b = Neg (a)  p = Abs (b) },
        else_branch = e () => (float[3, 4] q) { q = Relu (a) }
      >
    }
    """
)
FUNCTION = onnx.parser.parse_model(
    """
    <ir_version: 8, opset_import: ["" : 13, "local" : 1]>
    g (float[3, 4] x) => (float[3, 4] y) { y = local.f (x) }
    <domain: "local", opset_import: ["" : 13]>
    f (i) => (o) { h = Neg (i)  o = Abs (h) }
    """
)


@pytest.mark.parametrize("source", [ELEMENT, RAISES])
@pytest.mark.parametrize("model", [BRANCH, FUNCTION], ids=["branch", "function"])
def test_a_node_inside_is_cut_out_too(tmp_path: Path, model: onnx.ModelProto, source: str) -> None:
    made = reproduced(tmp_path, source, model)
    assert made.node.scope != "main"
    assert [n.op_type for n in kept_model(made.folder).graph.node] == [made.node.op]
    assert graphfix.replay(made.folder).shows is True


def test_weights_that_the_pass_reads_are_kept(tmp_path: Path) -> None:
    """The file refers to weights outside of it; the folder holds those of the site."""
    weights = np.arange(20000, dtype=np.float32).reshape(4, 5000) - 9000
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 13]> g (float[2, 4] x) => (float[2, 5000] y)'
        "{ y = MatMul (x, w) }"
    )
    tensor = onnx.numpy_helper.from_array(weights, "w")
    (tmp_path / "w.bin").write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("length", str(weights.nbytes))):
        tensor.external_data.add(key=key, value=value)
    model.graph.initializer.append(tensor)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    source = (
        '\n@rewrite("MatMul", emits=("MatMul",), accuracy=EXACT)\n'
        "def reading(node, build):\n"
        '    w = build.need_const(node.inputs[1], "the weights")\n'
        "    return build.MatMul(node.inputs[0], w * np.float32(1.01))\n"
    )
    made = reproduced(tmp_path, source, path)
    (kept,) = kept_model(made.folder).graph.initializer
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(kept), weights)
    assert graphfix.replay(made.folder).shows is True


def test_a_wrong_step_of_the_opset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = onnx.parser.parse_model(
        """
        <ir_version: 7, opset_import: ["" : 13]>
        g (float[2, 3] x) => (float[2, 1] y, float[2, 3] z) <int64[1] axes = {1}>
        { y = ReduceSum <keepdims = 1> (x, axes)  z = Relu (x) }
        """
    )
    known = dict(adapting.adapters())
    adapter = known["ReduceSum", 13, 12]

    def wrong(node: NodeView, build: Builder) -> object:
        results = adapter.function(node, build)
        assert isinstance(results, tuple)
        return build.Mul(results[0], 1.01)

    known["ReduceSum", 13, 12] = replace(adapter, function=cast("Any", wrong))
    with monkeypatch.context() as patched:
        patched.setattr(planning, "adapters", lambda: known)
        result = graphfix.run(model, opset=12, reproducers=tmp_path)
        (made,) = result.report.reproducers
        assert (made.pass_id, made.kind) == ("opset", "differs")
        assert [n.op_type for n in kept_model(made.folder).graph.node] == ["ReduceSum"]
        assert read_folder(Path(made.folder)).recipe.opset == 12
        assert graphfix.replay(made.folder).shows is True
    found = graphfix.replay(made.folder)
    assert (found.shows, found.exit_code) == (False, 0)


def test_a_difference_of_the_whole_model_only(tmp_path: Path) -> None:
    made = reproduced(tmp_path, ELEMENT, verify="full")
    kept = read_folder(Path(made.folder))
    assert (made.kind, kept.whole, kept.recipe.verify) == ("raises", True, "full")
    assert kept.seen.startswith("its result was rolled back: ")
    assert graphfix.replay(made.folder).shows is True
    out = tmp_path / "out"
    assert graphfix.replay(made.folder, anonymize=out).anonymised == str(out)
    assert read_folder(out).whole
