"""--rename, --rename-node, --prefix: other names and nothing else, in every scope."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from graphfix import UsageError, edits
from graphfix.edits import Prefix, Rename, RenameNode
from graphfix.report import Verdict
from tests.edits.small_models import (
    BRANCHES,
    CALLS,
    TOWER,
    checked,
    parsed,
    ran,
    samples,
    with_external_data,
)


def names(model: onnx.ModelProto) -> list[str]:
    return [info.name for info in (*model.graph.input, *model.graph.output)]


def test_an_input_an_output_and_an_inner_tensor() -> None:
    before = parsed(TOWER)
    found = edits.edit(before, [Rename("x", "image"), Rename("y", "scores"), Rename("s", "sum")])
    after = checked(found)
    assert names(after) == ["image", "scores", "z"]
    assert [list(node.output) for node in after.graph.node] == [["p"], ["sum"], ["scores"], ["z"]]
    assert found.steps[0].said == ("tensor 'x' is called 'image'",)
    x = samples(2, 4)
    assert (ran(after, image=x)["scores"] == ran(before, x=x)["y"]).all()
    assert names(before) == ["x", "y", "z"], "the model given is not changed"


def test_names_that_swap_places_are_proved() -> None:
    before = parsed(TOWER)
    found = edits.edit(before, [Rename("y", "old"), Rename("z", "y"), Rename("old", "z")])
    after = checked(found)
    assert names(after) == ["x", "z", "y"]
    x = samples(2, 4)
    assert (ran(after, x=x)["z"] == ran(before, x=x)["y"]).all()


def test_weights_annotations_and_recorded_types_follow() -> None:
    before = parsed(TOWER)
    note = before.graph.quantization_annotation.add(tensor_name="w")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="b")
    before.graph.value_info.add(name="p").CopyFrom(before.graph.output[0])
    before.graph.value_info[0].name = "p"
    found = edits.edit(before, [Rename("w", "weight"), Rename("b", "bias"), Rename("p", "dot")])
    after = checked(found).graph
    assert [tensor.name for tensor in after.initializer] == ["weight", "bias"]
    assert after.quantization_annotation[0].tensor_name == "weight"
    assert after.quantization_annotation[0].quant_parameter_tensor_names[0].value == "bias"
    assert [info.name for info in after.value_info] == ["dot"]


def test_subgraphs_capture_the_new_name() -> None:
    before = parsed(BRANCHES)
    after = checked(edits.rename(before, "h", "scaled"))
    body = after.graph.node[1].attribute[0].g
    assert list(body.node[0].input) == ["scaled"]
    for c in (True, False):
        feed = {"x": samples(3, 4), "c": np.array(c)}
        assert (ran(after, **feed)["y"] == ran(before, **feed)["y"]).all()


def test_a_tensor_of_subgraphs_alone_and_of_a_function() -> None:
    after = checked(edits.rename(parsed(BRANCHES), "i", "inner"))
    subgraphs = [attribute.g for attribute in after.graph.node[1].attribute]
    assert [list(body.node[0].output) for body in subgraphs] == [["inner"], ["inner"]]
    found = edits.rename(parsed(CALLS), "t", "doubled")
    function = checked(found).functions[0]
    assert list(function.node[1].input) == ["doubled"]
    assert found.steps[0].said == ("tensor 't' of twice is called 'doubled'",)
    assert list(checked(edits.rename(parsed(CALLS), "a", "arg")).functions[0].input) == ["arg"]


def test_many_by_a_pattern_and_one_by_its_operator() -> None:
    text = parsed(TOWER)
    for node in text.graph.node:
        for edge in (node.input, node.output):
            edge[:] = [f"block/{name}" if name in ("p", "s") else name for name in edge]
    after = checked(edits.rename(text, "block/*", "tower.*"))
    assert [node.output[0] for node in after.graph.node] == ["tower.p", "tower.s", "y", "z"]
    assert checked(edits.rename(parsed(TOWER), "op:MatMul", "dot")).graph.node[0].output == ["dot"]
    assert checked(edits.rename(parsed(TOWER), "index:1", "sum")).graph.node[1].output == ["sum"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (Rename("sx", "a"), "the model has no tensor 'sx' (the nearest of 7: "),
        (Rename("x", "w"), "a tensor is called 'w' already"),
        (Rename("op:Mod", "w"), "the model has no node 'op:Mod'"),
        (Rename("*", "w"), "a pattern of names has one *, and so has the new name"),
        (Rename("x", ""), "the new name of 'x' is empty"),
        (RenameNode("plu", "a"), "the model has no node 'plu' (it has: plus)"),
        (RenameNode("plus", "act"), "a node is called 'act' already"),
        (RenameNode("index:7", "act"), "'index:7' is no place of a node (index:0 to index:3)"),
        (Prefix(""), "the prefix is empty"),
    ],
)
def test_refusals(edit: Rename | RenameNode | Prefix, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        edits.edit(parsed(TOWER), [edit])
    assert said in str(caught.value)
    assert str(caught.value).startswith(edit.option)


def test_a_name_that_a_body_has_is_taken() -> None:
    with pytest.raises(UsageError, match="a tensor is called 'i' already"):
        edits.rename(parsed(BRANCHES), "h", "i")


def test_nodes_by_name_operator_place_and_pattern() -> None:
    steps = [RenameNode("plus", "bias"), RenameNode("op:Neg", "minus"), RenameNode("index:0", "d")]
    after = checked(edits.edit(parsed(TOWER), steps))
    assert [node.name for node in after.graph.node] == ["d", "bias", "act", "minus"]
    after = checked(edits.rename_node(parsed(BRANCHES), "inner*", "body*"))
    subgraphs = [attribute.g for attribute in after.graph.node[1].attribute]
    assert [body.node[0].name for body in subgraphs] == ["body", "body_e"]
    assert checked(edits.rename_node(parsed(CALLS), "sum", "s")).functions[0].node[0].name == "s"


def test_a_prefix_everywhere_but_at_the_ends() -> None:
    after = checked(edits.prefix(parsed(BRANCHES), "a/"))
    assert names(after) == ["x", "c", "y"]
    assert [node.name for node in after.graph.node] == ["a/scale", "a/choose"]
    body = after.graph.node[1].attribute[0].g
    assert [list(node.input) for node in body.node] == [["a/h"], ["a/i", "x"]]
    function = checked(edits.prefix(parsed(CALLS), "a/")).functions[0]
    assert [function.name, *function.input, *function.output] == ["twice", "a/a", "a/r"]


def test_external_data_stays_where_it_is(tmp_path: Path) -> None:
    path = with_external_data(parsed(TOWER), tmp_path)
    found = edits.rename(path, "w", "weight")
    (tensor,) = [t for t in checked_outside(found).graph.initializer if t.name == "weight"]
    assert tensor.data_location == onnx.TensorProto.EXTERNAL
    assert not tensor.raw_data


def checked_outside(found: edits.Edited) -> onnx.ModelProto:
    assert {proof.verification.status for proof in found.proofs} == {Verdict.EQUAL}
    return found.model.to_proto()


def test_nothing_is_proved_where_that_is_not_wanted() -> None:
    found = edits.rename(parsed(TOWER), "x", "a", verify="off")
    assert (found.proofs, found.verified, found.exit_code) == ((), False, 0)
    with pytest.raises(UsageError, match="'full' is not auto or off"):
        edits.rename(parsed(TOWER), "x", "a", verify="full")
    with pytest.raises(UsageError, match="nothing to do"):
        edits.edit(parsed(TOWER), [])
