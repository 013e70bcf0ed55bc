"""Count axes from the front.

What it does: Writes the axes of Concat, Slice and Squeeze that are below 0 as the axes that they
    are.
Why engines need it: ONNX allows such axes from opset 11 on, and its shape inference leaves them out
    before: an engine that goes by it, as QNN does, leaves the node, and what reads it, to the CPU.
Before: y = Concat <axis = -1> (a, b)       # of three dimensions
After: y = Concat <axis = 2> (a, b)
When it refuses: The axes are an input; the rank is not known; none of them is below 0.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/text_diff_Concat_4_11.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, needed, respell, rewrite

_NAMES = {"Concat": "axis", "Slice": "axes", "Squeeze": "axes"}


@rewrite(
    ("Concat", "Slice", "Squeeze"),
    removes="form:Concat.negative-axis form:Slice.negative-axis form:Squeeze.negative-axis",
    emits="Concat Slice Squeeze",
    claims="nan inf",
)
def axes_from_the_front(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Add the rank, see the module."""
    name = _NAMES[node.op]
    stated = needed(node.attr(name, None), "the axes must be an attribute; they are not")
    rank = need_rank(node.need(0))
    if name == "axis":
        if stated >= 0:
            raise Refuse(f"an axis must be below 0; it is {stated}")
        return respell(node, build, axis=stated + rank)
    if all(axis >= 0 for axis in stated):
        raise Refuse(f"an axis must be below 0; they are {list(stated)}")
    return respell(node, build, axes=[axis + rank if axis < 0 else axis for axis in stated])
