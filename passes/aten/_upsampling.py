"""The arguments of PyTorch's upsampling operators, in all their overloads."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, operator_of

from ._arguments import ArrayCall, Call, call_of
from ._axes import along_axis, dimensions_of

_SCALES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}


class Line(Struct, frozen=True):
    """How one axis is resampled.

    Attributes:
        axis: The axis.
        size: Its size; None where not known.
        output: Its new size; None where not known.
        scales: What the factor may be that PyTorch was given, where one was: a factor that was
            stored in float32 stands for the number that was written and for the one stored.
    """

    axis: int
    size: int | None
    output: int | None
    scales: tuple[float, ...]


class Upsampling(Struct, frozen=True):
    """An upsampling of [N, C, ...].

    Attributes:
        x: What is resampled.
        align: Whether the corners are aligned; False for nearest.
        lines: The axes, first to last.
        sized: Whether the output size was given, rather than factors.
    """

    x: Value
    align: bool
    lines: tuple[Line, ...]
    sized: bool

    @property
    def is_static(self) -> bool:
        """Whether all sizes are known."""
        return all(line.size and line.output for line in self.lines)


def schema_of(operator: str, *, vector: bool) -> tuple[str, ...]:
    """Return the argument names of an upsampling operator.

    The overload ``vec`` takes a list of factors; the other one factor for each axis.
    """
    middle = () if "nearest" in operator else ("align_corners",)
    last = ("scale_factors",) if vector else _SCALES[dimensions_of(operator)]
    return ("input", "output_size", *middle, *last)


def upsampling_of(node: NodeView, names: Sequence[str]) -> Upsampling:
    """Read an upsampling.

    Raises:
        Refuse: An argument is computed at run time, rank or dtype are unknown or do not fit, or
            neither a size nor factors are given.
    """
    call = _call(node, names)
    spatial = dimensions_of(call.operator)
    x = call.need("input")
    if x.rank is None or not x.elem_type:
        raise Refuse(f"the rank and the dtype of {x.name} must be known")
    if x.rank != spatial + 2:
        raise Refuse(f"the rank of {x.name} must be {spatial + 2}; it is {x.rank}")
    size = call.integers("output_size")
    scales = _scales(call, spatial)
    if size is None and scales is None:
        raise Refuse("the output size or factors must be given")
    if size is not None and len(size) != spatial:
        raise Refuse(
            f"output_size must have an entry for each of {spatial} axes; it has {len(size)}"
        )
    align = "align_corners" in call.schema and bool(call.number("align_corners", 0))
    shown = node.output(0)
    lines: list[Line] = []
    for position in range(spatial):
        axis = 2 + position
        given = () if scales is None else scales[position]
        known = x.dim(axis)
        if size is not None:
            output: int | None = size[position]
        else:
            output = _output(known, given, None if shown is None else shown.dim(axis))
        lines.append(Line(axis, known, output, given))
    return Upsampling(x, align, tuple(lines), size is not None)


def upsampled_shape(node: NodeView, names: Sequence[str]) -> tuple[int, tuple[Any, ...]]:
    """Return element type and shape of what an upsampling gives."""
    found = upsampling_of(node, names)
    kept = (found.x.shape or ())[:2]
    return found.x.elem_type, (*kept, *(line.output for line in found.lines))


def resized(build: Builder, found: Upsampling, mode: str, **attributes: Any) -> Value:
    """Emit a Resize, for sizes that are not known.

    Raises:
        Refuse: The opset is older than 11, whose Resize names its coordinates.
    """
    if build.opset < 11:
        raise Refuse(
            "the sizes of resampled axes must be known, or the opset at least 11; it is "
            f"{build.opset}"
        )
    x = found.x
    roi = None
    if build.opset < 13:  # the schema demands one that nothing reads: the whole input
        rank = len(found.lines) + 2
        roi = build.constant(np.array([0.0] * rank + [1.0] * rank, dtype=np.float32))
    if found.sized:
        empty = None if build.opset >= 13 else build.constant(np.zeros(0, dtype=np.float32))
        kept = build.Slice(build.Shape(x), starts=[0], ends=[2], axes=[0])
        new = np.array([line.output for line in found.lines], dtype=np.int64)
        return build.Resize(x, roi, empty, build.Concat(kept, new, axis=0), mode=mode, **attributes)
    factors = [1.0, 1.0, *(line.scales[0] for line in found.lines)]
    return build.Resize(x, roi, np.array(factors, dtype=np.float32), mode=mode, **attributes)


def lines_of_arrays(
    inputs: Sequence[Any], attributes: Mapping[str, Any], *, nearest: bool
) -> tuple[Array, bool, list[tuple[int, float | None]]]:
    """Read an upsampling from arrays: the input, alignment, (output, factor) of each axis."""
    x = np.asarray(inputs[0])
    spatial = x.ndim - 2
    operator = f"upsample_{'nearest' if nearest else 'linear'}{spatial}d"
    call = ArrayCall(inputs, attributes, schema_of(operator, vector=False))
    size = call.entries("output_size") or ()
    factors: list[float | None] = [None] * spatial
    if "scale_factors" in call.schema:
        factors = list(call.entries("scale_factors") or factors)
    else:
        factors = [call.number(name) for name in call.schema[-spatial:]]
    align = not nearest and bool(call.number("align_corners", 0))
    lines: list[tuple[int, float | None]] = []
    for position, factor in enumerate(factors):
        meant = None if factor is None else _meant(float(factor))[0]
        known = size[position] if size else math.floor(x.shape[2 + position] * (meant or 1.0))
        lines.append((int(known), meant))
    return x, align, lines


def _call(node: NodeView, names: Sequence[str]) -> Call:
    operator, _ = operator_of(node)
    if operator not in names:
        raise Refuse(f"the operator must be one of this pass; it is {operator}")
    vector, single = (schema_of(operator, vector=vector) for vector in (True, False))
    return call_of(node, {operator: single, f"{operator}.vec": vector})


def _scales(call: Call, spatial: int) -> tuple[tuple[float, ...], ...] | None:
    if "scale_factors" in call.schema:
        given = call.entries("scale_factors")
    else:
        each = [call.number(name) for name in call.schema[-spatial:]]
        given = None if all(scale is None for scale in each) else tuple(each)
    if given is None or given == (None,):
        return None
    if len(given) != spatial or any(scale is None or scale <= 0 for scale in given):
        raise Refuse(
            f"there must be a positive factor for each of {spatial} axes; there are {list(given)}"
        )
    return tuple(_meant(float(scale)) for scale in given)


def _meant(scale: float) -> tuple[float, ...]:
    """Return what a factor may have been: PyTorch computes in float64, files store float32."""
    short = np.float32(scale)
    if float(short) != scale:
        return (scale,)
    written = float(str(short))
    return (written,) if written == scale else (written, scale)


def _output(size: int | None, scales: tuple[float, ...], shown: int | None) -> int | None:
    if size is None:
        return shown
    sizes = {math.floor(size * scale) for scale in scales}
    if shown is not None and shown in sizes:
        return shown
    if len(sizes) > 1:
        raise Refuse(f"the rounding of the factor {scales[0]} must not decide the output size")
    found = sizes.pop()
    if shown is not None and shown != found:
        raise Refuse(
            f"the file must declare what the factor gives, {found}; it says that an axis becomes "
            f"{shown}"
        )
    return found


def resampled(
    build: Builder, x: Value, found: Upsampling, weights: Callable[[int, int, float | None], Array]
) -> Value:
    """Return products of the axes with their weights, the last axis first.

    Args:
        build: Where the nodes go.
        x: What is resampled.
        found: How; all sizes are known.
        weights: Gives those of an axis, [output, size], from size, output and factor.
    """
    for line in reversed(found.lines):
        assert line.size is not None
        assert line.output is not None
        matrix = weights(line.size, line.output, line.scales[0] if line.scales else None)
        if line.size != line.output or not np.array_equal(matrix, np.eye(line.size)):
            x = along_axis(build, x, line.axis, matrix)
    return x
