"""--to float16 --target: sums as the engine adds up, what its guide keeps, what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from graphfix import UsageError, check, edits
from graphfix.cli import main
from graphfix.engines.half import half_of
from tests.edits.small_models import HEAD, parsed, ran

LONG = 4096


def summing() -> ModelProto:
    """Return a network whose sums go up to 81,920 and end at 8,192."""
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in _ENDS.items()]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"], "dot"),
        helper.make_node("Relu", ["p"], ["y"], "act"),
    ]
    half = np.ones((LONG // 2, 2), np.float32)
    weight = numpy_helper.from_array(np.concatenate([half, np.float32(-0.9) * half]), "w")
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


_ENDS = {"x": [1, LONG], "y": [1, 2]}
FEED = {"x": np.full((1, LONG), 40, np.float32)}
NORM = (
    HEAD
    + """
g (float[N, 8] x) => (float[N, 8] y) <float two = {2}, float e = {0.001}>
{
  [twice] d = Add (x, x)
  [square] q = Pow (d, two)
  [mean] m = ReduceMean <axes = [1]> (q)
  [safe] s = Add (m, e)
  [root] r = Sqrt (s)
  [last] y = Div (d, r)
}
"""
)


def test_a_product_is_added_up_in_float32_between_casts() -> None:
    plain = edits.to(summing(), "float16", inputs=FEED)
    assert plain.steps[0].said == ("2 of 2 nodes with floats compute in float16",)
    for target in ("trt10", "trt11", "qnn", "coreml-mlprogram", "webgpu"):
        found = edits.to(summing(), "float16", inputs=FEED, target=target)
        assert found.exit_code == 0
        assert found.steps[0].said[1] == "added up in float32, between casts: MatMul 'dot'"
    proto = found.model.to_proto()
    onnx.checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    kinds = [node.op_type for node in proto.graph.node]
    assert kinds == ["Cast", "Cast", "Cast", "MatMul", "Cast", "Relu", "Cast"]
    assert [t.data_type for t in proto.graph.initializer] == [TensorProto.FLOAT16]
    assert np.allclose(ran(proto, **FEED)["y"], ran(summing(), **FEED)["y"], rtol=1e-3)


def test_sums_that_stay_small_are_left_to_the_engine() -> None:
    # One after the other, terms of 0.4 are lost from 1,024 on; 16 at once are not.
    every = {"x": FEED["x"] / 100 * (np.arange(LONG) < LONG // 2).astype(np.float32)}
    said = {
        target: edits.to(summing(), "float16", inputs=every, target=target).steps[0].said
        for target in ("trt10", "webgpu")
    }
    assert said["trt10"] == ("2 of 2 nodes with floats compute in float16",)
    assert said["webgpu"][1].startswith("added up in float32")


def test_reductions_stay_and_what_they_alone_read() -> None:
    said = edits.to(parsed(NORM), "float16", target="trt10").steps[0].said
    assert said[0] == "4 of 6 nodes with floats compute in float16"
    assert "kept, what it computes is only added up: Pow 'square'" in said
    (why,) = [text for text in said if text.endswith("ReduceMean 'mean'")]
    assert "pytorch/TensorRT#4061" in why
    assert edits.to(parsed(NORM), "float16").steps[0].said[0].startswith("6 of 6")


def test_what_the_engine_refuses_in_the_type_stays() -> None:
    net = HEAD + (
        "g (float[N, 4] x) => (float[N, 4] y) <float k = {2}> "
        "{ [a] p = Neg (x) [square] q = Pow (p, k) [b] y = Neg (q) }"
    )
    found = edits.to(parsed(net), "float16", target="coreml-mlprogram")
    assert found.steps[0].said[0] == "2 of 3 nodes with floats compute in float16"
    (why,) = [text for text in found.steps[0].said if text.endswith("Pow 'square'")]
    assert why.startswith("kept, CoreML")
    assert " refuses it: " in why
    free = edits.to(parsed(net), "float16")
    assert len(free.steps[0].said) == 1


def test_what_the_engine_computes_as_one_stays_in_one_type() -> None:
    gelu = HEAD + (
        "g (float[2, 4] x) => (float[2, 4] y) "
        "<float r = {1.4142135}, float one = {1}, float h = {0.5}> "
        "{ [a] n = Neg (x) [d] q = Div (n, r) [erf] e = Erf (q) [p] s = Add (e, one) "
        "[m] t = Mul (n, s) [h] u = Mul (t, h) [b] y = Neg (u) }"
    )
    found = edits.to(parsed(gelu), "float16", target="qnn2")
    assert found.exit_code == 0
    assert not any(finding.blocks for finding in check(found.model, target="qnn2"))
    assert found.steps[0].said[0] == "1 of 7 nodes with floats compute in float16"
    kept = " ".join(found.steps[0].said[1:])
    assert " refuses it: " in kept
    assert all(f"'{name}'" in kept for name in ("d", "erf", "p", "m", "h"))


def test_bfloat16_is_for_engines_that_take_it() -> None:
    net = HEAD + "g (float[N, 4] x) => (float[N, 4] y) { [a] p = Add (x, x) [b] y = Relu (p) }"
    assert edits.to(parsed(net), "bfloat16", target="trt10").exit_code == 0
    with pytest.raises(UsageError, match="no node can be converted") as error:
        edits.to(parsed(net), "bfloat16", target="trt8")
    assert "refuses it" in str(error.value.hint)


def test_engines_that_no_source_tells_of() -> None:
    with pytest.raises(UsageError, match=r"how ncnn .* adds up numbers of 16 bits is not known"):
        edits.to(parsed(NORM), "float16", target="ncnn")
    for family in ("trt", "trt-rtx", "qnn", "coreml-nn", "coreml-mlprogram", "webgpu"):
        half = half_of(family)
        assert half is not None
        assert half.sums == "float16"
        assert half.source
        assert "ReduceMean" in half.wide


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "net.onnx", tmp_path / "out.onnx"
    path.write_bytes(parsed(NORM).SerializeToString())
    words = ["edit", str(path), "--to", "float16", "--except", "Sqrt", "--target", "trt10"]
    assert main([*words, "-o", str(out), "-v"]) == 0
    said = capsys.readouterr().out
    assert "kept, as asked for: Sqrt 'root'" in said
    assert "3 of 6 nodes" in said
    assert main(["edit", str(path), "--target", "trt10", "-o", str(out)]) == 2
    assert "--target: must follow a --to" in capsys.readouterr().err
    assert main([*words, "--target", "qnn", "-o", str(out)]) == 2
    recipe = tmp_path / "r.toml"
    recipe.write_text('recipe = 1\n[[step]]\nto = "float16 for trt10 keep Sqrt"\n')
    assert main(["edit", str(path), "--recipe", str(recipe), "-o", str(out), "-v"]) == 0
    assert "3 of 6 nodes" in capsys.readouterr().out
