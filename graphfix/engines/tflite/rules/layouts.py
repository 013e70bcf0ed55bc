"""TFLite: operators that take the axes of an image as ONNX has them, though its channels are last.

onnx2tf puts the channels of images last, and takes each operator after to lie so, too. Some of its
operators do not ask how their input lies, and some cannot bring what has other axes in line.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from pathlib import Path

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import kept_stepwise, operands, walk
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.engines.tflite.rules.equal_sizes import varies
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import COMPARISONS, ELEMENTWISE, REDUCTIONS

_SOURCE = f"{MEASURED}: facts/asked.json, behind-conv and constants-behind-conv"
_IMAGING = json.loads(Path(__file__).parent.with_name("imaging.json").read_text(encoding="utf-8"))
PICTURES = frozenset(_IMAGING["operators"]) - {"GridSample", "RoiAlign"}
_RANKS = _IMAGING["ranks"]
_IMAGE = 4  # the rank
_SPACE = 2  # the first axis after the channels
# Operators whose output has the layout of their first input.
_KEEPING = frozenset(
    {"Clip", "Dropout", "Identity", "LogSoftmax", "Pad", "Slice", "Softmax", "Split", "Tile"}
)
_MIXING = ELEMENTWISE | {"Concat"}
_MISREADING = ("CumSum", "Einsum", "Flatten", "GatherND", "NonZero", "Trilu", "Unsqueeze")
_CHANNELS_FIRST = [0, 3, 1, 2]


_SUMS = frozenset({"Add", "Div", "Mul", "Sub"})
_NOT_COMMUTING = frozenset({"Div", "Mul", "Sub"})  # onnx2tf turns the operands of Add alone
_IN_FULL = frozenset({"Max", "Min", "Pow", "Where"})
_NOT_IN_LINE = tuple(sorted({"Expand", "ScatterElements", *_SUMS, *_IN_FULL, *COMPARISONS}))
_WITH_CHANNELS = 3  # the rank of what varies along channels, height and width


@rule(_MISREADING, feature="op:{op}", severity=WRONG, source=_SOURCE)
def image_by_other_axes(node: NodeView, target: Target) -> Answer:
    """onnx2tf applies {op} to an image as if its channels were not moved last."""
    image = _image_of(node)
    feature = "" if image is None else _misread(node, image)
    return bool(feature) and Yes(feature=feature)


@rule(
    _NOT_IN_LINE,
    feature="op:{op}",
    severity=REJECT,
    text="Dimensions must be equal",
    source=_SOURCE,
)
def image_beside_other_axes(node: NodeView, target: Target) -> Answer:
    """onnx2tf combines an image, its channels moved last, with a tensor in ONNX order."""
    if node.op in ELEMENTWISE and not any(v is not None and v.is_constant for v in node.inputs):
        return None
    image = _image_of(node)
    feature = "" if image is None else _not_in_line(node, image)
    return bool(feature) and Yes(feature=feature)


@rule(
    tuple(sorted(_NOT_COMMUTING)),
    feature="shape:{op}.fewer-axes",
    severity=REJECT,
    text="Dimensions must be equal",
    source=f"{MEASURED}: facts/asked.json, elementwise-constant: as the second operand, and of as"
    " many axes, it is taken",
)
def constant_of_fewer_axes(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not broadcast a first operand of {op} that is constant and of lower rank."""
    first, second = node.input(0), node.input(1)
    if first is None or second is None or second.rank is None or not first.is_constant:
        return None
    shape = first.static_shape or ()
    if node.op == "Mul" and second.rank < _IMAGE:
        return None
    return len(shape) < second.rank and any(size != 1 for size in shape[:-1])


@rule(
    ("Div", "Sub"),
    feature="shape:{op}.constant-of-batches",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, elementwise-constant",
)
def constant_of_batches(node: NodeView, target: Target) -> Answer:
    """onnx2tf misreads a constant first operand of {op} that varies along the batch only."""
    first, second = node.input(0), node.input(1)
    if first is None or second is None or second.rank != _IMAGE or not first.is_constant:
        return None
    shape = first.static_shape or ()
    return len(shape) == _IMAGE and shape[0] != 1 and all(size == 1 for size in shape[1:])


@rule(
    "Sub",
    feature="shape:Sub.more-axes",
    severity=REJECT,
    text="Dimensions must be equal",
    source=f"{MEASURED}: facts/asked.json, elementwise-constant",
)
def constant_of_more_axes(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support a constant operand of Sub with the higher rank."""
    first, second = node.input(0), node.input(1)
    if first is None or second is None or first.rank is None or not second.is_constant:
        return None
    shape = second.static_shape or ()
    return len(shape) > first.rank > 1 and any(size != 1 for size in shape)


@rule(
    "Transpose",
    feature="form:Transpose.equal-sizes",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, transposed-back: of other sizes, and what MatMul gives,"
    " it is equal",
)
def channels_put_first_of_equal_sizes(node: NodeView, target: Target) -> Answer:
    """onnx2tf takes a tensor of equal sizes for an image when Transpose moves channels first."""
    x = node.input(0)
    if x is None or x.producer is None or list(node.attr("perm", ())) != _CHANNELS_FIRST:
        return None
    sizes = x.shape or ()
    if len(sizes) != _IMAGE or len({*sizes[1:]}) > 1 or not isinstance(sizes[1], int):
        return None
    own = x.producer.op in ("MatMul", "Transpose") or known_with_sizes(x) or sizes[1] == 1
    return not own and _is_after_a_picture(x) and not is_laid_out_as_image(x)


@rule(
    ("Reshape", "Transpose"),
    feature="form:{op}.equal-sizes",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, image-of-equal-sizes and turned-image-of-equal-sizes: of"
    " other sizes it is equal; ops/Conv.py finds the axes by trying, and pads before it does",
)
def image_made_of_equal_sizes(node: NodeView, target: Target) -> Answer:
    """onnx2tf takes an image of equal sizes that {op} makes for one with channels last."""
    x, image = node.input(0), node.output(0)
    if x is None or image is None or image.rank != _IMAGE or not _makes_an_image(node):
        return None
    sizes = {*(image.shape or ())[1:]}
    size = sizes.pop() if len(sizes) == 1 else None
    if not isinstance(size, int) or size == 1 or known_with_sizes(image):
        return None
    after = _is_after_a_picture(x)
    # What MatMul gives is never taken for an image, and inputs without pictures are all ones.
    is_no_image = (
        after if node.op == "Reshape" else x.producer is not None and x.producer.op == "MatMul"
    )
    for reader in readers_by_number(image):
        reduced = after and node.op == "Reshape" and reader.op in REDUCTIONS
        if reduced or (reader.op in PICTURES and not (is_no_image and _is_tried(reader))):
            said = f"onnx2tf confuses the axes of {image.name}, of equal sizes, in {reader.op}"
            uneven = is_no_image and _is_padded_after(reader)
            return Yes(message=said, severity=REJECT if uneven else WRONG)
    return None


def _makes_an_image(node: NodeView) -> bool:
    """Say whether a node puts axes in another order, or makes four axes of others."""
    if node.op == "Reshape":
        return node.need(0).rank != _IMAGE
    perm = [int(axis) for axis in node.attr("perm", ())]
    return perm[:1] == [0] and perm != sorted(perm)


def readers_by_number(value: Value) -> Iterator[NodeView]:
    """Walk what reads a tensor, or what is computed of it and constants number by number."""

    def handed_on(one: Value) -> Iterator[Value]:
        for reader in one.consumers:
            result = reader.output(0)
            computed = [v for v in operands(reader) if not known_with_sizes(v)]
            if reader.op in ELEMENTWISE and len(computed) == 1 and result is not None:
                yield result

    for one in walk([value], handed_on):
        yield from one.consumers


def _is_tried(reader: NodeView) -> bool:
    """Say whether onnx2tf tries the axes of what an operator of images reads."""
    if reader.op != "Conv":
        return reader.op == "InstanceNormalization"
    result = reader.output(0)
    before, after = reader.need(0).shape or (), (result.shape if result else None) or ()
    kept = _is_padded_evenly(reader) and before[_SPACE:] == after[_SPACE:]
    return kept or not any(reader.attr("pads", ()))


def _is_padded_after(reader: NodeView) -> bool:
    """Say whether a Conv takes steps and is padded more at one end: its axes do not fit then."""
    steps = reader.op == "Conv" and max(reader.attr("strides", (1,))) > 1
    return steps and not _is_padded_evenly(reader)


def _is_padded_evenly(reader: NodeView) -> bool:
    pads = list(reader.attr("pads", ()))
    half = len(pads) // 2
    return pads[:half] == pads[half:]


@kept_stepwise(in_a_loop=False)
def _is_after_a_picture(value: Value) -> Generator[Value, bool, bool]:
    """Say whether an operator of images is before a tensor."""
    maker = value.producer
    if maker is None or maker.op in PICTURES:
        return maker is not None
    for operand in operands(maker):
        if (yield operand):
            return True
    return False


def _image_of(node: NodeView) -> Value | None:
    """Return the first input of a node with the layout of an image."""
    return next((v for v in node.inputs if v is not None and is_laid_out_as_image(v)), None)


@kept_stepwise(in_a_loop=False)
def is_laid_out_as_image(value: Value) -> Generator[Value, bool, bool]:
    """Say whether a tensor comes of a picture through nodes that keep the channels last."""
    maker = value.producer
    if maker is None or value.rank not in _RANKS:
        return False
    if maker.op in PICTURES:
        return True
    given = operands(maker)
    keeps = maker.op in _KEEPING or (maker.op in REDUCTIONS and maker.attr("keepdims", 1))
    for operand in given[:1] if keeps else given if maker.op in _MIXING else ():
        if (yield operand):
            return True
    return False


def _misread(node: NodeView, image: Value) -> str:
    """Return the feature of a reader that computes something else; empty where it does not."""
    rank = image.rank or 0
    if node.op == "Unsqueeze":
        given = node.input(1)
        axes = node.attr("axes", None) if given is None else given.array()
        if axes is None or len(axes) != 1:
            return ""
        first = int(axes[0]) % (rank + 1) < _SPACE
        return "form:Unsqueeze.image" if first or rank > _IMAGE else ""
    if node.op == "Flatten":  # where numbers differ, the axes are found by trying
        right = int(node.attr("axis", 1)) == _SPACE or varies(image)
        return "" if right else "attr:Flatten.axis"
    if node.op == "CumSum":
        axis = node.need(1).array()
        along = axis is not None and int(axis.reshape(-1)[0]) % rank
        return "op:CumSum" if along else ""
    if node.op == "GatherND":
        return "" if image != node.input(0) or node.attr("batch_dims", 0) else "op:GatherND"
    if node.op == "Einsum":
        return "" if _keeps_channels(node, rank) else "op:Einsum"
    return f"op:{node.op}" if node.op in ("NonZero", "Trilu") else ""


def _keeps_channels(node: NodeView, rank: int) -> bool:
    """Say whether an Einsum was seen to be right: for each channel of each image, or put last."""
    terms, arrow, result = str(node.attr("equation", "")).replace(" ", "").partition("->")
    operands = terms.split(",")
    if not arrow or any(len(term) != rank or "." in term for term in (*operands, result)):
        return False
    (first, *_) = operands
    last = first[0] + first[_SPACE:] + first[1]
    return (
        all(t[:_SPACE] == first[:_SPACE] for t in (*operands, result))
        and (len(operands) > 1 or result == first)
    ) or [*operands, result] == [first, last]


def _not_in_line(node: NodeView, image: Value) -> str:
    """Return the feature of a reader that is not converted; empty where it is."""
    rank = image.rank or 0
    if node.op == "Expand":
        wanted = node.output(0)
        more = wanted is not None and wanted.rank is not None and wanted.rank > rank
        return "form:Expand.more-axes" if more else ""
    if node.op == "ScatterElements":
        return "op:ScatterElements" if int(node.attr("axis", 0)) % rank == 1 else ""
    for place, value in enumerate(node.inputs):
        if value is None or not value.is_constant or node.op not in ELEMENTWISE:
            continue
        shape = value.static_shape
        if shape is None or len(shape) > rank or all(size == 1 for size in shape):
            continue
        padded = (1,) * (rank - len(shape)) + shape
        said = _of_constant(node.op, rank, padded, len(shape), first=place == 0)
        if said:
            return said
    return ""


def _of_constant(op: str, rank: int, shape: tuple[int, ...], axes: int, *, first: bool) -> str:
    """Return the feature of a constant next to an image; empty where it is brought in line.

    Args:
        op: The operator that reads both.
        rank: That of the image.
        shape: That of the constant, with ones for the axes that it has not.
        axes: How many it has.
        first: Whether it is the first operand.
    """
    varying = [axis for axis, size in enumerate(shape) if axis and size != 1]
    if op in COMPARISONS:
        return f"shape:{op}.image-constant"
    if op in _IN_FULL:
        return f"shape:{op}.fewer-axes" if axes < rank else ""
    if op not in _SUMS or rank != _IMAGE:
        return ""
    plane = axes == rank - _SPACE and not first
    if len({*shape[1:]}) == 1:  # `tensor_of_equal_sizes` judges it
        return ""
    if len(varying) > 1 and not plane:
        return f"shape:{op}.image-constant"
    aside = axes == _WITH_CHANNELS and varying != [1]
    return f"shape:{op}.fewer-axes" if aside or (first and axes < rank and op != "Add") else ""
