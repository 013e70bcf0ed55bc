"""Rename constants whose numbered copies would bear names that others have.

What it does: Renames every constant with several readers where another tensor bears its name and a
    number below that of the readers: ``two`` next to ``two_1``. Names of inputs, outputs and other
    tensors stay.
Why engines need it:
    rknn-toolkit2 copies a constant for each reader but the first and calls the copies ``two_1``,
    ``two_2``. Where such a name is taken it mixes the tensors: it refuses the file with an error
    that names neither, or computes other values.
Before:
    a = Add (x, two)
    b = Mul (a, two)
    y = Sub (b, two_1)
After:
    a = Add (x, two.shared)
    b = Mul (a, two.shared)
    y = Sub (b, two_1)
When it refuses: Never. Inputs and outputs of the graph keep their names, and subgraphs are not
    looked at.
Accuracy: Exact: names of constants mean nothing.
References: measured in the simulator of rknn-toolkit2 2.3.2
"""

from graphfix.authoring import Editor, NodeRef, graph_pass, namesakes


@graph_pass(removes="model:numbered-constant")
def constants_named_apart(editor: Editor) -> None:
    """Look at the main graph."""
    graph = editor.model.graph
    for value, other in list(namesakes(graph)):
        old = value.name
        value.tensor.name = editor.workspace.tensor_name(f"{old}.shared")
        where = NodeRef(outputs=(old,), scope=graph.scope)
        said = f"the constant {old} is called {value.name} now, next to {other}"
        editor.record_number(where, said)
