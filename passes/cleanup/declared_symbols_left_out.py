"""Leave out what a file declares of tensors between nodes with symbols for sizes.

What it does: Drops the entries of value_info that have a named size or one that is left open.
    Inputs and outputs keep theirs, and so does what is declared in numbers alone.
Why engines need it: tract believes the declarations next to what it infers. Once a user binds an
    input to the shape that is fed, as they do for a fixed batch, the two contradict: "Impossible to
    unify Sym(batch) with Val(2)". PyTorch's newer exporter declares every tensor of a model with
    dynamic shapes so.
Before:
    x: float[batch, 3], h: float[batch, 3]
    h = Relu (x)
    y = Exp (h)
After:
    x: float[batch, 3]
    h = Relu (x)
    y = Exp (h)
When it refuses: Never; it leaves alone what nodes of other domains give, which no one can infer.
Accuracy: Exact: declarations compute nothing.
References: measured on tract 0.23.9: set_input_fact, then into_model;
    https://onnx.ai/onnx/repo-docs/IR.html (value_info)
"""

from graphfix.authoring import Editor, NodeRef, declared_in_symbols, graph_pass, leave_undeclared


@graph_pass(removes="shape:declared-symbols")
def declared_symbols_left_out(editor: Editor) -> None:
    """Look at every scope."""
    for graph in editor.graphs():
        tensors = declared_in_symbols(graph)
        for tensor in tensors:
            leave_undeclared(graph, tensor)
        if tensors:
            where = NodeRef(outputs=(tensors[0].name,), scope=graph.scope)
            editor.record_number(where, f"{len(tensors)} declarations with symbols are left out")
