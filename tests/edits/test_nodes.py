"""Nodes taken out, put in and replaced; attributes and weights set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphfix import UsageError, edits
from graphfix.edits import Delete, Insert, Replace, SetAttribute, SetWeights
from tests.edits.small_models import (
    BRANCHES,
    CALLS,
    HEAD,
    TOWER,
    checked,
    parsed,
    ran,
    samples,
    with_external_data,
)

HALF = """
<ir_version: 8, opset_import: ["" : 13]>
h (float[M, 3] x) => (float[M, 3] y) <float k = {0.5}> { [act] y = Mul (x, k) }
"""
SUM = HEAD + "a (float[M, K] a, float[K] b) => (float[M, K] c) { n = Neg (b)  c = Sub (a, n) }"
ENDS = (
    HEAD
    + """
g (float[N, 4] x) => (float[N, 4] y)
{
  [one] a = Identity (x)
  [two] b, mask = Dropout (a)
  [three] y = Identity (b)
}
"""
)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "sub.onnx"
    path.write_bytes(parsed(text).SerializeToString())
    return path


ACME = HEAD.replace("17]", '17, "acme" : 1]')


def test_nodes_are_bypassed() -> None:
    before = parsed(TOWER)
    after = checked(edits.delete(before, "plus"))
    assert [node.name for node in after.graph.node] == ["dot", "act", "neg"]
    x = samples(2, 4)
    w = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 2, 3]], np.float32)
    assert np.allclose(ran(after, x=x)["z"], -(x @ w), rtol=1e-5)


def test_an_output_keeps_its_name() -> None:
    found = edits.delete(parsed(TOWER), "act")
    after = checked(found)
    assert [info.name for info in after.graph.output] == ["y", "z"]
    x = samples(2, 4)
    got = ran(after, x=x)
    assert (got["y"] == -got["z"]).all()
    assert found.steps[0].said == ("Relu 'act' is gone; 's' stands for 'y'",)


def test_many_at_once() -> None:
    after = checked(edits.edit(parsed(ENDS), [Delete("op:Dropout"), Delete("one")]))
    assert [node.op_type for node in after.graph.node] == ["Identity"]
    x = samples(2, 4)
    assert (ran(after, x=x)["y"] == x).all()


def test_in_subgraphs_and_functions() -> None:
    before = parsed(BRANCHES)
    after = checked(edits.delete(before, "inner"))
    x = samples(2, 4)
    got = ran(after, x=x, c=np.array(True))["y"]
    assert np.allclose(got, x * 2 + x)
    with pytest.raises(UsageError, match="the type of 'r' is not known"):
        edits.delete(parsed(CALLS), "root")


def test_nodes_of_operators_that_no_one_knows() -> None:
    before = parsed(ACME + "g (float[2, 3] x) => (float[2, 3] y) { f = acme.Fake (x) y = Neg (f) }")
    after = checked(edits.delete(before, "op:Fake"))
    assert (ran(after, x=samples(2, 3))["y"] == -samples(2, 3)).all()
    two = parsed(
        ACME + "g (float[2] x, float[2] z) => (float[2] y) { f = acme.Fake (x, z) y = Neg (f) }"
    )
    with pytest.raises(UsageError, match="the type of 'f' is not known"):
        edits.delete(two, "op:Fake")
    wide = parsed(
        ACME + "g (int64[2] x, float[2] z) => (float[2] y) { f = acme.Fake (x) y = Add (f, z) }"
    )
    with pytest.raises(UsageError, match="no valid model"):
        edits.delete(wide, "op:Fake")


def test_a_model_after_a_tensor(tmp_path: Path) -> None:
    before = parsed(TOWER)
    path = written(tmp_path, HALF)
    x = samples(2, 4)
    expected = ran(before, x=x)
    after = checked(edits.insert(before, "s", path))
    got = ran(after, x=x)
    assert np.allclose(got["y"], expected["y"] / 2)
    assert np.allclose(got["z"], expected["z"] / 2)
    got = ran(checked(edits.insert(before, "y", path)), x=x)
    assert np.allclose(got["y"], expected["y"] / 2)
    assert (got["z"] == expected["z"]).all()
    wide = written(tmp_path, HALF.replace("M, 3", "M, 4"))
    got = ran(checked(edits.insert(before, "x", wide)), x=x)
    assert np.allclose(got["z"], ran(before, x=x / 2)["z"])


def test_a_tensor_of_the_model_may_be_called_as_the_place_is(tmp_path: Path) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) '
    path = written(tmp_path, head + "{ a = Abs (x) y = Sqrt (a) }")
    found = edits.insert(parsed(head + "{ a = Neg (x) y = Exp (a) }"), "a", path)
    got = ran(checked(found), x=np.array([-4.0, 9.0], np.float32))
    assert np.allclose(got["y"], np.exp([2.0, 3.0]))


def test_a_model_in_the_place_of_a_node(tmp_path: Path) -> None:
    before = parsed(TOWER)
    x = samples(2, 4)
    found = edits.replace(before, "plus", written(tmp_path, SUM))
    after = checked(found)
    assert [node.op_type for node in after.graph.node] == ["MatMul", "Neg", "Sub", "Relu", "Neg"]
    assert np.allclose(ran(after, x=x)["z"], ran(before, x=x)["z"])
    assert found.steps[0].said[0].startswith("Add 'plus' is what ")
    by_name = SUM.replace("float[M, K] a, float[K] b", "float[K] b, float[M, K] p")
    by_name = by_name.replace("Sub (a, n)", "Sub (p, n)")
    after = checked(edits.replace(before, "plus", written(tmp_path, by_name)))
    assert np.allclose(ran(after, x=x)["z"], ran(before, x=x)["z"])


def test_every_node_of_an_operator(tmp_path: Path) -> None:
    own = TOWER.replace('"" : 17]', '"" : 17, "acme" : 1]').replace("Relu (s)", "acme.Half (s)")
    own = own.replace("Neg (s)", "acme.Half (s)")
    path = written(tmp_path, HALF)
    after = checked(edits.replace_op(parsed(own), "acme::Half", path))
    assert [node.op_type for node in after.graph.node] == ["MatMul", "Add", "Mul", "Mul"]
    assert len({tensor.name for tensor in after.graph.initializer}) == 4
    x = samples(2, 4)
    assert np.allclose(ran(after, x=x)["y"], -ran(parsed(TOWER), x=x)["z"] / 2)


def test_attributes() -> None:
    text = HEAD + "g (float[N, 4] x) => (float[N, 4] y) { [soft] y = Softmax <axis = 0> (x) }"
    x = samples(3, 4)
    found = edits.set_attribute(parsed(text), "soft", "axis", "1")
    assert np.allclose(ran(checked(found), x=x)["y"].sum(1), 1)
    assert found.steps[0].said == ("axis of Softmax 'soft' is 1, it was 0",)
    text = text.replace("Softmax <axis = 0>", "LeakyRelu")
    found = edits.set_attribute(parsed(text), "op:LeakyRelu", "alpha", "0.5")
    assert np.allclose(ran(checked(found), x=x)["y"], np.where(x < 0, x / 2, x))


def test_weights(tmp_path: Path) -> None:
    after = checked(edits.set_weights(parsed(TOWER), "b", np.zeros(3, np.float32)))
    x = samples(2, 4)
    w = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 2, 3]], np.float32)
    assert np.allclose(ran(after, x=x)["z"], -(x @ w), rtol=1e-5)
    path = with_external_data(parsed(TOWER), tmp_path)
    np.save(tmp_path / "b.npy", np.array([0, 0, 0], np.float32))
    found = edits.set_weights(path, "b", f"@{tmp_path / 'b.npy'}")
    assert found.exit_code == 0
    stored = {t.name: t for t in found.model.to_proto().graph.initializer}
    assert (stored["w"].data_location, stored["b"].data_location) == (1, 0)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (Delete("none"), "the model has no node 'none'"),
        (Delete("dot"), "nothing can stand for 'p' of MatMul 'dot': 'x' is float32[N, 4], not "),
        (SetAttribute("act", "alpha", "1"), "the model has no Relu with the attribute 'alpha'"),
        (SetAttribute("acts", "alpha", "1"), "the model has no node 'acts' (it has: act)"),
        (SetWeights("q", "1"), "the model has no stored tensor 'q' (it has: w, b)"),
        (SetWeights("b", "1,2"), "the value has shape [2], the model has [3]"),
    ],
)
def test_refusals(edit: edits.Edit, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        edits.edit(parsed(TOWER), [edit])
    assert said in str(caught.value)
    assert str(caught.value).startswith(edit.option)


def test_refusals_of_models(tmp_path: Path) -> None:
    def refused(edit: edits.Edit, said: str, text: str = TOWER) -> None:
        with pytest.raises(UsageError) as caught:
            edits.edit(parsed(text), [edit])
        assert said in str(caught.value)

    path = written(tmp_path, SUM)
    refused(Insert("s", path), "has 2 inputs and 1 outputs, not one of each")
    refused(Replace("act", path), "Relu 'act' has 1 inputs, ")
    refused(Replace("inner", path), "Neg 'inner' is in a body or function", BRANCHES)
    path = written(tmp_path, HALF)
    refused(Insert("x", path), "tensor 'x' is float32[N, 4], not float32[M, 3]")
    refused(Insert("q", path), "the model has no tensor 'q'")
    refused(Replace("dot", path), "'x' is float32[N, 4], not float32[M, 3]")
    text = HEAD + "g (float[N, 4] x) => (float[N, 4] y) { [soft] y = Softmax <axis = 0> (x) }"
    refused(SetAttribute("soft", "axis", "one"), "'one' is no INT", text)
    refused(SetAttribute("soft", "axis", "7"), "the result would be no valid model", text)
    two = ENDS.replace("=> (float[N, 4] y)", "=> (float[N, 4] y, bool[N, 4] mask)")
    refused(Delete("two"), "has a second output 'mask' that is read", two)


FUNCTION = """
<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
g (float[N, 3] s) => (float[N, 3] y) { y = own.leak (s) }
<domain: "own", opset_import: ["" : 17]>
leak (a) => (b) { h = Constant <value_float = 0.5> ()  l = Mul (a, h)  b = Max (a, l) }
"""


def test_a_function_in_the_place_of_an_operator(tmp_path: Path) -> None:
    (function,) = parsed(FUNCTION).functions
    path = tmp_path / "leak.onnx"
    path.write_bytes(function.SerializeToString())
    found = edits.replace_op(parsed(TOWER), "Relu", path)
    after = checked(found)
    assert [node.op_type for node in after.graph.node] == ["MatMul", "Add", "leak", "Neg"]
    assert [f.name for f in after.functions] == ["leak"]
    x = samples(2, 4)
    s = -ran(parsed(TOWER), x=x)["z"]
    assert np.allclose(ran(after, x=x)["y"], np.maximum(s, s / 2))
    assert found.proofs[0].equal


def test_a_function_that_does_not_fit(tmp_path: Path) -> None:
    (function,) = parsed(FUNCTION).functions
    path = tmp_path / "leak.onnx"
    function.input.append("more")
    path.write_bytes(function.SerializeToString())
    with pytest.raises(UsageError, match="own::leak has 2 inputs, the node 1"):
        edits.replace_op(parsed(TOWER), "Relu", path)
    function.attribute.append("slope")
    path.write_bytes(function.SerializeToString())
    with pytest.raises(UsageError, match="own::leak needs the attribute 'slope'"):
        edits.replace_op(parsed(TOWER), "Relu", path)
