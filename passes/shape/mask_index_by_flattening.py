"""Mend x[mask] with a mask of several dimensions, as PyTorch exports it below opset 11.

What it does: The exporter writes x[mask] as Gather (x, Squeeze (Transpose (NonZero (mask)), axis
    1)). That holds for a vector; for a mask of r dimensions the Squeeze is of an axis of size r,
    and the file runs with no input at all. The mask is flattened, and with it the r first axes of
    x, which then are one axis; this is what x[mask] means.
Why engines need it: Every engine refuses the Squeeze ("reshape would change volume"). The exporter
    warns: "Only 1-D indices are supported. In any other case, this will produce an incorrect ONNX
    graph."
Before:
    i = Squeeze <axes = [1]> (Transpose <perm = [1, 0]> (NonZero (mask)))   mask: [3, 4]
    y = Gather <axis = 0> (x, i)                                            x: [3, 4, 5]
After:
    i = Squeeze <axes = [1]> (Transpose <perm = [1, 0]> (NonZero (Reshape (mask, {-1}))))
    y = Gather <axis = 0> (Reshape (x, {-1, 5}), i)
When it refuses: Something else reads the indices, the axis is not 0, a rank or a size is unknown,
    or the first axes of x are not those of the mask.
Accuracy: Exact in that the nodes that are replaced run with no input at all; what the new ones
    compute is what the exporter was given. No comparison can show that, so that the run does not
    end with 0.
References: pytorch/pytorch torch/onnx/_internal/torchscript_exporter/symbolic_opset9.py (index);
    https://pytorch.org/docs/stable/tensor_view.html (indexing by a mask of bools)
"""

from onnx import TensorProto

from graphfix.authoring import Builder, Editor, NodeView, Refuse, Value, graph_pass

NOTE = "runs with no input as it was exported; read as PyTorch's x[mask], which it was made from"


@graph_pass(removes="shape:Squeeze.not-1", emits="Gather NonZero Reshape Squeeze Transpose")
def mask_index_by_flattening(editor: Editor) -> None:
    """Look at every Squeeze of an axis that is not 1."""
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            mask = _mask(view)
            if mask is None:
                continue
            try:
                gather, lasting = _use(view, mask)
            except Refuse as refusal:
                editor.refuse(view, refusal.reason)
                continue
            _mend(editor, view, gather, mask, lasting)


def _mend(
    editor: Editor, squeeze: NodeView, gather: NodeView, mask: Value, lasting: list[int]
) -> None:
    def indices(build: Builder) -> Value:
        places = build.NonZero(build.Reshape(mask, [-1]))
        return build.Squeeze(build.Transpose(places, perm=[1, 0]), axes=[1])

    def elements(build: Builder) -> Value:
        flat = build.Reshape(gather.need(0), [-1, *lasting])
        return build.Gather(flat, gather.need(1), axis=0)

    if editor.replace(squeeze, indices, note=NOTE, unproved=True):
        editor.replace(gather, elements, note=NOTE, unproved=True)


def _mask(view: NodeView) -> Value | None:
    """Return the mask whose places a Squeeze of the wrong axis is made of; None for others."""
    if view.op != "Squeeze" or view.domain:
        return None
    given = view.input(1)
    axes = view.attr("axes") if given is None else given.array()
    turned = view.need(0).producer
    if axes is None or [int(axis) for axis in axes] != [1] or turned is None:
        return None
    if turned.op != "Transpose" or list(turned.attr("perm", [1, 0])) != [1, 0]:
        return None
    places = turned.need(0).producer
    mask = places.input(0) if places is not None and places.op == "NonZero" else None
    return mask if mask is not None and mask.rank is not None and mask.rank > 1 else None


def _use(squeeze: NodeView, mask: Value) -> tuple[NodeView, list[int]]:
    """Return the Gather that reads the indices, and the sizes of the axes that the mask leaves."""
    index = squeeze.output(0)
    assert index is not None  # a Squeeze has an output
    only = _reader(index)
    if only.op == "Cast" and only.attr("to") in (TensorProto.INT64, TensorProto.INT32):
        cast = only.output(0)
        assert cast is not None  # so has a Cast
        index, only = cast, _reader(cast)
    data = only.input(0)
    if only.op != "Gather" or data is None or only.need(1).name != index.name:
        raise Refuse("Gather alone must read the places of the mask; something else does")
    if only.attr("axis", 0) != 0:
        raise Refuse(f"the mask must be for axis 0; it is for axis {only.attr('axis')}")
    if data.shape is None or mask.shape is None or len(data.shape) < len(mask.shape):
        raise Refuse(f"the rank of {data.name} must be known and at least that of the mask")
    rank = len(mask.shape)
    if None in mask.shape or data.shape[:rank] != mask.shape:
        raise Refuse(
            f"the first axes of {data.name} must be those of the mask; they are not known to be"
        )
    lasting = [size for size in data.shape[rank:] if isinstance(size, int) and size > 0]
    if len(lasting) != len(data.shape) - rank:
        raise Refuse(f"the sizes of {data.name} after the mask must be known and not 0")
    return only, lasting


def _reader(value: Value) -> NodeView:
    readers = value.consumers
    if len(readers) != 1 or value.is_graph_output:
        raise Refuse("the places of the mask must be read once; they are read several times")
    return readers[0]
