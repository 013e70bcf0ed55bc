"""Give what a body passes on a name of its own.

What it does: Where a body of Loop outputs one of its inputs, or a tensor from around it, an
    Identity in the body computes that output.
Why engines need it: OpenVINO counts such a tensor as an input of the body twice: "The provided loop
    body graph canonical inputs size (10), does not match the sum of loop carried dependencies and
    two mandatory inputs (7)". tf2onnx writes weights that loops carry in this way.
Before: h, w = Loop (n, c, h0, w0) <body (i, g, h, w) => (g, h_new, w) { ... }>
After: h, w = Loop (n, c, h0, w0) <body (i, g, h, w) => (g, h_new, v) { ... v = Identity (w) }>
When it refuses: The body computes all that it outputs, or takes a sequence or what has no known
    type. Of a Scan that passes its state on, onnxruntime reads memory as it was: no proof is to be
    had.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Loop.html; src/frontends/onnx/frontend/src/op/
    loop.cpp:310 of OpenVINO 2026.4.1, as its refusal says
"""

from graphfix.authoring import Builder, Graph, NodeView, Refuse, Value, rewrite

from ._rewriting import written_again


@rewrite(
    "Loop",
    removes="form:Loop.passed-value",
    emits="*::*",
    since=9,
)
def passed_values_named(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the body again, see the module."""
    body = node.attr("body")
    assert isinstance(body, Graph)  # the checker wants one
    made = {id(tensor) for inner in body.nodes for tensor in inner.outputs}
    if all(id(tensor) in made for tensor in body.outputs):
        raise Refuse("the body must output what it does not compute; it computes all")
    return written_again(node, build, node.inputs)
