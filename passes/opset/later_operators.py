"""Raise the opset to the one that brings an operator which the file uses already.

What it does: Where a node of the default domain is of no operator of the imported opset, but of one
    that a newer opset brings (Gelu at opset 17, RMSNormalization at 20), moves the model to that
    opset: every other node keeps its meaning, as `opset` does it.
Why engines need it: onnxruntime refuses the file ("No Op registered for Gelu with domain_version of
    17"), other engines go by the name or have no such operator. Converters and hand-written
    exporters stamp files so.
Before:
    opset_import: ["" : 17]
    y = Gelu (x)
After:
    opset_import: ["" : 20]
    y = Gelu (x)
When it refuses: Another node cannot follow to that opset; see `opset`.
Accuracy: Exact for what the name means from the opset on that brings it; before, it means nothing.
References: https://onnx.ai/onnx/repo-docs/Versioning.html#operator-sets
"""

from graphfix.authoring import (
    Editor,
    NodeView,
    Recorded,
    Refused,
    form_of,
    graph_pass,
    newest_opset,
    normal_domain,
)
from graphfix.opset.stepping import StepBlocked, move_to

# What opsets from 14 on brought and engines look up by name.
_BROUGHT = (
    "AffineGrid", "Attention", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "BitCast",
    "CastLike", "CenterCropPad", "Col2Im", "CumProd", "Gelu", "GridSample", "GroupNormalization",
    "HardSwish", "LayerNormalization", "Mish", "RMSNormalization", "RotaryEmbedding", "Swish",
    "TensorScatter", "Trilu",
)  # fmt: skip


@graph_pass(removes=("opset:too-low.*", *(f"op:{name}" for name in _BROUGHT)), emits="*::*")
def later_operators(editor: Editor) -> None:
    """Move to the opset that has every operator of the main graph."""
    model = editor.model
    known = {function.key for function in model.functions}
    needed = 0
    for graph in model.graph.walk():
        for view in editor.nodes(graph):
            if not view.domain and ("", view.op, "") not in known:
                needed = max(needed, _brought(view, model.opset))
    if needed <= model.opset or not model.opset:
        return
    try:
        moved = move_to(model, editor.workspace, needed, adopting=True)
    except StepBlocked as blocked:
        editor.refused.extend(Refused(b.node, b.reason) for b in blocked.blockers)
        return
    editor.recorded.extend(
        Recorded(each.site, evidence=each.evidence, computes=each.computes) for each in moved
    )


def _brought(view: NodeView, opset: int) -> int:
    """Return the opset that brings the operator of a node, 0 where its own has it or none does."""
    if normal_domain(view.node.domain) or form_of(view.op, opset) is not None:
        return 0
    newer = range(opset + 1, newest_opset() + 1)
    return next((version for version in newer if form_of(view.op, version) is not None), 0)
