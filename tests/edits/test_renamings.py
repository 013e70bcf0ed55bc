"""An edit that renames what it does not declare is wrong: exit code 4, and the place is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from onnx import GraphProto, ModelProto

from graphfix import edits
from graphfix.difference.renaming import rename_tensors
from graphfix.edits.addressing import places
from graphfix.edits.proof import HowToProve, prove
from graphfix.edits.renaming import rename_function
from graphfix.edits.step import Named, SameStructure, Step, Subject
from graphfix.ir.protos import copied
from tests.edits.small_models import BRANCHES, CALLS, TOWER, parsed

Spoil = Callable[[ModelProto], None]


@dataclass(frozen=True)
class Spoiled:
    """An edit whose result is changed once more, which its claims do not say."""

    edit: edits.Edit
    spoil: Spoil
    option: str = "--spoiled"

    def apply(self, subject: Subject) -> Step:
        step = self.edit.apply(subject)
        self.spoil(step.proto)
        return step


def tensor(old: str, new: str, *, main: bool = True) -> Spoil:
    """Return what renames a tensor wherever it is read."""

    def spoil(model: ModelProto) -> None:
        rename_tensors(model.graph, lambda n, is_main: new if (n, is_main) == (old, main) else n)

    return spoil


def node(old: str, new: str) -> Spoil:
    """Return what renames a node, in subgraphs and functions too."""

    def spoil(model: ModelProto) -> None:
        for place in places(model):
            place.node.name = new if place.node.name == old else place.node.name

    return spoil


def exchanged(model: ModelProto) -> None:
    one, two = (next(n for n in model.graph.node if n.name == name) for name in ("act", "neg"))
    one.name, two.name = two.name, one.name


def in_function(model: ModelProto) -> None:
    rename_function(model.functions[0], lambda name: "u" if name == "t" else name)


SET = edits.SetWeights("b", "1,2,3")


@pytest.mark.parametrize(
    ("model", "edit", "spoil", "said"),
    [
        (TOWER, SET, node("act", "acted"), "names at Relu 'acted'"),
        (TOWER, SET, exchanged, "names at Relu 'neg'; names at Neg 'act'"),
        (TOWER, SET, tensor("p", "q"), "names at MatMul 'dot'; names at Add 'plus'"),
        (TOWER, SET, tensor("w", "v"), "the name of stored tensor 'v'; names at MatMul 'dot'"),
        (TOWER, SET, tensor("y", "why"), "the name of output 'why'; names at Relu 'act'"),
        (BRANCHES, edits.SetWeights("k", "3"), node("inner", "in"), "names at Neg 'in'"),
        (
            BRANCHES,
            edits.SetWeights("k", "3"),
            tensor("i", "j", main=False),
            "names at Abs 'inner_e'; names at Add 'last_e'; names at Neg 'inner'",
        ),
        (TOWER, edits.Rename("x", "image"), node("act", "acted"), "names at Relu 'acted'"),
        (TOWER, edits.RenameNode("act", "a"), tensor("p", "q"), "names at MatMul 'dot'"),
        (CALLS, edits.RenameNode("end", "e"), in_function, "names at Add 'sum'"),
    ],
)
def test_what_is_not_declared_is_wrong(
    model: str, edit: edits.Edit, spoil: Spoil, said: str
) -> None:
    assert edits.edit(parsed(model), [edit]).exit_code == 0
    found = edits.edit(parsed(model), [Spoiled(edit, spoil)])
    wrong = [proof for proof in found.proofs if proof.wrong]
    assert wrong[0].verification.reason.startswith(f"written differently: {said}")
    assert found.exit_code == 4


def test_set_that_renames_its_own_node_is_wrong() -> None:
    text = TOWER.replace("[act] y = Relu (s)", "[act] y = LeakyRelu <alpha = 0.5> (s)")
    edit = edits.SetAttribute("act", "alpha", "0.25")
    assert edits.edit(parsed(text), [edit]).exit_code == 0
    found = edits.edit(parsed(text), [Spoiled(edit, node("act", "acted"))])
    assert found.proofs[0].verification.reason == "written differently: names at LeakyRelu 'acted'"
    assert found.exit_code == 4


@pytest.mark.parametrize("renamed", [(), ("nodes",), ("tensors",), ("nodes", "tensors")])
def test_the_order_of_nodes_and_what_is_declared_do_not_count(renamed: tuple[Named, ...]) -> None:
    before = parsed(TOWER)
    after = copied(before)
    turned = GraphProto()
    turned.node.extend([*before.graph.node[:2], *reversed(before.graph.node[2:])])
    after.graph.ClearField("node")
    after.graph.node.extend(turned.node)
    if "nodes" in renamed:
        node("act", "acted")(after)
    if "tensors" in renamed:
        tensor("p", "q")(after)
    claim = SameStructure(before, after, renamed=frozenset(renamed))

    class Claiming:
        option = "--claiming"

        def apply(self, subject: Subject) -> Step:
            return Step(after, ("turned",), (claim,))

    assert edits.edit(before, [Claiming()]).exit_code == 0


def test_fields_that_an_edit_declares_may_differ_and_no_others() -> None:
    before = parsed(TOWER)
    before.graph.doc_string = before.graph.node[0].doc_string = "of an exporter"
    after = copied(before)
    after.graph.doc_string = after.graph.node[0].doc_string = ""
    claim = SameStructure(before, after, fields=frozenset({"doc_string"}))
    how = HowToProve()
    assert prove(claim, "", how).equal
    assert prove(SameStructure(before, after), "", how).wrong
    after.graph.node[0].op_type = "Gemm"
    assert prove(claim, "", how).wrong
