"""--to: which nodes change their type, which stay and why, and how far outputs may move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto

from graphfix import UsageError, edits
from graphfix.cli import main
from graphfix.report import Verdict
from tests.edits.small_models import HEAD, parsed, ran, samples

NET = (
    HEAD
    + """
g (float[N, 4] x) => (float[N, 3] y, int64[2] s)
<float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}, float[3] b = {0.5, -1, 2}>
{
  [dot] p = MatMul (x, w)
  [plus] q = Add (p, b)
  [act] y = Tanh (q)
  [size] s = Shape (q)
}
"""
)


def checked(found: edits.Edited, exit_code: int = 0) -> ModelProto:
    """Return the result, once the checker has taken it."""
    assert found.exit_code == exit_code, found.proofs
    proto = found.model.to_proto()
    onnx.checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    return proto


def computed_in(proto: ModelProto, kind: int) -> list[str]:
    """Return the nodes, casts aside, whose first output is of a type."""
    inferred = onnx.shape_inference.infer_shapes(proto)
    infos = {i.name: i for i in (*inferred.graph.value_info, *inferred.graph.output)}
    return [
        node.name
        for node in proto.graph.node
        if node.op_type != "Cast" and infos[node.output[0]].type.tensor_type.elem_type == kind
    ]


def test_everything_that_is_it_is_float16_between_inputs_and_outputs() -> None:
    found = edits.to(parsed(NET), "float16")
    proto = checked(found)
    assert computed_in(proto, TensorProto.FLOAT16) == ["dot", "plus", "act"]
    assert [t.data_type for t in proto.graph.initializer] == [TensorProto.FLOAT16] * 2
    ends = [i.type.tensor_type.elem_type for i in (*proto.graph.input, *proto.graph.output)]
    assert ends == [TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.INT64]
    assert found.steps[0].said == ("3 of 3 nodes with floats compute in float16",)
    (proof,) = found.proofs
    assert proof.claim == "no output moves by more than 0.01 of its largest number"
    assert [row.name for row in proof.verification.outputs] == ["y", "s"]
    assert all(row.max_rel is not None and row.max_rel < 1e-3 for row in proof.verification.outputs)
    x = samples(5, 4)
    assert np.allclose(ran(proto, x=x)["y"], ran(parsed(NET), x=x)["y"], atol=1e-2)


def test_a_size_is_read_of_whatever_type_is_there() -> None:
    (cast_in, *_, cast_out, size) = checked(edits.to(parsed(NET), "float16")).graph.node
    assert (cast_in.op_type, cast_out.op_type, size.op_type) == ("Cast", "Cast", "Shape")
    assert size.input[0] == "q"


def test_bfloat16_and_back() -> None:
    found = edits.to(parsed(NET), "bfloat16")
    proto = found.model.to_proto()
    assert found.exit_code == 0
    assert "0.05" in found.proofs[0].claim
    assert {t.data_type for t in proto.graph.initializer} == {TensorProto.BFLOAT16}
    moved = found.proofs[0].verification.outputs[0].max_rel
    assert moved is not None
    assert 1e-5 < moved < 5e-2, "it is rounded, which onnxruntime's CPU has no kernels for"
    half = edits.to(parsed(NET), "float16").model
    again = checked(edits.to(half, "float32"))
    assert {t.data_type for t in again.graph.initializer} == {TensorProto.FLOAT}
    assert computed_in(again, TensorProto.FLOAT16) == []


def test_a_stored_tensor_that_may_be_fed_keeps_its_type() -> None:
    text = "g (float[N, 3] x, float[3] w) => (float[N, 3] y) <float[3] w = {1, -2, 3}> "
    after = edits.to(parsed(HEAD + text + "{ t = Mul (x, w) y = Sigmoid (t) }"), "float16")
    made = after.model.to_proto()
    kinds = {info.name: info.type.tensor_type.elem_type for info in made.graph.input}
    assert kinds == {"x": TensorProto.FLOAT, "w": TensorProto.FLOAT}
    x = samples(2, 3)
    for fed in ({}, {"w": np.array([0.5, 1, -1], np.float32)}):
        want = 1 / (1 + np.exp(-x * fed.get("w", np.array([1, -2, 3], np.float32))))
        np.testing.assert_allclose(ran(made, x=x, **fed)["y"], want, atol=2e-3)


def test_what_the_user_keeps() -> None:
    for keep in (("plus",), ("op:Add",), ("Add",), ("pl*",)):
        found = edits.to(parsed(NET), "float16", keep=keep)
        assert computed_in(checked(found), TensorProto.FLOAT16) == ["dot", "act"]
        assert found.steps[0].said[1] == "kept, as asked for: Add 'plus'"
    with pytest.raises(UsageError, match="--keep gone: the model has no node 'gone'"):
        edits.to(parsed(NET), "float16", keep=["gone"])


def test_numbers_that_leave_the_range_stay() -> None:
    wide = HEAD + (
        "g (float[N, 4] x) => (float[N, 4] y) <float k = {300}, float l = {0.00002}> "
        "{ [a] p = Mul (x, k) [b] q = Exp (p) [c] r = Log (q) [d] s = Mul (r, l) [e] y = Tanh (s) }"
    )
    x = np.array([[0.05, 0.06, 0.01, -0.01]], np.float32)
    found = edits.to(parsed(wide), "float16", inputs={"x": x})
    assert found.steps[0].said[1].startswith("kept, q reaches 6.57e+07: Exp 'b', Log 'c'")
    assert computed_in(checked(found), TensorProto.FLOAT16) == ["a", "d", "e"]
    stored = wide.replace("{300}", "{300000}").replace("0.00002", "0.000000001")
    said = edits.to(parsed(stored), "float16", inputs={"x": x / 10000}).steps[0].said
    assert "kept, k has 3e+05: Mul 'a'" in said
    assert "kept, l would be 0: Mul 'd'" in said


def test_numbers_that_do_not_run_once_they_are_rounded_stay() -> None:
    net = parsed(
        HEAD + "g (float[1] x) => (float[1] y) <float k = {2}, float[1] table = {0}> "
        "{ [a] p = Mul (x, k) i = Cast <to = 7> (p) [c] t = Gather (table, i) [d] y = Neg (t) }"
    )
    table = np.arange(1, 2049, dtype=np.float32) / 64
    net.graph.initializer[1].CopyFrom(onnx.numpy_helper.from_array(table, "table"))
    # 2047.6 is 2048 in float16, and the table ends at 2047.
    found = edits.to(net, "float16", inputs={"x": np.array([1023.8], np.float32)})
    proto = found.model.to_proto()
    assert found.exit_code == 0, found.proofs
    assert computed_in(proto, TensorProto.FLOAT16) == ["c", "d"]


BYTES = (  # QuantizeLinear takes float16 since opset 19
    HEAD.replace("17", "19")
    + """
g (float[N, 64] x) => (uint8[N, 64] q, float[N, 64] y) <float s = {0.02}, uint8 z = {13}> {
  [bytes] q = QuantizeLinear (x, s, z)
  [act] y = Tanh (x)
}
"""
)


def test_integers_that_rounding_would_change_stay() -> None:
    before = parsed(BYTES)
    found = edits.to(before, "float16")
    after = checked(found)
    assert computed_in(after, TensorProto.FLOAT16) == ["act"]
    said = "kept, rounded before, its integers would be others: QuantizeLinear 'bytes'"
    assert said in found.steps[0].said
    x = samples(50, 64)
    given, wanted = ran(after, x=x), ran(before, x=x)
    np.testing.assert_array_equal(given["q"], wanted["q"])
    np.testing.assert_allclose(given["y"], wanted["y"], atol=2e-3)


def test_a_model_whose_integers_alone_are_computed_says_so() -> None:
    text = BYTES.replace(", float[N, 64] y)", ")").replace("  [act] y = Tanh (x)\n", "")
    with pytest.raises(UsageError, match="no node can be converted") as error:
        edits.to(parsed(text), "float16")
    assert "its integers would be others" in str(error.value.hint)


def test_operators_that_lose_too_much_stay() -> None:
    lossy = HEAD + (
        "g (float[N, 4] x) => (float[N, 4] y) <float k = {1000}> "
        "{ [big] p = Add (x, k) [less] q = Sub (p, k) [act] y = Tanh (q) }"
    )
    x = np.array([[0.01, 0.02, 0.11, -0.3]], np.float32)
    found = edits.to(parsed(lossy), "float16", inputs={"x": x})
    assert [said.split(": ")[1] for said in found.steps[0].said[1:]] == ["Add 'big'", "Sub 'less'"]
    assert all(said.startswith("kept, it loses ") for said in found.steps[0].said[1:])
    assert found.proofs[0].verification.status is Verdict.EQUAL
    assert computed_in(checked(found), TensorProto.FLOAT16) == ["act"]


def test_subgraphs_and_foreign_operators_stay() -> None:
    branch = HEAD + (
        "g (float[N, 4] x, bool c) => (float[N, 4] y) { [a] h = Tanh (x) [choose] y = If (c) <"
        "then_branch = t () => (float[N, 4] p) { p = Neg (h) },"
        "else_branch = e () => (float[N, 4] q) { q = Abs (h) } > }"
    )
    found = edits.to(parsed(branch), "float16")
    assert found.steps[0].said[1] == "kept, it has subgraphs: If 'choose'"
    proto = checked(found)
    x = samples(2, 4)
    given = ran(proto, x=x, c=np.array(True))["y"]
    assert np.allclose(given, -np.tanh(x), atol=1e-2)
    assert computed_in(proto, TensorProto.FLOAT16) == ["a"]


def test_refusals() -> None:
    with pytest.raises(UsageError, match="'float8' is none of float16, bfloat16, float32"):
        edits.to(parsed(NET), "float8")
    old = parsed(NET.replace(": 17]", ": 9]"))
    with pytest.raises(UsageError, match="the model is of opset 9, 11 is needed"):
        edits.to(old, "float16")
    whole = parsed(HEAD + "g (int64[2] x) => (int64[2] y) { y = Neg (x) }")
    with pytest.raises(UsageError, match="nothing computes in another float type"):
        edits.to(whole, "float16")
    with pytest.raises(UsageError, match=r"no node can be converted .*'dot': as asked for"):
        edits.to(parsed(NET), "float16", keep=["op:MatMul", "op:Add", "op:Tanh"])


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "m.onnx", tmp_path / "o.onnx"
    path.write_bytes(parsed(NET).SerializeToString())
    recipe = str(tmp_path / "r.toml")
    words = ["edit", str(path), "--to", "float16", "--keep", "Tanh,plus", "-o", str(out)]
    assert main([*words, "--write-recipe", recipe]) == 0
    said = capsys.readouterr().out
    assert "1 of 3 nodes with floats compute in float16" in said
    assert "kept, as asked for: Add 'plus', Tanh 'act'" in said
    first = out.read_bytes()
    assert main(["edit", str(path), "--recipe", recipe, "-o", str(out)]) == 0
    assert out.read_bytes() == first
    assert main(["edit", str(path), "--keep", "Tanh", "-o", str(out)]) == 2
    assert "--except: must follow a --to" in capsys.readouterr().err


CALLED = """
<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
g (float[N, 4] x) => (float[N, 4] y)
{
  [call] m = own.twice (x)
  [other] o = own.soft (m)
  [end] y = Neg (o)
}
<domain: "own", opset_import: ["" : 17]>
twice (a) => (r) { [sum] t = Add (a, a)  [root] r = Tanh (t) }
<domain: "own", opset_import: ["" : 17]>
soft (a) => (r) { [e] t = Softplus (a)  [h] r = Sigmoid (t) }
"""


def test_what_functions_compute_is_converted_where_they_are_called() -> None:
    found = edits.to(parsed(CALLED), "float16")
    proto = checked(found)
    assert found.steps[0].said == (
        "the nodes of own::soft, own::twice are where these are called",
        "5 of 5 nodes with floats compute in float16",
    )
    assert len(computed_in(proto, TensorProto.FLOAT16)) == 5
    x = samples(3, 4)
    before, after = ran(parsed(CALLED), x=x)["y"], ran(proto, x=x)["y"]
    assert np.allclose(before, after, atol=1e-3)


def test_a_call_and_a_node_of_a_function_are_kept() -> None:
    found = edits.to(parsed(CALLED), "float16", keep=["call", "e", "sum"])
    proto = checked(found)
    assert [f.name for f in proto.functions] == ["twice"]
    (call,) = [node for node in proto.graph.node if node.op_type == "twice"]
    assert call.input[0] == "x"
    (soft,) = [node for node in proto.graph.node if node.op_type == "Softplus"]
    assert soft.name.startswith("e")
    kept = next(line for line in found.steps[0].said if line.startswith("kept, as asked for"))
    assert "Softplus" in kept
    every = [*proto.graph.node, *proto.functions[0].node]
    assert not any(node.metadata_props for node in every)


def test_a_name_that_is_kept_has_to_be_there() -> None:
    with pytest.raises(UsageError, match="--keep nothing"):
        edits.to(parsed(CALLED), "float16", keep=["nothing"])
