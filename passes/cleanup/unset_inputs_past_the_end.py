"""Leave out inputs that are written as an empty name where the operator has none.

What it does: Ends the list of inputs before the first empty name that is past the inputs of the
    operator, and before empty names at the end of a list that may be of any length, such as that of
    Concat or the states of a Loop.
Why engines need it: onnxruntime refuses the file ("Node has input size 2 not in range [min=1,
    max=1]") or knows no type of such a state. Tools that write every node with the same number of
    inputs leave them.
Before: y = Relu (x, "")
After: y = Relu (x)
When it refuses: Never; a name that is not empty is left alone.
Accuracy: Exact: an empty name is an input that is not there.
References: https://onnx.ai/onnx/repo-docs/IR.html#optional-inputs-and-outputs;
    microsoft/onnxruntime onnxruntime/core/graph/graph.cc (Graph::VerifyNodeAndOpMatch)
"""

from graphfix.authoring import PREPARE, Editor, NodeView, form_of, graph_pass, normal_domain


@graph_pass(stage=PREPARE, removes="model:input-count", looks_at=["input:unset"])
def unset_inputs_past_the_end(editor: Editor) -> None:
    """Look at the nodes of every scope whose last input is an empty name."""
    for graph in editor.graphs():
        for node in graph.nodes:
            if not node.inputs or node.inputs[-1].name:
                continue
            domain = normal_domain(node.domain)
            form = form_of(node.op, graph.opsets.get(domain, 1), domain)
            if form is None:
                continue
            most = len(form.inputs) - form.variadic_input
            kept = len(node.inputs)
            while kept > most and not node.inputs[kept - 1].name:
                kept -= 1
            if kept == len(node.inputs):
                continue
            inputs, outputs = node.inputs[:kept], list(node.outputs)
            left = len(node.inputs) - kept
            node.detach()
            node.attach(inputs, outputs)
            noun = "an input that is" if left == 1 else f"{left} inputs that are"
            editor.record_number(NodeView(node).ref(), f"{noun} not there went")
