"""How far a graph may grow, and that names are found at once however often they are given back."""

from __future__ import annotations

import onnx
import pytest

import graphfix
from graphfix.authoring.workspace import Workspace
from graphfix.ir.model import Model
from graphfix.ir.views import Refuse
from graphfix.pipeline import run as run_record

MODS = 40


def chain(count: int) -> onnx.ModelProto:
    body = " ".join(f"t{i} = Mod <fmod = 1> (x, x)" for i in range(count))
    parts = ", ".join(f"t{i}" for i in range(count))
    return onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 11]>\n'
        f"g (float[1] x) => (float[1] y) {{ {body} y = Sum ({parts}) }}"
    )


def test_a_graph_that_has_grown_enough_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_record, "SMALL_GROWTH", 300)
    done = graphfix.run(chain(MODS), target="trt7.0", verify="off", partial=True)
    reasons = {o.reason for o in done.report.outcomes if o.pass_id == "mod-elimination"}
    assert "the graph would have more than the 423 nodes that it may grow to" in reasons
    ops = [node.op for node in done.model.nodes()]
    assert 300 < len(ops) <= 423
    assert 0 < ops.count("Mod") < MODS


def test_a_graph_may_become_three_times_what_it_is_and_some_thousand_nodes_more() -> None:
    done = graphfix.run(chain(MODS), target="trt7.0", verify="off")
    assert "Mod" not in {node.op for node in done.model.nodes()}


def test_one_node_for_another_is_never_growth() -> None:
    workspace = Workspace(Model(chain(2)))
    workspace.budget.nodes = 3
    workspace.check_room(1)
    with pytest.raises(Refuse, match="more than the 3 nodes"):
        workspace.check_room(2)


def test_a_name_that_is_given_back_is_the_next_one_given() -> None:
    workspace = Workspace(Model(chain(1)))
    assert [workspace.tensor_name("t0") for _ in range(3)] == ["t0_1", "t0_2", "t0_3"]
    mark = workspace.mark()
    assert [workspace.tensor_name("t0"), workspace.tensor_name("new")] == ["t0_4", "new"]
    workspace.release(mark)
    assert [workspace.tensor_name("t0"), workspace.tensor_name("new")] == ["t0_4", "new"]


def test_names_of_nodes_and_of_tensors_are_counted_apart() -> None:
    workspace = Workspace(Model(chain(1)))
    assert workspace.tensor_name("a") == workspace.node_name("a") == "a"
    assert workspace.tensor_name("a") == workspace.node_name("a") == "a_1"
