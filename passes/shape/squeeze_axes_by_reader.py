"""Write the axes on a Squeeze whose reader takes one rank only.

What it does: Where sizes are unknown, but what reads the result takes a single rank (Gemm takes 2,
    a Transpose as many as its perm has), the axes that go are those whose size is known to be 1, if
    that leaves the rank that is wanted. Squeeze and reader are written again.
Why engines need it: TensorRT cannot tell which axes go while sizes are dynamic ("Cannot infer
    squeeze dimensions from a dynamic shape!"). PyTorch writes such a Squeeze for x.squeeze() before
    a classifier.
Before: y = Gemm (Squeeze (x), w)                    # x: float[N,C,1,1]
After: y = Gemm (Squeeze <axes = [2, 3]> (x), w)
When it refuses: The rank of the input is unknown, a reader takes several ranks, or the sizes known
    to be 1 are more or fewer than those that must go.
Accuracy: Exact wherever the model runs: were another size 1, its reader would get another rank and
    fail.
References: https://onnx.ai/onnx/operators/onnx__Squeeze.html; onnx/onnx-tensorrt 8.6
    builtin_op_importers.cpp:4773
"""

from functools import partial

from graphfix.authoring import Builder, Editor, NodeView, Value, graph_pass

# What takes one rank whatever its attributes are.
_RANKS = {"Gemm": 2, "GRU": 3, "LSTM": 3, "RNN": 3}
_BY_KERNEL = ("AveragePool", "MaxPool")
_BY_WEIGHTS = ("Conv", "ConvTranspose")


@graph_pass(
    removes="form:Squeeze.no-axes",
    emits=("Squeeze", "Transpose", *_RANKS, *_BY_KERNEL, *_BY_WEIGHTS),
)
def squeeze_axes_by_reader(editor: Editor) -> None:
    """Look at every Squeeze without axes whose sizes are not all known."""
    for graph in editor.graphs():
        for view in editor.nodes(graph, "Squeeze"):
            if view.domain or view.input(1) is not None or view.attr("axes"):
                continue
            shape = view.need(0).shape
            if shape is None or all(isinstance(size, int) for size in shape):
                continue
            _write(editor, view, shape)


def _write(editor: Editor, view: NodeView, shape: tuple[int | str | None, ...]) -> None:
    output = view.output(0)
    if output is None or output.is_graph_output:
        return
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    readers = list(dict.fromkeys(output.consumers))
    for reader in readers:
        wanted = _rank(reader, output)
        if wanted is None:
            editor.refuse(view, f"{reader.op} must take one rank alone; it takes several")
            return
        if wanted != len(shape) - len(ones):
            editor.refuse(
                view,
                f"{reader.op} must be given rank {wanted}; the sizes known to be 1 leave rank "
                f"{len(shape) - len(ones)}: say the others with --shape",
            )
            return
    for reader in readers:
        editor.replace(reader, partial(_again, reader, output, view.need(0), ones))


def _rank(reader: NodeView, value: Value) -> int | None:
    """Return the rank that a node takes at each place where it reads a value; None for any."""
    places = [place for place, read in enumerate(reader.inputs) if read == value]
    if reader.domain or any(True for _ in reader.node.graphs()):
        return None
    if places != [0] and not (reader.op == "Gemm" and set(places) <= {0, 1}):
        return None
    if reader.op == "Transpose":
        return len(reader.attr("perm", ())) or None
    if reader.op in _BY_KERNEL:
        return len(reader.attr("kernel_shape", ())) + 2 if reader.has("kernel_shape") else None
    if reader.op in _BY_WEIGHTS:
        return reader.need(1).rank
    return _RANKS.get(reader.op)


def _again(
    reader: NodeView, old: Value, data: Value, axes: list[int], build: Builder
) -> tuple[Value | None, ...]:
    new = build.Squeeze(data, axes=axes) if axes else data
    operands = [new if read == old else read for read in reader.inputs]
    attributes = reader.written()
    made = build.multi(reader.op, *operands, outputs=len(reader.outputs), **attributes)
    return tuple(
        value if known is not None else None
        for value, known in zip(made, reader.outputs, strict=True)
    )
