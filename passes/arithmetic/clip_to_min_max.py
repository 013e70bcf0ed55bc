"""Limit by Max and Min.

What it does: Writes Clip as Max with its lower bound and Min with its upper one, those that are
    given.
Why engines need it: OpenCV 4 computes another thing for Clip of integers without a word, and OpenCV
    5 refuses one that has only one bound: "Clip: unsupported depth in function 'typeMin'". TensorRT
    7 takes constant bounds alone. onnxruntime before 1.24 fails to load a Clip of an input of the
    model that QuantizeLinear makes needless.
Before: y = Clip (x, low, high)
After:
    m = Max (x, low)
    y = Min (m, high)
When it refuses: There is no bound; the opset has no Max of integers of the type, which came with 12
    (8 for int32 and int64 is floats alone).
Accuracy: Exact, for bounds in the wrong order too: the upper one counts, as ONNX says from 13 on.
References: https://onnx.ai/onnx/operators/onnx__Clip.html, onnx__Max.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_elem_type, rewrite


@rewrite(
    "Clip",
    removes="dtype:Clip.int32 dtype:Clip.int64 const:Clip.min const:Clip.max "
    "form:Clip.before-quantize",
    emits="Max Min",
    since=11,
)
def clip_to_min_max(node: NodeView, build: Builder) -> Value:
    """Limit from both sides, see the module."""
    x, low, high = node.need(0), node.input(1), node.input(2)
    need_elem_type(x)
    if x.dtype is None or x.dtype.kind not in "iuf":
        raise Refuse(f"{x.name} must be numbers; it is {x.type_name}")
    if low is None and high is None:
        raise Refuse("there must be a bound; there is none")
    limited = x if low is None else build.Max(x, low)
    return limited if high is None else build.Min(limited, high)
