"""Move the model to another opset of the default domain, exactly or not at all.

What it does: Walks from the model's opset to the one asked for, one version at a time, up or down.
    A step looks at every node of the main graph, of its subgraphs and of the local functions: a
    node whose schema does not change stays; where both forms mean the same it stays, with defaults
    that differ written out; where the form changed it is written in the other form; an operator
    that the other opset lacks is replaced by an equal expression. If one node cannot follow, the
    model keeps its opset and every node that blocks it is named.
Why engines need it: An engine takes opsets up to a number, and reads newer forms wrongly or not at
    all.
Before: opset 18: y = ReduceMean(x, axes)
After: opset 17: y = ReduceMean<axes = [1]>(x)
When it refuses: When a node uses what the other opset cannot express, when a value that has to
    become an attribute is computed at run time, when a dtype or size that decides is unknown, and
    when no one has shown that two forms of an operator mean the same.
Accuracy: Exact. Where an operator is decomposed (LayerNormalization and the like) sums are rounded
    in another order. CumSum and CumProd of integers wrap around before and after: they are written
    without ReduceSum and ReduceProd, which onnxruntime computes through float64; axes of integers
    that are computed are refused for the same reason, unless maxima are taken.
References: https://onnx.ai/onnx/operators/ for every form of every operator; onnx/defs/**/defs.cc
    and old.cc for their function bodies.
"""

from graphfix.authoring import NAMED, Editor, Option, graph_pass

from ._moving import moved_to


@graph_pass(
    removes="form:* opset:*",
    emits="*::*",
    stage=NAMED,
    options={"to": Option(int, 0, "the opset to move to; 0 leaves the model as it is")},
)
def opset(editor: Editor) -> None:
    """Move to the opset of option `to`."""
    wanted = editor.option("to")
    if wanted:
        moved_to(editor, wanted)
