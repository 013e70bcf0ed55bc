"""What becomes of a run when a pass breaks its word: it is rolled back and named."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphfix import EXACT, graph_pass, run
from graphfix.authoring.declaring import Pass
from graphfix.authoring.editing import Editor, Recorded
from graphfix.authoring.workspace import Workspace
from graphfix.ir.model import Model
from graphfix.opset.stepping import move_to
from graphfix.report import Outcome, Status

MODEL = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["": 13]> g (float[2,3] x) => (float[2,3] y)'
    "<float[3] w = {1, 2, 3}> { a = Identity (x)  y = Add (a, w) }"
)


@graph_pass(accuracy=EXACT)
def other_weights(editor: Editor) -> None:
    """Change weights and record nothing."""
    for graph in editor.graphs():
        for constant in graph.initializers:
            constant.values = np.asarray(constant.values) * 2


@graph_pass(accuracy=EXACT)
def other_output_name(editor: Editor) -> None:
    """Rename an output and record nothing."""
    editor.model.graph.outputs[0].name = "other"


@graph_pass(accuracy=EXACT)
def other_operator(editor: Editor) -> None:
    """Change an operator and record nothing."""
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            if view.op == "Add":
                view.node.op = "Sub"


@graph_pass(accuracy=EXACT)
def other_order(editor: Editor) -> None:
    """Exchange what a node reads in the list itself, which no field that is set shows."""
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            if view.op == "Add":
                view.node.inputs.reverse()


@pytest.mark.parametrize("verify", ["auto", "off"])
@pytest.mark.parametrize("faulty", [other_weights, other_output_name, other_operator, other_order])
def test_an_edit_outside_a_site_is_rolled_back_and_the_run_continues(
    faulty: Pass, verify: str
) -> None:
    result = run(MODEL, passes=[faulty, "identity-elimination"], verify=verify)
    outcomes = {o.pass_id: o for o in result.report.outcomes}
    assert outcomes[faulty.id].status is Status.FAILED
    assert "outside a recorded site" in outcomes[faulty.id].reason
    assert outcomes["identity-elimination"].status is Status.APPLIED
    after = result.model.to_proto()
    assert [n.op_type for n in after.graph.node] == ["Add"]
    assert after.graph.initializer == MODEL.graph.initializer
    assert after.graph.output == MODEL.graph.output


def test_an_opset_that_gives_an_invalid_model_is_rolled_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def faulty_move(
        model: Model, workspace: Workspace, wanted: int, *, at_run_time: bool = True
    ) -> list[Recorded]:
        sites = move_to(model, workspace, wanted, at_run_time=at_run_time)
        model.graph.nodes[-1].op = "NoSuchOperator"
        return sites

    monkeypatch.setattr("graphfix.pipeline.repair_stages.move_to", faulty_move)
    result = run(MODEL, opset=15, verify="off")
    assert result.exit_code == 1
    assert result.model.opset == 13
    failed: list[Outcome] = [o for o in result.report.outcomes if o.status is Status.FAILED]
    assert [o.pass_id for o in failed] == ["opset"]
    assert result.model.to_proto() == MODEL
