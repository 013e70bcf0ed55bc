"""Give each Gather indices of its own.

What it does: Where several Gathers read the same indices from different tensors, or along different
    axes, the second reads ``Max (i, i)``, the third that of these, and so on.
Why engines need it: rknn-toolkit2 takes Gathers of the same indices for one if a constant is among
    what they read from, and gives the values of one for both, without a word.
Before:
    a = Gather (words, i)
    b = Gather (places, i)
After:
    a = Gather (words, i)
    b = Gather (places, Max (i, i))
When it refuses: The element type of the indices is not known, or the opset is below 12.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Max.html; measured in the simulator of
    rknn-toolkit2 2.3.2
"""

from functools import partial

from onnx import TensorProto

from graphfix.authoring import Builder, Editor, NodeView, Refuse, Value, graph_pass

_INTEGERS = (TensorProto.INT32, TensorProto.INT64)
_SINCE = 12  # the opset from which Max takes them


@graph_pass(removes="form:Gather.shared-indices", emits="Gather Max")
def gathers_of_own_indices(editor: Editor) -> None:
    """Look at the Gathers of each graph in their order."""
    for graph in editor.graphs():
        read: dict[Value, list[tuple[Value, int]]] = {}
        for view in editor.nodes(graph, "Gather"):
            indices = _origin(view.need(1))
            if view.domain or indices.is_constant:
                continue
            known = read.setdefault(indices, [])
            place = (view.need(0), int(view.attr("axis", 0)))
            if place not in known:
                known.append(place)
            times = known.index(place)
            if times:
                editor.replace(view, partial(_apart, view, indices, times))


def _origin(value: Value) -> Value:
    while (maker := value.producer) is not None and maker.op == "Identity" and not maker.domain:
        value = maker.need(0)
    return value


def _apart(view: NodeView, indices: Value, times: int, build: Builder) -> Value:
    """Read indices that are as many times the larger of themselves."""
    if indices.elem_type not in _INTEGERS:
        raise Refuse(
            f"{indices.name} must be int32 or int64; it is {indices.type_name or 'unknown'}"
        )
    if build.opset < _SINCE:
        raise Refuse(f"the opset must be {_SINCE} or above; it is {build.opset}")
    own = indices
    for _ in range(times):
        own = build.Max(own, own)
    return build.Gather(view.need(0), own, axis=int(view.attr("axis", 0)))
