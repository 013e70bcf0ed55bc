"""--split-by and --merge: a bool input that decides, taken out and put in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto

from graphfix import UsageError, edits, load
from graphfix.analysis.inference import type_text
from graphfix.edits import proof
from graphfix.edits.differing_parts import same_nodes
from graphfix.edits.outside import decided, fed_with
from tests.edits.small_models import CALLS, HEAD, checked, parsed, ran, with_external_data

# As optimum merges decoders: the first step fills what later ones only read.
FIRST = (
    HEAD
    + """
f (float[N, 4] x, float[N, S, 4] hidden) => (float[N, 4] y, float[M, 4] own, float[N, S, 4] kept)
<float[4, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}, float[4] b = {1, 2, 3, 4}>
{
  [dot] y = MatMul (x, w)
  [grow] own = Add (x, b)
  [cross] kept = Neg (hidden)
}
"""
)
LATER = (
    HEAD
    + """
l (float[N, 4] x, float[P, 4] past, float[N, S, 4] known) => (float[N, 4] y, float[M, 4] own)
<float[4, 4] v = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}, float[4] b = {4, 3, 2, 1}>
{
  [dot] p = MatMul (x, v)
  axis = Constant <value_ints = [1]> ()
  [sum] s = ReduceSum <keepdims = 0> (known, axis)
  [plus] q = Add (p, s)
  [shift] y = Add (q, b)
  [longer] own = Concat <axis = 0> (past, x)
}
"""
)
FEED = {
    "x": np.array([[1, -2, 3, 0.5]], np.float32),
    "hidden": np.array([[[1, 2, 3, 4], [5, 6, 7, 8]]], np.float32),
    "past": np.array([[9, 8, 7, 6], [1, 1, 1, 1]], np.float32),
    "known": np.array([[[1, 0, 0, 2]]], np.float32),
}


def _written(folder: Path, text: str | ModelProto, name: str = "first.onnx") -> Path:
    path = folder / name
    model = parsed(text) if isinstance(text, str) else text
    path.write_bytes(model.SerializeToString())
    return path


def _fed(text: str) -> dict[str, Any]:
    return {info.name: FEED[info.name] for info in parsed(text).graph.input}


def _ends(model: ModelProto) -> tuple[dict[str, str], dict[str, str]]:
    graph = model.graph
    inputs, outputs = (
        {i.name: type_text(i.type) for i in infos} for infos in (graph.input, graph.output)
    )
    return inputs, outputs


def _same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return one.keys() == two.keys() and all(np.array_equal(one[k], two[k]) for k in one)


def test_merged_it_computes_what_each_does(tmp_path: Path) -> None:
    found = edits.merge(parsed(LATER), _written(tmp_path, FIRST), "cached")
    merged = checked(found)
    assert [node.op_type for node in merged.graph.node] == ["If"]
    assert _ends(merged) == (
        {
            "x": "float32[N, 4]",
            "past": "float32[P, 4]",
            "known": "float32[N, S, 4]",
            "hidden": "float32[N, S, 4]",
            "cached": "bool[1]",
        },
        {"y": "float32[N, 4]", "own": "float32[M, 4]", "kept": "float32[?, ?, 4]"},
    )
    assert sorted(t.name for t in merged.graph.initializer) == ["b", "b_2", "v"]
    later = ran(merged, cached=np.array([True]), **FEED)
    assert later.pop("kept").shape == (0, 1, 4)
    assert _same(later, ran(parsed(LATER), **_fed(LATER)))
    first = ran(merged, cached=np.array([False]), **FEED)
    assert _same(first, ran(parsed(FIRST), **_fed(FIRST)))
    assert found.steps[0].said[1:] == (
        "stored once, of both: 1 weight",
        "empty where the model computes, which lacks it: kept",
    )


def test_split_and_merged_and_split(tmp_path: Path) -> None:
    merged = checked(edits.merge(parsed(LATER), _written(tmp_path, FIRST), "cached"))
    found = edits.split_by(merged, "cached", tmp_path / "t.onnx", tmp_path / "f.onnx")
    checked(found)
    later, first = (found.parts[tmp_path / name].to_proto() for name in ("t.onnx", "f.onnx"))
    assert _ends(later) == _ends(parsed(LATER))
    inputs, outputs = _ends(first)
    assert (list(inputs), list(outputs)) == (["x", "hidden"], ["y", "own", "kept"])
    assert [n.op_type for n in first.graph.node] == ["MatMul", "Add", "Neg"]
    assert len(later.graph.initializer) == len(first.graph.initializer) == 2
    assert _same(ran(later, **_fed(LATER)), ran(parsed(LATER), **_fed(LATER)))
    assert _same(ran(first, **_fed(FIRST)), ran(parsed(FIRST), **_fed(FIRST)))
    assert "without what is empty then: kept" in [line.strip() for line in found.steps[0].said]


def test_functions_and_opsets_of_both(tmp_path: Path) -> None:
    older = parsed(
        '<ir_version: 7, opset_import: ["" : 11]> g (float[N, 4] x) => (float[N, 4] y) '
        "{ y = Softmax <axis = 1> (x) }"
    )
    found = edits.merge(parsed(CALLS), _written(tmp_path, older), "twice")
    merged = checked(found)
    feed = {"x": FEED["x"]}
    assert _same(ran(merged, twice=np.array([True]), **feed), ran(parsed(CALLS), **feed))
    assert np.allclose(
        ran(merged, twice=np.array([False]), **feed)["y"], ran(older, **feed)["y"], rtol=1e-6
    )


def test_weights_of_another_folder_come_along(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    ours = with_external_data(parsed(LATER), tmp_path / "ours")
    theirs = with_external_data(parsed(FIRST), tmp_path / "theirs")
    found = edits.merge(ours, theirs, "cached")
    assert found.exit_code == 0
    assert len(found.model.to_proto().graph.initializer) == 3


@pytest.mark.parametrize(
    ("other", "name", "reason"),
    [
        (FIRST, "x", "a tensor is called 'x' already"),
        (FIRST, "p", "a tensor is called 'p' already"),
        (
            FIRST.replace("float[N, 4] x", "float[N, 3] x"),
            "c",
            "input 'x' of this model is float32",
        ),
        (FIRST.replace("=> (float[N, 4] y", "=> (float[N] y"), "c", "output 'y' of this model is"),
        (
            FIRST.replace("float[N, S, 4]", "float[1, 2, 4]"),
            "c",
            "output 'kept' is of one of the models, and no size of it is open",
        ),
    ],
)
def test_what_cannot_be_merged(tmp_path: Path, other: str, name: str, reason: str) -> None:
    path = _written(tmp_path, onnx.parser.parse_model(other))
    with pytest.raises(UsageError, match=reason):
        edits.merge(parsed(LATER), path, name)


CHOOSE = HEAD + " g (float[N, 4] x, bool c) => (float[N, 4] y, float[N, 4] z) {{ {} }}"
DECIDED = """z = Neg (x) y = If (c) <then_branch = t () => (float[N, 4] a) { a = Relu (x) },
    else_branch = e () => (float[N, 4] b) { b = Abs (x) }>"""


def test_what_does_not_depend_on_it_stays_in_both(tmp_path: Path) -> None:
    model = parsed(CHOOSE.format(DECIDED))
    found = edits.split_by(model, "c", tmp_path / "t.onnx", tmp_path / "f.onnx")
    checked(found)
    for name, value in (("t.onnx", True), ("f.onnx", False)):
        part = found.parts[tmp_path / name].to_proto()
        assert [info.name for info in part.graph.input] == ["x"]
        assert _same(ran(part, x=FEED["x"]), ran(model, x=FEED["x"], c=np.array(value)))


@pytest.mark.parametrize(
    ("body", "name", "reason"),
    [
        (DECIDED, "x", "input 'x' is not one bool"),
        (DECIDED, "d", "d"),
        ("z = Neg (x) n = Not (c) y = Where (n, x, z)", "c", "no If of the main graph is decided"),
    ],
)
def test_what_cannot_be_split(tmp_path: Path, body: str, name: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        edits.split_by(parsed(CHOOSE.format(body)), name, tmp_path / "t", tmp_path / "f")


def test_one_file_cannot_hold_both(tmp_path: Path) -> None:
    model = parsed(CHOOSE.format(DECIDED))
    with pytest.raises(UsageError, match="both models would go to one file"):
        edits.split_by(model, "c", tmp_path / "t", tmp_path / "t")


@pytest.fixture
def big(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of any size are too big to be run with."""

    def refused(*_: object) -> None:
        raise AssertionError("it is run")

    monkeypatch.setattr(proof, "_BIG", 1)
    monkeypatch.setattr(proof, "compare_files", refused)


@pytest.mark.usefixtures("big")
def test_with_big_weights_both_ways_are_shown_by_the_nodes(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    theirs = with_external_data(parsed(FIRST), tmp_path / "first")
    ours = with_external_data(parsed(LATER), tmp_path)
    model = load(theirs).to_proto()
    (tmp_path / "first" / "weights.bin").rename(tmp_path / "first.bin")
    for tensor in model.graph.initializer:
        next(entry for entry in tensor.external_data if entry.key == "location").value = "first.bin"
    merged = edits.merge(ours, _written(tmp_path, model), "cached")
    parted = edits.split_by(merged.model, "cached", tmp_path / "t.onnx", tmp_path / "f.onnx")
    for found in (merged, parted):
        assert found.exit_code == 0
        methods = [each.verification.method for each in found.proofs]
        assert methods == ["the same nodes on the same inputs"] * 2


def test_a_weight_that_differs_is_not_the_same_node(tmp_path: Path) -> None:
    one = with_external_data(parsed(FIRST), tmp_path)
    proto = load(one).to_proto()
    raw = bytearray((tmp_path / "weights.bin").read_bytes())
    (tmp_path / "same.bin").write_bytes(raw)
    raw[4 * 3] ^= 1
    (tmp_path / "other.bin").write_bytes(raw)
    for name, same in (("same.bin", True), ("other.bin", False)):
        moved = onnx.ModelProto()
        moved.CopyFrom(proto)
        for tensor in moved.graph.initializer:
            next(e for e in tensor.external_data if e.key == "location").value = name
        assert same_nodes(proto, moved, str(tmp_path)) is same


def test_names_that_two_branches_have_are_kept_apart() -> None:
    body = """{0} = If (c) <then_branch = t () => (float[N, 4] {0}) { r = Relu (x) {0} = {1} (r) },
        else_branch = e () => (float[N, 4] {0}) { r = Exp (x) {0} = {1} (r) }>"""
    first, second = (body.replace("{0}", n).replace("{1}", op) for n, op in ("yN", "zA"))
    model = parsed(
        CHOOSE.format(f"{first} {second}".replace("= N", "= Neg").replace("= A", "= Abs"))
    )
    flag = onnx.helper.make_tensor("c", onnx.TensorProto.BOOL, [], [True])
    found = decided(fed_with(model, flag, list(model.graph.input)[:1]))
    head = HEAD + "g (float[N, 4] x) => (float[N, 4] y, float[N, 4] z)"
    for op, same in (("Relu", True), ("Exp", False)):
        wanted = parsed(f"{head} {{ r = {op} (x) y = Neg (r) z = Abs (r) }}")
        assert same_nodes(found, wanted, "") is same


def test_a_wrong_claim_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both edits are wrong where the values of the switch are exchanged."""
    path = _written(tmp_path, parsed(CHOOSE.format(DECIDED.replace("Abs", "Exp"))))
    model = parsed(CHOOSE.format(DECIDED))
    real = onnx.helper.make_node

    def exchanged(*words: Any, **attributes: Any) -> Any:
        if "then_branch" in attributes:
            first, second = attributes["then_branch"], attributes["else_branch"]
            attributes |= {"then_branch": second, "else_branch": first}
        return real(*words, **attributes)

    monkeypatch.setattr(onnx.helper, "make_node", exchanged)
    assert edits.merge(model, path, "first").exit_code == 4
    monkeypatch.setattr(proof, "_BIG", 0)
    assert edits.merge(model, path, "first").exit_code == 4
