"""--join: two models in one, after or in front, equal to one after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphfix import UsageError, edits
from graphfix.analysis.inference import type_text
from tests.edits.small_models import (
    CALLS,
    HEAD,
    TOWER,
    checked,
    parsed,
    ran,
    samples,
    with_external_data,
)

# Its tensors, nodes and weights are called as those of the tower are.
NEXT = """
<ir_version: 8, opset_import: ["" : 13]>
h (float[batch, 3] x, float[1] k) => (float[batch, 3] y, float[batch, 2] s)
<float[3, 2] w = {1, 0, 2, -1, 0.5, 3}>
{
  [dot] p = MatMul (x, w)
  [act] s = Softmax <axis = 1> (p)
  [last] y = Mul (x, k)
}
"""
IN_FRONT = """
<ir_version: 9, opset_import: ["" : 19]>
f (uint8[M, 4] x) => (float[M, 4] x_out)
{ [cast] c = Cast <to = 1> (x)  h = Constant <value_float = 0.5> ()  x_out = Mul (c, h) }
"""


def written(tmp_path: Path, text: str, name: str = "other.onnx") -> Path:
    path = tmp_path / name
    path.write_bytes(parsed(text).SerializeToString())
    return path


def test_after_with_names_and_opsets_of_its_own(tmp_path: Path) -> None:
    before = parsed(TOWER)
    other = written(tmp_path, NEXT)
    found = edits.join(before, other, [("y", "x")])
    after = checked(found)
    graph = after.graph
    assert {i.name: type_text(i.type) for i in graph.input} == {
        "x": "float32[N, 4]",
        "k": "float32[1]",
    }
    assert {i.name: type_text(i.type) for i in graph.output} == {
        "z": "float32[N, 3]",
        "y_2": "float32[N, 3]",
        "s_2": "float32[N, 2]",
    }
    assert [node.name for node in graph.node if node.name] == [
        *("dot", "plus", "act", "neg", "dot_2", "act_2", "last")
    ]
    assert [e.version for e in after.opset_import] == [17]
    x, k = samples(2, 4), np.array([3], np.float32)
    first = ran(before, x=x)
    second = ran(parsed(NEXT), x=first["y"], k=k)
    got = ran(after, x=x, k=k)
    assert (got["z"] == first["z"]).all()
    assert (got["y_2"] == second["y"]).all()
    assert np.allclose(got["s_2"], second["s"], rtol=1e-6)
    said = found.steps[0].said
    assert said[0].endswith("other.onnx comes after")
    assert "opset 13 is brought to 17" in said
    assert any("'y' of" in line and "is called 'y_2', as 'y' is taken" in line for line in said)


def test_what_may_be_fed_no_longer_is_said(tmp_path: Path) -> None:
    other = HEAD + " g (float[N, 4] x, float[4] w) => (float[N, 4] v) <float[4] w = {1, 2, 3, 4}>"
    before = parsed(HEAD + " g (float[N, 4] x) => (float[N, 4] y) { y = Neg (x) }")
    path = written(tmp_path, other + " { v = Add (x, w) }")
    found = edits.join(before, path, [("y", "x")])
    assert found.exit_code == 0
    assert [i.name for i in found.model.proto.graph.input] == ["x"]
    text = "other.onnx is no input any more: what is stored of it is used"
    (line,) = [line for line in found.steps[0].said if line.endswith(text)]
    assert line.startswith("w of ")


def test_stored_tensors_of_an_old_file_are_no_inputs(tmp_path: Path) -> None:
    head = '<ir_version: 3, opset_import: ["" : 17]> '
    text = head + "g (float[2, 3] x, float[3] w) => (float[2, 3] y) <float[3] w = {1, -2, 3}> "
    before = parsed(text + "{ t = Mul (x, w) y = Exp (t) }")
    path = tmp_path / "twice.onnx"
    twice = parsed(HEAD + "h (float[A, B] i) => (float[A, B] o) { o = Add (i, i) }")
    path.write_bytes(twice.SerializeToString())
    rows = head + "g (float[3] x, float[3] w) => (float[1, n] y) <float[3] w = {1, -2, 3}> "
    raw = head + "g (float[N, 7, 20] x, float w) => (float[N, 7, 20] y) <float w = {2}> "
    made = [
        edits.join(before, path, [("y", "i")]),
        edits.insert(before, "t", path),
        edits.bound(parsed(rows + "{ z = NonZero (x) y = Gather (w, z) }"), "n", 3),
        edits.attach_nms(parsed(raw + "{ y = Mul (x, w) }"), "yolov8"),
    ]
    for found in made:
        after = checked(found)
        assert [info.name for info in after.graph.input] == ["x"]
        assert after.ir_version >= 4
    x = samples(2, 3)
    want = np.exp(x * np.array([1, -2, 3], np.float32))
    np.testing.assert_allclose(ran(checked(made[0]), x=x)["o"], 2 * want, rtol=1e-6)
    np.testing.assert_allclose(ran(checked(made[1]), x=x)["y"], want**2, rtol=1e-5)


def test_in_front(tmp_path: Path) -> None:
    before = parsed(TOWER)
    found = edits.join(before, written(tmp_path, IN_FRONT), [("x_out", "x")])
    after = checked(found)
    assert [type_text(i.type) for i in after.graph.input] == ["uint8[N, 4]"]
    assert [i.name for i in after.graph.output] == ["y", "z"]
    assert (after.ir_version, after.opset_import[0].version) == (9, 19)
    name = after.graph.input[0].name
    x = np.arange(8, dtype=np.uint8).reshape(2, 4)
    got = ran(after, **{name: x})["y"]
    assert (got == ran(before, x=x.astype(np.float32) / 2)["y"]).all()
    assert found.steps[0].said[0].endswith("other.onnx comes in front")


def test_fixed_sizes_bind_symbols(tmp_path: Path) -> None:
    found = edits.join(parsed(TOWER), written(tmp_path, NEXT.replace("batch", "2")), [("y", "x")])
    assert type_text(checked(found).graph.input[0].type) == "float32[2, 4]"
    assert "N is 2" in found.steps[0].said


def test_functions_of_both(tmp_path: Path) -> None:
    other = written(tmp_path, CALLS.replace("Tanh", "Sigmoid"))
    before = parsed(CALLS)
    after = checked(edits.join(before, other, [("y", "x")]))
    assert [function.name for function in after.functions] == ["twice", "twice_2"]
    x = samples(2, 4)
    second = parsed(CALLS.replace("Tanh", "Sigmoid"))
    expected = ran(second, x=ran(before, x=x)["y"])["y"]
    (got,) = ran(after, x=x).values()
    assert np.allclose(got, expected, rtol=1e-6)
    same = checked(edits.join(before, written(tmp_path, CALLS), [("y", "x")]))
    assert [function.name for function in same.functions] == ["twice"]


def test_weights_outside_of_the_other_file(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    other = with_external_data(parsed(NEXT), folder)
    after = checked(edits.join(parsed(TOWER), other, [("y", "x")]))
    x, k = samples(1, 4), np.ones(1, np.float32)
    second = ran(parsed(NEXT), x=ran(parsed(TOWER), x=x)["y"], k=k)
    assert np.allclose(ran(after, x=x, k=k)["s_2"], second["s"], rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "links", "said"),
    [
        (NEXT, [("q", "x")], "the model has no output 'q' (it has: "),
        (NEXT, [("y", "q")], "the model has no input 'q' (it has: "),
        (NEXT, [("y", "x"), ("z", "x")], "an input is joined twice"),
        (NEXT, [("y", "k")], "output 'y' is float32[N, 3], not float32[1]"),
        (
            NEXT.replace("float[batch, 3] x", "float[batch, 5] x")
            .replace("[3, 2]", "[5, 2]")
            .replace("{1, 0, 2, -1, 0.5, 3}", "{1, 2, 3, 4, 5, 6, 7, 8, 9, 0}")
            .replace("float[batch, 3] y", "float[batch, 5] y"),
            [("y", "x")],
            "output 'y' is float32[N, 3], not float32[batch, 5]",
        ),
        (IN_FRONT, [("y", "x")], "output 'y' is float32[N, 3], not uint8[M, 4]"),
    ],
)
def test_refusals(tmp_path: Path, text: str, links: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        edits.join(parsed(TOWER), written(tmp_path, text), links)
    assert said in str(caught.value)
    assert str(caught.value).startswith("--join ")
