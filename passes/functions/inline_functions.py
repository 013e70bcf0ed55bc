"""Replace calls of local functions by the subgraphs of the functions.

What it does: Inlines every local function of the model into its call sites, nested calls included,
    and drops the functions. Attributes that a call leaves out get the defaults of the function. A
    function that imports another opset than the model takes that of the model first, where the
    forms of its operators are the same or differ in their lists of types alone.
Why engines need it: TensorRT before 9.0, onnxruntime before 1.9 and most converters do not read
    local functions; they look for a plugin of that name instead.
Before: y = my.domain.f (x)
After:
    t = Relu (x)
    y = Neg (t)
When it refuses: Where ONNX's inliner fails: a function that calls itself, or one whose opset
    imports cannot be brought together with those of the model.
Accuracy: Exact.
References: https://onnx.ai/onnx/api/inliner.html
"""

from itertools import pairwise

import onnx

from graphfix.authoring import (
    Editor,
    Model,
    NodeRef,
    NodeView,
    Refuse,
    form_of,
    graph_pass,
    inline,
    normal_domain,
)
from graphfix.opset.verdicts import Verdict, verdict_of


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
        inlined = inline(_levelled(model))
    except (RuntimeError, ValueError, onnx.checker.ValidationError) as error:
        raise Refuse(f"onnx must be able to inline the functions; it fails: {error}") from error
    if len(inlined.functions):
        raise Refuse(f"onnx must inline all functions; {len(inlined.functions)} are left")
    if calls:
        editor.replace_file(inlined, calls, "the body of the function is here now")
    else:
        editor.reload(inlined)
        editor.record(NodeRef(), "functions that nothing calls went")


def _levelled(model: Model) -> onnx.ModelProto:
    """Return the model with functions that import its opsets, where that changes nothing."""
    proto = model.to_proto()
    wanted = {normal_domain(entry.domain): entry.version for entry in proto.opset_import}
    for function, written in zip(model.functions, proto.functions, strict=True):
        nodes = [node for graph in function.walk() for node in graph.nodes]
        for entry in written.opset_import:
            domain = normal_domain(entry.domain)
            version = wanted.get(domain, entry.version)
            operators = {node.op for node in nodes if normal_domain(node.domain or "") == domain}
            if all(_same(op, domain, entry.version, version) for op in operators):
                entry.version = version
    return proto


def _same(op: str, domain: str, old: int, new: int) -> bool:
    """Say whether an operator means the same at both opsets, with the same attributes."""
    if old == new:
        return True
    forms = [form_of(op, version, domain) for version in range(min(old, new), max(old, new) + 1)]
    known = sorted({form.since for form in forms if form is not None})
    if None in forms:
        return False
    steps = pairwise(known)
    upwards = not domain and old < new
    return len(known) == 1 or (upwards and all(verdict_of(op, *s) == Verdict() for s in steps))
