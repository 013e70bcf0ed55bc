"""Which axes of the inputs of a site may be shorter, because what it does is the same along them.

Each axis of an input is followed through both sides. Where every operator that meets it does the
same at each of its places (`graphfix.operators.axes`), and nothing of a fixed length goes along it,
what the site does does not depend on how long it is.

What is not known keeps its size: an operator without a row, a tensor of unknown rank, a body, a
shape that is read, the axis of a weight.
"""

from __future__ import annotations

import onnx

from graphfix.ir.protos import all_nodes, normal_domain, required_inputs, subgraphs_of
from graphfix.operators.axes import AXES_OF
from graphfix.proving.inputs.known_sizes import declared_sizes
from graphfix.proving.sites.axes import Axis, Dim, Dims, Side, Unknown, bind, fixed, hand_on
from graphfix.proving.sites.mixing import HANDLERS, Results

_ROUNDS = 4


def input_axes(before: onnx.ModelProto, after: onnx.ModelProto) -> dict[str, Dims]:
    """Return the axes of the inputs of a site; those that are not bound may have another size.

    Args:
        before: The site as it was, see `graphfix.proving.sites.cutting`.
        after: The site as it is, with the same inputs.

    Returns:
        For each input that is a tensor of known rank its dims; those that have to agree have one
        root.
    """
    dims: dict[str, Dims] = {}
    for info in required_inputs(before.graph):
        sizes = declared_sizes(info.type) if info.type.HasField("tensor_type") else None
        if sizes is not None:
            dims[info.name] = [_dim(size) for size in sizes]
    for _ in range(_ROUNDS):
        known = _state(dims)
        for model in (before, after):
            _follow(model, dims)
        if known == _state(dims):
            return dims
    for axes in dims.values():
        bind(axes)
    return dims


def _dim(size: int | str) -> Dim:
    if isinstance(size, str):
        return fixed()  # it is drawn as it is
    return Axis(size) if size > 1 else size


def _state(dims: dict[str, Dims]) -> list[tuple[int, bool, int, int]]:
    roots = [dim.root() for axes in dims.values() for dim in axes if isinstance(dim, Axis)]
    return [(id(root), root.bound, root.least, root.step) for root in roots]


def _follow(model: onnx.ModelProto, dims: dict[str, Dims]) -> None:
    side = Side(model, dims)
    opsets = {normal_domain(entry.domain): entry.version for entry in model.opset_import}
    for node in model.graph.node:
        if not side.constant(node):
            side.dims.update(zip(node.output, _results(side, node, opsets), strict=False))
    for axis in reversed(side.made.values()):
        hand_on(axis)


def _results(side: Side, node: onnx.NodeProto, opsets: dict[str, int]) -> Results:
    domain = normal_domain(node.domain)
    row = AXES_OF.get((domain, node.op_type))
    if row is not None and opsets.get(domain, 1) >= row.since:
        try:
            return HANDLERS[row.mixing](side, node, row)
        except (Unknown, IndexError):
            pass
    read = set(node.input)
    for body in subgraphs_of(node):
        read |= {name for inner in all_nodes(body.node) for name in inner.input}
        read |= {info.name for info in body.output}
    for name in read:
        bind(side.dims.get(name) or ())
    return [None] * len(node.output)
