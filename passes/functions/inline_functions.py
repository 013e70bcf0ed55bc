"""Replace calls of local functions by the bodies of the functions.

What it does:
    Inlines every local function of the model into its call sites, nested calls included, and
    drops the functions. Attributes that a call leaves out get the defaults of the function.

Why engines need it:
    TensorRT before 9.0, onnxruntime before 1.9 and most converters do not read local functions;
    they look for a plugin of that name instead.

Before:
    y = my.domain.f (x)

After:
    t = Relu (x)
    y = Neg (t)

When it refuses:
    Where ONNX's inliner fails: a function that calls itself, or one whose opset imports cannot
    be brought together with those of the model.

Accuracy:
    Exact.

References:
    https://onnx.ai/onnx/api/inliner.html
"""

from __future__ import annotations

import onnx

from graphfix.authoring import Editor, NodeRef, NodeView, Refuse, graph_pass, inline


@graph_pass(removes="scope:local-function", emits="*::*")
def inline_functions(editor: Editor) -> None:
    """Inline everything at once."""
    model = editor.model
    if not model.functions:
        return
    known = {function.key for function in model.functions}
    calls = [
        NodeView(node)
        for graph in model.graph.walk()
        for node in graph.nodes
        if (node.domain or "", node.op, node.overload) in known
    ]
    try:
        inlined = inline(model.to_proto())
    except (RuntimeError, ValueError, onnx.checker.ValidationError) as error:
        raise Refuse(f"the inliner of onnx fails: {error}") from error
    if len(inlined.functions):
        raise Refuse("the inliner of onnx left functions behind")
    if calls:
        editor.replace_file(inlined, calls, "the body of the function stands here now")
    else:
        editor.reload(inlined)
        editor.record(NodeRef(), "functions that nothing calls went")
