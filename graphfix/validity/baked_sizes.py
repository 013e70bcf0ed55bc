"""Free dimensions of inputs that can have one size only, because a Reshape has it baked in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import cast

import onnx
from msgspec import Struct, structs
from onnx import TensorProto

from graphfix.analysis.inference import small_constant
from graphfix.ir.graph import Constant, Node, Tensor, Variable, shape_of_type
from graphfix.ir.model import Model
from graphfix.ir.printing import shell_line, shell_word
from graphfix.ir.views import NodeView
from graphfix.validity.complaint import Complaint, called
from graphfix.validity.element_types import Types

KIND = "baked-size"
Sizes = tuple[int | str | None, ...]


class FreeSide(Struct, frozen=True):
    """A dimension that the caller of a model chooses.

    Attributes:
        name: The input.
        axis: Which of its dimensions.
        shape: All of them.
        path: The file of the model; what stands for it where there is none.
        others: The other inputs that have its symbol, by name.
    """

    name: str
    axis: int
    shape: Sizes
    path: str = "MODEL.onnx"
    others: tuple[tuple[str, Sizes], ...] = ()


def free_sides(model: Model) -> dict[str, FreeSide]:
    """Return the free dimensions of the inputs: by symbol, or by ``input axis`` without one."""
    found: dict[str, FreeSide] = {}
    shapes: dict[str, Sizes] = {}
    for tensor in model.graph.inputs:
        shape = tensor.shape if isinstance(tensor, Variable) else None
        shapes[tensor.name] = tuple(shape or ())
        for axis, dim in enumerate(shape or ()):
            if not isinstance(dim, int):
                key = dim or f"{tensor.name} {axis}"
                side = FreeSide(
                    tensor.name, axis, tuple(shape or ()), str(model.path or "MODEL.onnx")
                )
                found.setdefault(key, side)
    for key, side in found.items():
        named = [(name, shape) for name, shape in shapes.items() if key in shape]
        others = tuple((name, shape) for name, shape in named if name != side.name)
        found[key] = structs.replace(side, others=others)
    return found


def baked_sizes(node: Node, types: Types, free: Mapping[str, FreeSide]) -> Iterator[Complaint]:
    """Yield the dimension that a Reshape to a constant shape leaves one size to.

    Both sides of a Reshape have the same number of elements. Where all of the new sizes are
    given, and all of the old ones but one, that one follows. A branch may not run at all, so
    subgraphs are left out.

    Args:
        node: A node of the default domain.
        types: Gives the type of a tensor; None while unknown.
        free: What `free_sides` says.
    """
    if node.op != "Reshape" or len(node.inputs) < 2 or not free or node.graph.parent is not None:
        return
    data, target = node.inputs[0], node.inputs[1]
    known = types(data)
    shape = shape_of_type(known)[1] if known is not None else None
    wanted = _constant(target)
    if shape is None or wanted is None:
        return
    open_axes = [axis for axis, dim in enumerate(shape) if not isinstance(dim, int)]
    given = [dim for dim in shape if isinstance(dim, int)]
    if len(open_axes) != 1 or 0 in given:
        return
    side = free.get(str(shape[open_axes[0]] or f"{data.name} {open_axes[0]}"))
    sizes = _copied(wanted, shape, allowed=bool(node.attrs.get("allowzero")))
    if side is None or sizes is None or prod(sizes) % prod(given):
        return
    yield _complaint(NodeView(node), target, sizes, side, prod(sizes) // prod(given))


def _constant(target: Tensor) -> list[int] | None:
    maker = target.inputs[0] if target.inputs else None
    if maker is not None and maker.op == "Constant" and not maker.domain:
        written = maker.attrs.get("value_ints")
        if isinstance(written, list | tuple):
            return [int(size) for size in cast("Sequence[int]", written)]
    proto = small_constant(target)
    if proto is None or proto.data_type != TensorProto.INT64:
        return None
    return [int(size) for size in onnx.numpy_helper.to_array(proto).reshape(-1)]


def _copied(wanted: list[int], shape: Sizes, *, allowed: bool) -> list[int] | None:
    """Return the new sizes with a 0 replaced by what it copies; None where one is not given."""
    sizes: list[int] = []
    for place, size in enumerate(wanted):
        copied = shape[place] if size == 0 and not allowed and place < len(shape) else size
        if not isinstance(copied, int) or copied < 1:
            return None
        sizes.append(copied)
    return sizes


def _complaint(
    view: NodeView, target: Tensor, sizes: list[int], side: FreeSide, size: int
) -> Complaint:
    kind = "initializer" if isinstance(target, Constant) else "constant"
    symbol = side.shape[side.axis]
    shown = f"dimension {side.axis}{f' ({symbol})' if symbol else ''} of the input {side.name}"
    bound = [
        size if axis == side.axis or (symbol and dim == symbol) else dim or "?"
        for axis, dim in enumerate(side.shape)
    ]
    fixed = "x".join(str(dim) if isinstance(dim, int) else f"<{dim}>" for dim in bound)
    own = " with sizes of your own" if "<" in fixed else ""
    message = (
        f"{shown} is free, and runs with the size {size} alone: {called(view)} has the shape "
        f"({', '.join(map(str, sizes))}) of the {kind} {target.name} baked in; "
        f"say --shape {shell_word(f'{side.name}={fixed}')}{own}{_freeing(side, size)}"
    )
    return Complaint(KIND, message, view)


def _freeing(side: FreeSide, size: int) -> str:
    """Return the command that makes a dimension free with the constants it is baked into.

    All inputs that have its symbol are freed together. It is empty where one has the symbol twice,
    which no edit frees.
    """
    symbol = side.shape[side.axis]
    inputs = [(side.name, side.shape), *side.others]
    if any(symbol and shape.count(symbol) > 1 for _, shape in inputs):
        return ""
    fitting = isinstance(symbol, str) and symbol.isidentifier() and "x" not in symbol
    new = symbol if fitting else "N"  # an x parts the sizes

    def text(name: str, shape: Sizes, value: object) -> str:
        place = shape.index(symbol) if symbol else side.axis
        sizes = ["?" if not isinstance(dim, int) else str(dim) for dim in shape]
        sizes[place] = str(value)
        return f"{name}={'x'.join(sizes)}"

    words = ("graphfix", "edit", side.path, "--shape", text(side.name, side.shape, size))
    freed = ",".join(text(name, shape, new) for name, shape in inputs)
    return f", or free it: {shell_line((*words, '--dynamic', freed, '-o', 'OUT.onnx'))}"
