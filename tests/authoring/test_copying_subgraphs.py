"""What a body cannot be copied with is refused, and never written wrongly."""

from __future__ import annotations

import onnx
import pytest

from graphfix import Refuse
from graphfix.analysis.inference import infer_model
from graphfix.authoring.building import Builder
from graphfix.authoring.copying import copy_constants, copy_nodes
from graphfix.authoring.workspace import Workspace
from graphfix.ir.graph import Variable
from graphfix.ir.views import NodeView, Value
from graphfix.pipeline.model_files import load


def test_a_loop_that_carries_a_sequence_is_refused() -> None:
    """The body of such a file may say no type of what it takes: it would be taken for a tensor."""
    model = load(
        onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
            g (float[2] x, int64 n) => (float[m] y) {
                start = SequenceEmpty ()
                go = Constant <value = bool {1}> ()
                all = Loop (n, go, start) <body = b (int64 i, bool c, seq(float[2]) s)
                    => (bool d, seq(float[2]) t) {
                        d = Identity (c)
                        t = SequenceInsert (s, x)
                    }>
                y = ConcatFromSequence <axis = 0> (all)
            }""")
    )
    infer_model(model)
    loop = next(node for node in model.graph.nodes if node.op == "Loop")
    (body,) = (body for _, body in loop.graphs())
    carried = body.inputs[2]
    assert isinstance(carried, Variable)
    carried.opaque = None
    build = Builder(Workspace(model), NodeView(loop), {})
    values = {id(tensor): Value(tensor) for tensor in model.graph.inputs}
    copy_constants(build, model.graph, values)
    with pytest.raises(Refuse, match="it takes the sequence start"):
        copy_nodes(build, model.graph.nodes, values)


def test_names_of_sizes_in_a_body_are_not_copied() -> None:
    """They may stand for another size in each round; numbers are what they are."""
    model = load(
        onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17, "acme": 1]>
            g (float[A, 3] x) => (float[B, 3] y) <float[N, 3] k>
            { k = acme.Odd (x) y = Neg (k) }""")
    )
    (odd, _) = model.graph.nodes
    build = Builder(Workspace(model), NodeView(odd), {})
    values = {id(tensor): Value(tensor) for tensor in model.graph.inputs}
    copy_nodes(build, [odd], values)
    assert odd.outputs[0].shape == ("N", 3)
    assert values[id(odd.outputs[0])].shape == (None, 3)
