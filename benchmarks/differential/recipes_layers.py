"""Recipes for layers: windows, resizing, products, normalisations, recurrence."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.differential.recipes import axis_of, numbers, recipe
from benchmarks.differential.scope import (
    BASE_SIZES,
    F32,
    F64,
    I8,
    I32,
    U8,
    Dim,
    Impossible,
    Known,
    Scope,
)


def image(s: Scope, types: tuple[int, ...], rank: int = 4) -> Known:
    """Return batches of images of a fixed count of channels, H and W apart."""
    found = [t for t in s.visible() if t.rank == rank and t.elem in types
             and isinstance(t.dims[1], int) and t.dims[1] > 0]  # fmt: skip
    if found and s.rng.random() < 0.6:
        return s.rng.choice(found)
    space = {3: ("L",), 4: ("H", "W"), 5: ("L", "H", "W")}[rank]
    dims: tuple[Dim, ...] = ("B", s.rng.choice([1, 2, 4]), *space)
    if s.rng.random() > s.root.dynamic:
        dims = tuple(BASE_SIZES[d] if isinstance(d, str) else d for d in dims)
    return s.new_input(s.rng.choice(types), rank, shape=dims)


def whole(t: Known, axis: int = 1) -> int:
    """Return a dim that is a number of the model.

    Raises:
        Impossible: It is free.
    """
    dim = t.dims[axis]
    if not isinstance(dim, int):
        raise Impossible
    return dim


@recipe("Resize", "Upsample")
def resize(s: Scope, op: str) -> None:
    """Resize by scales or sizes, constant or computed, in each mode."""
    a = image(s, s.types_of(op), s.rng.choice([3, 4, 4, 4, 5]))
    space = a.rank - 2
    factors = [1.0, 1.0] + [s.rng.choice([2.0, 1.5, 0.5, 1.0, 3.0, 0.6]) for _ in range(space)]
    mode = s.rng.choice(["nearest", "linear"])
    if op == "Upsample":
        scales = [max(f, 1.0) for f in factors]
        s.emit(op, [a.name, s.param(scales, [], F32)], mode=mode)
        return
    if s.opset < 11:
        s.emit(op, [a.name, s.param(factors, [], F32)], mode=mode)
        return
    ways = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]
    ways += ["half_pixel_symmetric"] * (s.opset >= 19)
    extra: dict[str, Any] = {
        "mode": s.rng.choice([mode, mode, "cubic"]),
        "coordinate_transformation_mode": s.rng.choice([None, *ways]),
        "nearest_mode": s.rng.choice([None, "floor", "ceil", "round_prefer_ceil"]),
        "exclude_outside": s.rng.choice([None, None, 1]),
        "cubic_coeff_a": s.rng.choice([None, -0.5]),
        "antialias": s.rng.choice([None, None, 1]) if s.opset >= 18 else None,
    }
    if extra["mode"] != "cubic":
        extra["exclude_outside"] = None
    empty = "" if s.opset >= 13 else s.const(np.zeros(0), F32)
    given = list(range(a.rank))
    if s.opset >= 18 and s.rng.random() < 0.5:
        given = list(range(2, a.rank))
        extra["axes"] = given
    if s.rng.random() < 0.5:
        s.emit(op, [a.name, empty, s.param([factors[i] for i in given], [], F32)], **extra)
        return
    sizes = [a.size(i) if i < 2 else s.rng.choice([3, 10, 5, 1]) for i in given]
    if s.opset >= 18 and "axes" in extra:
        policies = [None, "not_larger", "not_smaller", "stretch"]
        extra["keep_aspect_ratio_policy"] = s.rng.choice(policies)
    other = [[a.size(i) if i < 2 else v for i in given] for v in (1, 4, 11)]
    s.emit(op, [a.name, empty, empty, s.param(sizes, other)], **extra)


def _window(s: Scope, space: int) -> dict[str, Any]:
    kernel = [s.rng.choice([1, 2, 3]) for _ in range(space)]
    found: dict[str, Any] = {"kernel_shape": kernel}
    if s.rng.random() < 0.5:
        found["strides"] = [s.rng.choice([1, 2, 3]) for _ in range(space)]
    if s.rng.random() < 0.25:
        found["auto_pad"] = s.rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    elif s.rng.random() < 0.6:
        found["pads"] = [s.rng.randint(0, k - 1) for k in kernel * 2]
    return found


@recipe("Conv", "ConvTranspose", "ConvInteger")
def conv(s: Scope, op: str) -> None:
    """Add a convolution, grouped, strided, dilated, of weights given or computed."""
    a = image(s, s.types_of(op), s.rng.choice([3, 4, 4, 5]))
    channels, space = whole(a), a.rank - 2
    extra = _window(s, space)
    group = s.rng.choice([g for g in (1, 2, channels) if channels % g == 0])
    out = group * s.rng.choice([1, 2])
    kernel = tuple(extra["kernel_shape"])
    shape = (out, channels // group, *kernel) if op != "ConvTranspose" else (
        channels, out // group, *kernel)  # fmt: skip
    if s.rng.random() < 0.3:
        extra["dilations"] = [s.rng.choice([1, 2]) for _ in kernel]
    if op == "ConvTranspose" and "strides" in extra and s.rng.random() < 0.4:
        extra["output_padding"] = [s.rng.randint(0, t - 1) for t in extra["strides"]]
    if s.rng.random() < 0.3:
        del extra["kernel_shape"]
    inputs = [a.name, s.param(numbers(s, shape, a.elem), [], a.elem)]
    if op == "ConvInteger" and s.rng.random() < 0.6:
        inputs.append(s.const(numbers(s, (), a.elem)))
    elif op != "ConvInteger" and s.rng.random() < 0.5:
        inputs.append(s.const(numbers(s, (out,), a.elem)))
    s.emit(op, inputs, group=group if group > 1 else None, **extra)


@recipe("MaxPool", "AveragePool", "LpPool")
def pool(s: Scope, op: str) -> None:
    """Add a pool, with its indices at times."""
    a = image(s, s.types_of(op), s.rng.choice([3, 4, 4, 5]))
    extra = _window(s, a.rank - 2)
    if s.opset >= (18 if op == "LpPool" else 10):
        extra["ceil_mode"] = s.rng.choice([None, 0, 1])
    if s.opset >= {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[op]:
        extra["dilations"] = s.rng.choice([None, [2] * (a.rank - 2)])
    if op == "AveragePool":
        extra["count_include_pad"] = s.rng.choice([None, 0, 1])
    if op == "LpPool":
        extra["p"] = s.rng.choice([None, 1, 2, 3])
    outputs = 2 if op == "MaxPool" and s.rng.random() < 0.3 else 1
    if outputs == 2:
        extra["storage_order"] = s.rng.choice([None, 0, 1])
    s.emit(op, [a.name], outputs, **extra)


@recipe("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "LRN", "Det")
def plain(s: Scope, op: str) -> None:
    """Add a layer of one input."""
    if op == "Det":
        s.emit(op, [s.new_input(F32, 3, shape=("B", 3, 3)).name])
        return
    a = image(s, s.types_of(op), s.rng.choice([3, 4]))
    s.emit(op, [a.name], size=s.rng.choice([1, 3]) if op == "LRN" else None)


@recipe("BatchNormalization", "InstanceNormalization", "GroupNormalization")
def channel_normalisation(s: Scope, op: str) -> None:
    """Normalise by channel or by groups of them."""
    a = image(s, s.types_of(op), s.rng.choice([3, 4]))
    channels = whole(a)
    epsilon = s.rng.choice([None, 1e-2])
    count, extra = channels, dict[str, Any]()
    if op == "GroupNormalization":
        groups = s.rng.choice([1, 2]) if channels % 2 == 0 else 1
        extra["num_groups"] = groups
        count = channels if s.opset >= 21 else groups
    inputs = [a.name, *(s.param(numbers(s, (count,), a.elem), [], a.elem) for _ in range(2))]
    if op == "BatchNormalization":
        inputs.append(s.const(numbers(s, (count,), a.elem)))
        inputs.append(s.const(np.abs(numbers(s, (count,), F64)) + 0.5, a.elem))
    s.emit(op, inputs, epsilon=epsilon, **extra)


@recipe("LayerNormalization", "RMSNormalization", "MeanVarianceNormalization")
def layer_normalisation(s: Scope, op: str) -> None:
    """Normalise the last dims."""
    a = s.pick(s.types_of(op), range(1, 5))
    if op == "MeanVarianceNormalization":
        axes = s.rng.sample(range(a.rank), s.rng.randint(1, a.rank))
        s.emit(op, [a.name], axes=axes if a.rank != 4 or s.rng.random() < 0.6 else None)
        return
    axis = axis_of(s, a)
    tail = a.dims[axis % a.rank :]
    shape = tuple(d if isinstance(d, int) else 1 for d in tail)
    inputs = [a.name, s.param(numbers(s, shape, a.elem), [], a.elem)]
    if op == "LayerNormalization" and s.rng.random() < 0.6:
        inputs.append(s.const(numbers(s, shape, a.elem)))
    count = s.rng.choice([1, 1, 3]) if op == "LayerNormalization" else 1
    s.emit(op, inputs, count, axis=axis, epsilon=s.rng.choice([None, 1e-2]))


@recipe("MatMul", "MatMulInteger", "Gemm")
def product(s: Scope, op: str) -> None:
    """Add a product of matrices, vectors among them."""

    def fits(t: Known) -> bool:
        return isinstance(t.dims[-1], int)

    if op == "Gemm":
        a = s.pick(s.types_of(op), (2,), fits)
        flip = s.rng.choice([0, 1])
        b = numbers(s, (3, whole(a, 1)) if flip else (whole(a, 1), 3), a.elem)
        inputs = [a.name, s.param(b, [], a.elem)]
        if s.opset < 11 or s.rng.random() < 0.6:
            inputs.append(s.const(numbers(s, s.rng.choice([(3,), (1,), (1, 3)]), a.elem)))
        s.emit(op, inputs, transB=flip, alpha=s.rng.choice([None, 0.5]),
               beta=s.rng.choice([None, 2.0]))  # fmt: skip
        return
    a = s.pick(s.types_of(op), range(1, 5), fits)
    elem = s.rng.choice([U8, I8]) if op == "MatMulInteger" else a.elem
    shape = s.rng.choice([(whole(a, -1), 3), (whole(a, -1), 1), (whole(a, -1),)])
    inputs = [a.name, s.param(numbers(s, shape, elem), [], elem)]
    if op == "MatMulInteger" and s.rng.random() < 0.6:
        inputs.append(s.const(numbers(s, (), a.elem)))
        if s.rng.random() < 0.6:
            inputs.append(s.const(numbers(s, (), elem)))
    s.emit(op, inputs)


_EQUATIONS = {
    1: ("i->i", "i,i->", "i,j->ij", "i,i"),
    2: ("ij->ji", "ij,ij->i", "ij,kj->ik", "ij,ij->", "ij->j", "ij,kl->ijkl", "ij,ij->ji", "ij"),
    3: ("bij,bkj->bik", "...ij->...ji", "bij->b", "bij,cij->bc", "bij,bij->bi", "ijk->kij"),
}


@recipe("Einsum")
def einsum(s: Scope, op: str) -> None:
    """Add an Einsum of one or two operands, diagonals among them."""
    if s.rng.random() < 0.2:
        sides: list[Dim] = [3, "B", 1]
        side = s.rng.choice(sides)
        a = s.new_input(s.rng.choice(s.types_of(op)), 2, shape=(side, side))
        s.emit(op, [a.name], equation=s.rng.choice(["ii->i", "ii->", "ii"]))
        return
    a = s.pick(s.types_of(op), range(1, 4))
    equation = s.rng.choice(_EQUATIONS[a.rank])
    s.emit(op, [a.name] * (1 + equation.count(",")), equation=equation)


@recipe("LSTM", "GRU", "RNN")
def recurrent(s: Scope, op: str) -> None:
    """Add a recurrent layer with what it may leave out."""
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    hidden, wide = 3, 2
    way = s.rng.choice(["forward", "reverse", "bidirectional"])
    ways = 2 if way == "bidirectional" else 1
    forms: list[tuple[Dim, ...]] = [("L", "B", wide), ("L", 2, wide), (4, "B", wide)]
    a = s.new_input(F32, 3, shape=s.rng.choice(forms))
    inputs = [a.name, s.const(numbers(s, (ways, gates * hidden, wide), F32)),
              s.const(numbers(s, (ways, gates * hidden, hidden), F32))]  # fmt: skip
    if s.rng.random() < 0.6:
        inputs.append(s.const(numbers(s, (ways, 2 * gates * hidden), F32)))
        if a.dims[1] == 2 and s.rng.random() < 0.5:
            inputs.append(s.param([4, 2], [[1, 1], [3, 2]], I32))
    extra = {"linear_before_reset": s.rng.choice([None, 1])} if op == "GRU" else {}
    s.emit(op, inputs, s.rng.choice([1, 2]), direction=way,
           hidden_size=s.rng.choice([None, hidden]), **extra)  # fmt: skip


@recipe("GridSample", "AffineGrid")
def grid(s: Scope, op: str) -> None:
    """Sample images at places, or make the places."""
    if op == "AffineGrid":
        theta = s.new_input(F32, 3, shape=("B", 2, 3))
        s.emit(op, [theta.name, s.param([2, 1, 3, 5], [[2, 1, 1, 1], [2, 1, 7, 2]])],
               align_corners=s.rng.choice([None, 0, 1]))  # fmt: skip
        return
    a = image(s, (F32,))
    heights: list[Dim] = [3, "L"]
    height = s.rng.choice(heights)
    places = s.new_input(F32, 4, shape=(a.dims[0], height, 2, 2))
    linear, cubic = ("linear", "cubic") if s.opset >= 20 else ("bilinear", "bicubic")
    s.emit(op, [a.name, places.name], mode=s.rng.choice([None, linear, "nearest", cubic]),
           padding_mode=s.rng.choice([None, "zeros", "border", "reflection"]),
           align_corners=s.rng.choice([None, 0, 1]))  # fmt: skip
