"""Give each reader of what DequantizeLinear gives a DequantizeLinear of its own.

What it does: Where scales go along another axis than 1 and several nodes read the result, or one
    node twice, all but the first get a copy of the node; where the result is an output too, or a
    subgraph reads it, all do.
Why engines need it: onnxruntime 1.15 and 1.16 make these copies when they load a file, and forget
    the axis: the copies have axis 1, and are computed wrongly where both axes are of one size, or
    not at all.
Before:
    w = DequantizeLinear <axis = 0> (q, s)             # q: int8[4,4], s: float[4]
    a = MatMul (x, w)
    b = MatMul (y, w)
After:
    w1 = DequantizeLinear <axis = 0> (q, s)
    a = MatMul (x, w1)
    w2 = DequantizeLinear <axis = 0> (q, s)
    b = MatMul (y, w2)
When it refuses: A reader has subgraphs.
Accuracy: Exact: the same node.
References: https://github.com/microsoft/onnxruntime/pull/18039; measured on onnxruntime 1.15.1,
    1.16.3 and 1.17.1
"""

from functools import partial

from graphfix.authoring import Builder, Editor, NodeView, Refuse, Tensor, Value, graph_pass

_OP = "DequantizeLinear"


@graph_pass(removes=f"form:{_OP}.shared", emits="*::*", looks_at=(_OP,), claims="nan inf")
def shared_dequantize_apart(editor: Editor) -> None:
    """Look at every DequantizeLinear along another axis than 1."""
    for graph in editor.graphs():
        for node in editor.nodes(graph, _OP):
            if node.domain or not _along_another_axis(node):
                continue
            tensor = node.node.outputs[0]
            readers = {id(reader): reader for reader in tensor.outputs}
            inner = [reader for reader in readers.values() if reader.graph is graph]
            kept = len(inner) == len(readers) and not tensor.output_count
            edges = sum(given is tensor for reader in inner for given in reader.inputs)
            if edges < 2 and kept:
                continue
            for reader in inner:
                view = NodeView(reader)
                editor.replace(view, partial(_with_copies, node, view, tensor, kept))
                kept = False


def _along_another_axis(node: NodeView) -> bool:
    """Say whether there are several scales, not along axis 1, as far as is known."""
    axis, rank, scale = int(node.attr("axis", 1)), node.need(0).rank, node.need(1)
    single = scale.rank == 0 or scale.dim(0) == 1
    return not single and (axis if rank is None else axis % rank) != 1


def _with_copies(
    node: NodeView, reader: NodeView, tensor: Tensor, kept: bool, build: Builder
) -> tuple[Value | None, ...]:
    """Write a reader again; its first edge reads the node itself where that is `kept`."""
    if any(True for _ in reader.node.graphs()):
        raise Refuse(f"{reader.op} {reader.name!r} must have no subgraphs; it has some")
    operands: list[Value | None] = []
    for given in reader.inputs:
        if given is not None and given.tensor is tensor and not kept:
            given = build.multi(_OP, *node.inputs, **node.written())[0]
        elif given is not None and given.tensor is tensor:
            kept = False
        operands.append(given)
    results = build.multi(
        reader.op,
        *operands,
        outputs=len(reader.outputs),
        domain=reader.domain,
        **reader.written(),
    )
    return tuple(
        None if old is None else new for old, new in zip(reader.outputs, results, strict=True)
    )
