"""Whether shapes fit together, and whether what a file declares is what its nodes give.

Free dimensions of inputs that can have one size only, because a Reshape has it baked in, are found
here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import cast

import onnx
from msgspec import Struct, structs
from onnx import NodeProto, TensorProto, TypeProto

from graphfix.analysis.inference import shapes_contradict, small_constant, type_text
from graphfix.analysis.shape_inference import read_by_inference
from graphfix.ir.graph import Constant, Node, Tensor, Variable, shape_of_type
from graphfix.ir.model import Model
from graphfix.ir.printing import shell_line, shell_word
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import Form
from graphfix.ir.views import NodeView
from graphfix.validity.complaints import Complaint, Types, called, named

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


_UNKNOWN = ("but instead is null", "type is unknown")  # what inference says where it lacks a type
SCALED = frozenset({"Resize", "Upsample"})
CHECKED_HERE = frozenset({"Conv", "ConvTranspose", "Reshape"})  # more than inference looks at


def inferred_types(
    node: Node, form: Form, types: Types, proto: NodeProto
) -> tuple[dict[str, TypeProto], Complaint | None]:
    """Return the types of what a node gives, or why it cannot be what its inputs say.

    Args:
        node: The node; it has the form of its operator, and no subgraphs.
        form: That form.
        types: Gives the type of a tensor; None while unknown.
        proto: The node as it is to be read; in a function, with the attributes of the call.
    """
    if form.schema.deprecated:  # inference refuses it whatever its inputs are
        return {}, None
    given: dict[str, TypeProto] = {}
    data: dict[str, TensorProto] = {}
    for tensor in node.inputs:
        if not tensor.name:
            continue
        known = types(tensor)
        if known is None:
            return {}, None
        given[tensor.name] = known
        constant = small_constant(tensor)
        if constant is not None:
            data[tensor.name] = constant
    imports = [onnx.helper.make_opsetid(d, v) for d, v in node.graph.opsets.items() if v > 0]
    try:
        found = dict(
            onnx.shape_inference.infer_node_outputs(
                form.schema, read_by_inference(proto, given), given, data, opset_imports=imports
            )
        )
        return _without_rounded(node, found, types), None
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, RuntimeError) as e:
        text = str(e).strip().partition("\n")[0]
    except ValueError:
        return {}, None
    if not text or text.count("(op_type:") or any(part in text for part in _UNKNOWN):
        # Errors inside the function body of an operator are reported by the whole file's inference.
        return {}, None
    view = NodeView(node)
    sides = " and ".join(named(t, types(t)) for t in node.inputs if t.name) or "no input"
    said = text.partition("] ")[2] or text
    kind = "type-contradiction" if "TypeInferenceError" in text else "shape-contradiction"
    message = f"{called(view)} cannot take {sides}: {said.rstrip('.')}"
    return {}, Complaint(kind, message, view, text)


def _without_rounded(node: Node, found: dict[str, TypeProto], types: Types) -> dict[str, TypeProto]:
    """Forget the sizes that come of a scale: ONNX multiplies doubles there, engines floats.

    5 rows times 1.8, which is less than that as a float, are 8 for the one and 9 for the others.
    """
    if node.op not in SCALED or node.domain:
        return found
    before = _shape(types(node.inputs[0])) if node.inputs else None
    for known in found.values():
        dims = known.tensor_type.shape.dim
        same = before if before is not None and len(before) == len(dims) else (None,) * len(dims)
        for dim, old in zip(dims, same, strict=True):
            if dim.HasField("dim_value") and dim.dim_value != old:
                dim.Clear()
    return found


def declared_complaint(node: Node, tensor: Variable, found: TypeProto) -> Complaint | None:
    """Return where a file declares another type or shape than a node gives."""
    declared = tensor.info.type if tensor.info is not None else None
    if declared is None or declared.WhichOneof("value") is None:
        return None
    view = NodeView(node)
    output = tensor.output_count > 0 and node.graph.parent is None
    place = f"output {tensor.name}" if output else tensor.name
    said = f"{called(view)} gives {type_text(found)}; {place} is declared as {type_text(declared)}"
    if declared.WhichOneof("value") != found.WhichOneof("value"):
        return Complaint("output-type-declared" if output else "type-declared", said, view)
    one, shape = shape_of_type(declared)
    two, computed = shape_of_type(found)
    if one and two and one != two:
        return Complaint("output-type-declared" if output else "type-declared", said, view)
    if not shapes_contradict(shape, computed):
        return None
    # Nothing corrects the shape of an output: what is declared there is what callers rely on.
    feature = "model:output-shape-declared" if output else ""
    return Complaint("shape-declared", said, view, feature=feature)


def own_complaint(node: Node, types: Types) -> Complaint | None:
    """Return what ONNX's inference does not look at: channels of Conv, volume of Reshape."""
    if normal_domain(node.domain) or len(node.inputs) < 2:
        return None
    first, second = node.inputs[0], node.inputs[1]
    shape = _shape(types(first))
    if shape is None:
        return None
    view = NodeView(node)
    if node.op == "Reshape":
        return _volume(view, first, second, shape)
    weights = _shape(types(second))
    group = node.attrs.get("group", 1)
    if weights is None or min(len(shape), len(weights)) < 2 or not isinstance(group, int):
        return None
    channels = shape[1]
    wanted = weights[0] if node.op == "ConvTranspose" else weights[1]
    if not isinstance(channels, int) or not isinstance(wanted, int):
        return None
    if node.op == "Conv":
        wanted *= group
    if channels == wanted:
        return None
    sides = f"{named(first, types(first))} and {named(second, types(second))}"
    message = f"{called(view)} cannot take {sides}: {channels} channels where {wanted} are wanted"
    return Complaint("shape-contradiction", message, view)


def _shape(known: TypeProto | None) -> tuple[int | str | None, ...] | None:
    return shape_of_type(known)[1] if known is not None else None


def _volume(
    view: NodeView, data: Tensor, target: Tensor, shape: tuple[int | str | None, ...]
) -> Complaint | None:
    sizes = [dim for dim in shape if isinstance(dim, int)]
    proto = small_constant(target)
    if proto is None or len(sizes) != len(shape) or 0 in sizes:
        return None
    wanted = [int(dim) for dim in onnx.numpy_helper.to_array(proto).reshape(-1)]
    copied = 0 if view.node.attrs.get("allowzero") else 1
    if any(dim == 0 and (not copied or place >= len(sizes)) for place, dim in enumerate(wanted)):
        return None
    wanted = [sizes[place] if dim == 0 else dim for place, dim in enumerate(wanted)]
    if any(dim < -1 for dim in wanted) or wanted.count(-1) > 1:
        return None
    volume, known = prod(sizes), prod(dim for dim in wanted if dim > 0)
    if volume % known == 0 if -1 in wanted else volume == known:
        return None
    constant = "initializer" if isinstance(target, Constant) else "constant"
    message = (
        f"{called(view)} cannot give {data.name} ({', '.join(map(str, sizes))}) the shape "
        f"({', '.join(map(str, wanted))}) of the {constant} {target.name}: "
        f"{volume} elements do not go into {known}"
    )
    return Complaint("shape-contradiction", message, view)
