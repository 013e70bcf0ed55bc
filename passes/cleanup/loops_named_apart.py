"""Rename what a Loop gives that is in a body of another whose output bears the same name.

What it does: Renames the first output of the inner Loop. Names of inputs and outputs of the model
    stay.
Why engines need it: MNN knows the body of a Loop by the name of its first output. Where a Loop in
    it gives the same name, the body is its own body, and the process ends.
Before:
    y = Loop (n, c, x) <body = (i, d, a) => (e, b) { y = Loop (n, d, a) <...>  b = Neg (y) ... }>
After:
    y = Loop (n, c, x) <body = (i, d, a) => (e, b) { y.inner = Loop (n, d, a) <...>
                                                     b = Neg (y.inner) ... }>
When it refuses: Never.
Accuracy: Exact: names of tensors mean nothing.
References: measured on MNN 3.6.1
"""

from graphfix.authoring import Editor, NodeRef, graph_pass, outer_namesake


@graph_pass(removes="form:Loop.namesake")
def loops_named_apart(editor: Editor) -> None:
    """Look at all subgraphs, the outer ones first."""
    for graph in list(editor.model.graphs()):
        for node in graph.nodes:
            if outer_namesake(node) is None:
                continue
            old = node.outputs[0].name
            node.outputs[0].name = editor.workspace.tensor_name(f"{old}.inner")
            where = NodeRef(name=node.name, op=node.op, outputs=(old,), scope=graph.scope)
            said = f"what the inner Loop gives is called {node.outputs[0].name} now, not {old}"
            editor.record_number(where, said)
