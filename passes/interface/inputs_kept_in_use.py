"""Let an output depend on an input that nothing reads.

What it does: Compares one element of the input with itself, s < s, which is false whatever it is,
    and adds the 0 that this is as a number to an output.
Why engines need it: OpenCV 4 refuses to run a net one of whose inputs no layer reads:
    "inputs.size() == requiredOutputs in function 'getMemoryShapes'". Inputs that only give a shape
    become such ones where that shape is folded. rknn-toolkit2 leaves such an input out, and takes
    what is fed for it for the next.
Before: y = Relu (x)                     # the model has an input u: float[2, 5], too
After:
    r = Relu (x)
    s = Reshape (Slice (u, [0, 0], [1, 1], [0, 1]), [1, 1])
    y = Add (r, Cast <to = 1> (Less (s, s)))
When it refuses: A size of the input is not known, or it is empty; no output is computed in the main
    graph as floats or integers of known rank.
Accuracy: Exact: nothing is less than itself, NaN neither, and adding 0 changes no number.
References: opencv/opencv 4.10.0 modules/dnn/src/layer_internals.hpp:309;
    https://onnx.ai/onnx/operators/onnx__Less.html
"""

from functools import partial

from graphfix.authoring import Builder, Editor, NodeView, Value, Variable, graph_pass, respell

from ._zeros import SUMMED, false_of


@graph_pass(removes="io:unused-input", emits="*::*")
def inputs_kept_in_use(editor: Editor) -> None:
    """Look at every input of the main graph."""
    graph = editor.model.graph
    for tensor in graph.inputs:
        if not isinstance(tensor, Variable) or tensor.opaque is not None:
            continue
        value = Value(tensor)
        if value.is_graph_output or any(use.op not in ("Shape", "Size") for use in value.consumers):
            continue
        _keep(editor, value, [Value(end) for end in graph.outputs if isinstance(end, Variable)])


def _keep(editor: Editor, unused: Value, ends: list[Value]) -> None:
    for end in ends:
        maker = end.producer
        if maker is None or end.elem_type not in SUMMED or end.rank is None:
            continue
        if editor.replace(maker, partial(_with_zero, maker, end, unused)):
            return


def _with_zero(
    maker: NodeView, end: Value, unused: Value, build: Builder
) -> tuple[Value | None, ...]:
    """Return what a node gave, with a zero made of the unused input added to one of it."""
    assert end.rank is not None
    zero = build.Cast(false_of(unused, end.rank, build), to=end.elem_type)
    return tuple(
        build.Add(value, zero) if value is not None and maker.output(place) == end else value
        for place, value in enumerate(respell(maker, build))
    )
