"""What another drafted node reads is seen to be read while a candidate is tried aside."""

from __future__ import annotations

import numpy as np
import onnx

from graphfix import EXACT, rewrite
from graphfix.authoring.building import Builder
from graphfix.authoring.drafting import draft_rewrite
from graphfix.authoring.registry import shipped_passes
from graphfix.authoring.workspace import Workspace
from graphfix.engines.targets import load_target
from graphfix.ir.views import NodeView, Value
from graphfix.pipeline.finishing import finish
from graphfix.pipeline.model_files import load
from graphfix.pipeline.settings import Settings
from graphfix.report import Verdict

# TensorRT 8.2 has no importer for Hardmax, and no second output of MaxPool.
MODEL = """<ir_version: 8, opset_import: ["": 13]>
    g (float[1,1,1,4] x) => (float[1,1,1,4] y) { y = Hardmax <axis = -1> (x) }
"""


@rewrite("Hardmax", removes="op:Hardmax", emits=("Cast", "Equal", "MaxPool"), accuracy=EXACT)
def hardmax_to_indices(node: NodeView, build: Builder) -> Value:
    """Compare every place with that of the largest element."""
    _, place = build.multi("MaxPool", node.need(0), outputs=2, kernel_shape=[1, 4])
    return build.Cast(build.Equal(place, np.arange(4).reshape(1, 1, 1, 4)), to=1)


def test_an_output_that_a_drafted_node_reads_is_not_left_out() -> None:
    model = onnx.parser.parse_model(MODEL)
    names = {"maxpool-drop-indices", "maxpool-indices-to-argmax"}
    settings = Settings(
        target=load_target("trt8.2"),
        opset=None,
        named=None,
        available=(hardmax_to_indices, *(p for p in shipped_passes() if p.id in names)),
    )
    result = finish(load(model), settings, ())
    ops = [node.op_type for node in result.model.to_proto().graph.node]
    assert "Hardmax" not in ops
    assert "Equal" in ops
    assert result.report.verification.status is Verdict.EQUAL
    assert result.exit_code == 0
    assert all(len(n.output) == 1 for n in result.model.to_proto().graph.node)


@rewrite("Elu", removes="op:Elu", emits=("Add", "Cast", "MaxPool", "Sub"))
def with_indices(node: NodeView, build: Builder) -> tuple[Value, ...]:
    """Read the indices of a pool, and not what it gives."""
    x = node.need(0)
    _, place = build.multi("MaxPool", x, outputs=2, kernel_shape=[1, 1])
    return (build.Add(x, build.Cast(build.Sub(place, place), to=1)),)


def test_only_what_is_read_counts_as_used() -> None:
    model = load(
        onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
            g (float[1,1,1,4] x) => (float[1,1,1,4] y) { y = Elu (x) }""")
    )
    (node,) = model.graph.nodes
    draft = draft_rewrite(with_indices, NodeView(node), Workspace(model)).draft
    used = {
        f"{n.op}.{at}": Value(tensor).is_used
        for n in draft.nodes
        for at, tensor in enumerate(n.outputs)
    }
    assert used == {
        "MaxPool.0": False,
        "MaxPool.1": True,
        "Sub.0": True,
        "Cast.0": True,
        "Add.0": True,
    }
