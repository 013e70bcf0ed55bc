"""Put the inputs that are stored after those that are given.

What it does: Initializers that are listed as inputs, too, go to the end of the list, each group in
    its order.
Why engines need it: pnnx takes stored inputs off the list by places that it has counted before it
    took the first, so that it loses an input that is given where it is after two stored ones:
    "input_shapes[0] expect [2]f32 but got [1,2,4,4]f32".
Before: g (w, b, x) => (y) <w = ..., b = ...> { y = Conv (x, w, b) }
After: g (x, w, b) => (y) <w = ..., b = ...> { y = Conv (x, w, b) }
When it refuses: Never; a list in which no given input is after a stored one is left alone.
Accuracy: Exact: callers give inputs by name.
References: tools/pnnx/src/pass_onnx/eliminate_initializer_input.cpp of Tencent/ncnn
"""

from graphfix.authoring import Constant, Editor, NodeRef, graph_pass


@graph_pass(removes="io:stored-inputs", claims="nan inf")
def stored_inputs_last(editor: Editor) -> None:
    """Put the list of inputs in order, see the module."""
    graph = editor.model.graph
    stored = [tensor for tensor in graph.inputs if isinstance(tensor, Constant)]
    given = [tensor for tensor in graph.inputs if not isinstance(tensor, Constant)]
    if graph.inputs != [*given, *stored]:
        graph.inputs = [*given, *stored]
        where = NodeRef(outputs=tuple(tensor.name for tensor in stored))
        editor.record_number(where, f"{len(stored)} stored inputs go after those that are given")
