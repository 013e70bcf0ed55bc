"""Cast what Gather takes from, before it takes.

What it does: Moves the one Cast that reads what Gather takes at a Constant node before the Gather.
Why engines need it: OpenCV takes a Gather at a Constant, and the Cast that alone reads it, for a
    Gather along axis 0 (``GatherCastSubgraph`` of its importer). It is not so of a place that is an
    initializer, which models of IR 3 do not have, nor where the Cast comes first.
Before:
    i = Constant <value = int64[1] {2}> ()
    y = Cast <to = 7> (Gather <axis = 1> (x, i))
After: y = Gather <axis = 1> (Cast <to = 7> (x), i)
When it refuses: What is cast is not what Gather takes at a Constant node, or more than the Cast
    reads it.
Accuracy: Exact: each number is cast as it was, and so are those that are not taken.
References: https://onnx.ai/onnx/operators/onnx__Gather.html; opencv 4.10.0,
    modules/dnn/src/onnx/onnx_graph_simplifier.cpp
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite("Cast", removes="form:Constant.place-of-a-cast", emits="Cast Gather", claims="nan inf")
def cast_before_gather(node: NodeView, build: Builder) -> Value | None:
    """Cast first, see the module."""
    taken = node.need(0)
    gather = taken.producer
    if gather is None or gather.op != "Gather" or gather.domain:
        raise Refuse("what is cast must come from Gather; it does not")
    place = gather.need(1)
    if place.producer is None or place.producer.op != "Constant":
        raise Refuse("Gather must take at a Constant node; it does not")
    if len(taken.consumers) > 1:
        raise Refuse("the Cast alone must read what Gather takes; others do as well")
    (cast,) = respell(node, build, input=gather.need(0))
    assert cast is not None
    return build.Gather(cast, place, axis=int(gather.attr("axis", 0)))
