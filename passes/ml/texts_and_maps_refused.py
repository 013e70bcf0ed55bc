"""Say what stands in the way of operators of ai.onnx.ml that read texts or maps.

What it does: Nothing but to say why. CastMap and DictVectorizer read a map from keys to numbers,
    and CategoryMapper reads or gives texts, neither of which is a tensor that an engine holds.
Why engines need it: Engines have tensors of numbers alone.
Before:
    y = ai.onnx.ml.DictVectorizer <string_vocabulary = ["a", "b"]> (x)      # x: map(string, float)
After: the same
When it refuses: Always: the reason names what the caller has to do before the model.
Accuracy: Exact: nothing changes.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_DictVectorizer.html,
    onnx_aionnxml_CastMap.html, onnx_aionnxml_CategoryMapper.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_INSTEAD = {
    "DictVectorizer": (
        "a map is read, which is no tensor: make the row of numbers before the model, in the order "
        "of the vocabulary, with 0 for what is not there, and cut this node off "
        "(graphfix edit --extract)"
    ),
    "CastMap": (
        "a map is read, which is no tensor: make the row of its values before the model, in the "
        "order of its keys, and cut this node off (graphfix edit --extract)"
    ),
    "CategoryMapper": (
        "texts are read or given, which no engine holds: look them up before or behind the model "
        "in cats_strings and cats_int64s, and cut this node off (graphfix edit --extract)"
    ),
}


@rewrite(
    tuple(f"ai.onnx.ml::{op}" for op in _INSTEAD),
    removes=tuple(f"op:ai.onnx.ml::{op}" for op in _INSTEAD),
)
def texts_and_maps_refused(node: NodeView, build: Builder) -> Value:
    """Say why, see the module."""
    raise Refuse(_INSTEAD[node.op])
