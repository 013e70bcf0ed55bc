"""Replace a ScatterND that writes one value where a mask is true by Where.

What it does: PyTorch's exporter writes ``x[mask] = value`` as the places where the mask is true
    (NonZero, Transpose), the value once for each of them (Expand), and ScatterND. That is Where.
    The measure that it lowers is the number of ScatterND nodes.
Why engines need it: The number of places is known at run time only: TensorRT computes sizes in
    shape tensors, which have no two dimensions, and has no NonZero before 8.5.
Before:
    places = Transpose (NonZero (mask))
    y = ScatterND (x, places, Reshape (Expand (value, number of places)))
After: y = Where (mask, value, x)
When it refuses: It leaves alone whatever does not have this form: a mask of another shape than the
    data, more than one value, a reduction.
Accuracy: Exact, bit by bit.
References: https://onnx.ai/onnx/operators/onnx__ScatterND.html, onnx__NonZero.html;
    microsoft/onnxscript onnxscript/function_libs/torch_lib/ops/core.py (index_put)
"""

from onnx import TensorProto

from graphfix.authoring import CANONICAL, Builder, Editor, NodeView, Value, graph_pass

_DEPTH = 8


@graph_pass(
    stage=CANONICAL,
    removes="op:ScatterND op:NonZero*",
    emits="Reshape Where",
    looks_at=["ScatterND", "NonZero"],
)
def scatternd_of_mask_to_where(editor: Editor) -> None:
    """Walk every scope once."""
    for graph in editor.graphs():
        for view in editor.nodes(graph, "ScatterND"):
            if view.domain or view.attr("reduction", "none") != "none":
                continue
            mask, value = _mask(view), _single(view.input(2), _DEPTH)
            if mask is not None and value is not None:
                _replace(editor, view, mask, value)


def _mask(view: NodeView) -> Value | None:
    """Return the mask whose true places are written, in the order in which they are counted."""
    data, places = view.input(0), view.input(1)
    turned = None if places is None else places.producer
    if data is None or turned is None or turned.op != "Transpose" or turned.domain:
        return None
    if list(turned.attr("perm", [1, 0])) != [1, 0]:
        return None
    counted = turned.need(0).producer
    if counted is None or counted.op != "NonZero" or counted.domain:
        return None
    mask = counted.input(0)
    if mask is None or mask.elem_type != TensorProto.BOOL or not data.rank:
        return None
    # A mask that is as wide as the data, axis by axis: each place is one element.
    same = mask.shape is not None and data.shape is not None and mask.shape == data.shape
    return mask if same and None not in (mask.shape or ()) else None


def _single(value: Value | None, depth: int) -> Value | None:
    """Return the one element that a tensor repeats."""
    if value is None or not depth:
        return None
    shape = value.static_shape
    if shape is not None and all(size == 1 for size in shape):
        return value
    maker = value.producer
    if maker is None or maker.domain or maker.op not in ("Expand", "Reshape", "Identity"):
        return None
    return _single(maker.input(0), depth - 1)


def _replace(editor: Editor, view: NodeView, mask: Value, value: Value) -> None:
    data = view.need(0)

    def write(build: Builder) -> Value:
        scalar = value if value.rank == 0 else build.Reshape(value, [])
        return build.Where(mask, scalar, data)

    editor.replace(view, write)
