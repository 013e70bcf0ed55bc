"""Let an output that is constant depend on an input.

What it does: Compares one element of an input with itself, s < s, which is false whatever it is,
    and adds the 0 that this is as a number to the constant; to bools it is joined by Or.
Why engines need it: rknn-toolkit2 leaves outputs out that are constants, and refuses models that
    have no others: "All outputs of model are constants, The model is invalid!"
Before: y = Shape (x)                    # of float[2, 3]
After:
    k = Shape (x)
    s = Reshape (Slice (x, [0, 0], [1, 1], [0, 1]), [1])
    y = Add (k, Cast <to = 7> (Less (s, s)))
When it refuses: No input has sizes that are known and above 0, and numbers; the output is neither
    floats, int32, int64 nor bools of known rank. Outputs that are stored and computed by no node
    are left alone.
Accuracy: Exact: nothing is less than itself, NaN neither, and adding 0 changes no number.
References: measured in the simulator of rknn-toolkit2 2.3.2
    https://onnx.ai/onnx/operators/onnx__Less.html
"""

from functools import partial

from onnx import TensorProto

from graphfix.authoring import (
    MAY_DRAW,
    Builder,
    Editor,
    NodeView,
    Refuse,
    Value,
    Variable,
    graph_pass,
    respell,
)

from ._zeros import COMPARED, SUMMED, false_of

_SIZES = frozenset({"Shape", "Size"})
_MOST = 200  # tensors that are looked at


@graph_pass(removes="io:output-of-constants", emits="*::*")
def constant_outputs_hung_on_inputs(editor: Editor) -> None:
    """Look at every output of the main graph."""
    graph = editor.model.graph
    inputs = [Value(t) for t in graph.inputs if isinstance(t, Variable) and t.opaque is None]
    fitting = [v for v in inputs if v.static_shape and 0 not in v.static_shape]
    fed = next((v for v in fitting if v.elem_type in COMPARED), None)
    for end in [Value(tensor) for tensor in graph.outputs if isinstance(tensor, Variable)]:
        maker = end.producer
        if maker is not None and _is_known(end):
            editor.replace(maker, partial(_attached, maker, end, fed))


def _attached(
    maker: NodeView, end: Value, fed: Value | None, build: Builder
) -> tuple[Value | None, ...]:
    """Return what a node gave, with what is false of an input added to one of it."""
    if fed is None:
        raise Refuse("an input must have known sizes above 0 and numbers; none has")
    if end.rank is None or end.elem_type not in (*SUMMED, TensorProto.BOOL):
        raise Refuse(f"{end.name} must be numbers that are added up, of known rank")
    never = false_of(fed, end.rank, build)
    return tuple(
        _joined(value, end, never, build)
        if value is not None and maker.output(place) == end
        else value
        for place, value in enumerate(respell(maker, build))
    )


def _joined(value: Value, end: Value, never: Value, build: Builder) -> Value:
    if end.elem_type == TensorProto.BOOL:
        return build.Or(value, never)
    return build.Add(value, build.Cast(never, to=end.elem_type))


def _is_known(end: Value) -> bool:
    """Say whether a tensor follows from constants and from known sizes alone."""
    pending, seen = [end], {end}
    while pending:
        value = pending.pop()
        maker = value.producer
        if value.is_constant:
            continue
        if maker is None or len(seen) > _MOST or maker.op in MAY_DRAW:
            return False
        if any(True for _ in maker.node.graphs()):  # subgraphs read tensors around them
            return False
        if maker.op in _SIZES:
            if maker.need(0).static_shape is None:
                return False
            continue
        given = [operand for operand in maker.inputs if operand is not None]
        if not given:
            return False
        pending += [operand for operand in given if operand not in seen]
        seen.update(given)
    return True
