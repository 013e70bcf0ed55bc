"""What the fuzzer can add to a graph: one recipe for each family of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import helper

from benchmarks.fuzz.scope import (
    BOOL,
    F16,
    F32,
    F64,
    FLOATS,
    I32,
    I64,
    INTS,
    U8,
    Impossible,
    Known,
    Scope,
)

Recipe = Callable[[Scope], None]
RECIPES: list[Recipe] = []


def recipe(weight: int = 1) -> Callable[[Recipe], Recipe]:
    def add(function: Recipe) -> Recipe:
        RECIPES.extend([function] * weight)
        return function

    return add


def axis_of(s: Scope, t: Known) -> int:
    if not t.shape:
        raise Impossible
    rank = len(t.shape)
    return s.rng.randrange(-rank, rank)


def array(s: Scope, shape: tuple[int, ...], elem_type: int) -> Any:
    seed = np.random.default_rng(s.rng.randrange(1 << 30))
    dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    if elem_type == BOOL:
        return seed.integers(0, 2, shape).astype(bool)
    if elem_type in INTS:
        low = 0 if elem_type == U8 else -4
        return seed.integers(low, 5, shape).astype(dtype)
    values = seed.normal(size=shape)
    if s.rng.random() < 0.2:
        values = np.round(values)
    return values.astype(dtype)


@recipe(6)
def unary(s: Scope) -> None:
    ops = {
        "Relu": 7, "Abs": 7, "Neg": 7, "Sigmoid": 7, "Tanh": 7, "Floor": 7, "Ceil": 7, "Sqrt": 7,
        "Erf": 9, "Sign": 9, "Softplus": 7, "LeakyRelu": 7, "Elu": 7, "Selu": 7, "HardSigmoid": 7,
        "HardSwish": 14, "Identity": 7, "Round": 11, "Gelu": 20, "Mish": 18, "ThresholdedRelu": 10,
        "Celu": 12, "Reciprocal": 7, "Sin": 7, "Cos": 7, "Atan": 7, "Exp": 7, "Log": 7,
        "Softsign": 7, "Sinh": 9, "Asinh": 9, "Swish": 24,
    }  # fmt: skip
    op = s.rng.choice(list(ops))
    s.since(ops[op])
    extra: dict[str, Any] = {}
    if op in ("LeakyRelu", "Elu", "Celu", "ThresholdedRelu") and s.rng.random() < 0.5:
        extra["alpha"] = s.rng.choice([0.0, 0.3, 2.0] if op != "Celu" else [0.3, 2.0])
    if op == "Gelu" and s.rng.random() < 0.5:
        extra["approximate"] = "tanh"
    s.emit(op, [s.pick(FLOATS if op not in ("Celu",) else (F32,)).name], **extra)


@recipe(2)
def unary_int(s: Scope) -> None:
    op = s.rng.choice(["Abs", "Neg", "Sign", "Identity", "Relu"])
    if op == "Sign":
        s.since(9)
    if op == "Relu":
        s.since(14)
    s.emit(op, [s.pick((I32, I64)).name])


@recipe(5)
def binary(s: Scope) -> None:
    op = s.rng.choice(["Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Add", "Mul"])
    a = s.pick(FLOATS)
    if s.rng.random() < 0.5:
        b = s.pick((a.elem_type,)).name
    else:
        cut = s.rng.randint(0, len(a.shape))
        shape = tuple(1 if s.rng.random() < 0.3 else d for d in a.shape[cut:])
        b = s.const(array(s, shape, a.elem_type))
    pair = [a.name, b] if s.rng.random() < 0.6 else [b, a.name]
    if op in ("Min", "Max") and s.rng.random() < 0.3:
        pair.append(a.name)
    s.emit(op, pair)


@recipe(3)
def binary_int(s: Scope) -> None:
    op = s.rng.choice(["Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "BitShift", "BitwiseAnd"])
    a = s.pick((I32, I64))
    values = np.abs(array(s, a.shape[s.rng.randint(0, len(a.shape)) :], a.elem_type)) + 1
    if op == "Mod" and s.rng.random() < 0.5:
        values = -values
    b = s.const(values.astype(helper.tensor_dtype_to_np_dtype(a.elem_type)))
    if op == "BitShift":
        raise Impossible
    if op in ("Max", "Min"):
        s.since(12)
    if op == "BitwiseAnd":
        s.since(18)
    if op == "Mod":
        s.since(10)
        s.emit(op, [a.name, b], fmod=s.rng.choice([None, 0, 1]))
    else:
        s.emit(op, [a.name, b])


@recipe(2)
def float_mod(s: Scope) -> None:
    s.since(10)
    a = s.pick(FLOATS)
    b = s.const(array(s, (), a.elem_type) + 2)
    s.emit("Mod", [a.name, b], fmod=1)


@recipe(3)
def compare(s: Scope) -> None:
    op = s.rng.choice(["Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"])
    if op.endswith("OrEqual"):
        s.since(12)
    a = s.pick((F32, F64) if s.opset < 11 and op == "Equal" else (F32, F64, I32, I64))
    if s.opset < 11 and op == "Equal" and a.elem_type in FLOATS:
        raise Impossible
    s.emit(op, [a.name, s.const(array(s, (), a.elem_type))])


@recipe(2)
def logic(s: Scope) -> None:
    op = s.rng.choice(["And", "Or", "Xor", "Not"])
    a = s.pick((BOOL,))
    s.emit(op, [a.name] if op == "Not" else [a.name, s.pick((BOOL,)).name])


@recipe(2)
def where(s: Scope) -> None:
    s.since(9)
    c = s.pick((BOOL,))
    a = s.pick((F32, I64, F16, I32))
    s.emit("Where", [c.name, a.name, s.const(array(s, (), a.elem_type))])


@recipe(2)
def cast(s: Scope) -> None:
    a = s.pick((F32, F16, F64, I32, I64, BOOL, U8))
    to = s.rng.choice([F32, F16, F64, I32, I64, BOOL])
    if a.elem_type in FLOATS and to in (I32, I64):
        a = (
            s.emit("Clip", [a.name, s.const(0, a.elem_type), s.const(9, a.elem_type)])[0]
            if (s.opset >= 12)
            else a
        )
        if s.opset < 12:
            raise Impossible
    s.emit("Cast", [a.name], to=to)


@recipe(2)
def clip(s: Scope) -> None:
    a = s.pick((F32,))
    low, high = sorted([s.rng.uniform(-2, 2), s.rng.uniform(-2, 2)])
    given = s.rng.choice(["both", "low", "high", "none"])
    if s.opset < 11:
        s.emit(
            "Clip", [a.name],
            min=low if given in ("both", "low") else None,
            max=high if given in ("both", "high") else None,
        )  # fmt: skip
        return
    inputs = [a.name]
    inputs.append(s.const(low, F32) if given in ("both", "low") else "")
    if given in ("both", "high"):
        inputs.append(s.const(high, F32))
    s.emit("Clip", inputs)


@recipe(2)
def softmax(s: Scope) -> None:
    a = s.pick((F32, F64), rank=range(1, 6))
    op = s.rng.choice(["Softmax", "LogSoftmax", "Hardmax"])
    s.emit(op, [a.name], axis=s.rng.choice([None, axis_of(s, a) if s.opset >= 11 else 0]))


@recipe(2)
def matmul(s: Scope) -> None:
    a = s.pick((F32, F64), rank=range(1, 5))
    s.emit("MatMul", [a.name, s.const(array(s, (a.shape[-1], 3), a.elem_type))])


@recipe(1)
def gemm(s: Scope) -> None:
    a = s.pick((F32,), rank=(2,))
    flip = s.rng.random() < 0.5
    rows = a.shape[0] if flip else a.shape[1]
    b = s.const(array(s, (rows, 3), F32))
    inputs = [a.name, b]
    if s.opset < 11 or s.rng.random() < 0.7:
        inputs.append(s.const(array(s, s.rng.choice([(3,), (1,), (1, 3)]), F32)))
    s.emit("Gemm", inputs, transA=int(flip), alpha=s.rng.choice([None, 0.5]), beta=0.5)


@recipe(3)
def slicing(s: Scope) -> None:
    a = s.pick((F32, I64, F16, BOOL, I32) if s.opset >= 10 else (F32, I64), rank=range(1, 6))
    axis = axis_of(s, a)
    size = a.shape[axis]
    start = s.rng.randint(-size, max(size - 1, 0))
    end = s.rng.choice([size, (1 << 63) - 1, max(start, 0) + 1, -1, size + 5])
    if s.opset < 10:
        s.emit("Slice", [a.name], starts=[start], ends=[min(end, 2**31 - 1)],
               axes=[axis % len(a.shape)])  # fmt: skip
        return
    inputs = [a.name, s.ints([start]), s.ints([end])]
    step = s.rng.choice([1, 1, 2, -1, -2])
    if step < 0:
        inputs[1:3] = [s.ints([size + 3]), s.ints([s.rng.choice([-(1 << 63), -size - 1, 0])])]
    inputs.append(s.ints([axis]))
    if step != 1 or s.rng.random() < 0.3:
        inputs.append(s.ints([step]))
    s.emit("Slice", inputs)


@recipe(2)
def gather(s: Scope) -> None:
    a = s.pick((F32, I64, I32), rank=range(1, 5))
    axis = axis_of(s, a)
    if s.opset < 11:
        axis %= len(a.shape)
    size = a.shape[axis]
    if not size:
        raise Impossible
    low = -size if s.opset >= 11 else 0
    shape = s.rng.choice([(), (1,), (2,), (2, 2)])
    index = np.array([s.rng.randrange(low, size) for _ in range(int(np.prod(shape)))])
    s.emit("Gather", [a.name, s.const(index.reshape(shape), s.rng.choice([I64, I32]))],
           axis=axis)  # fmt: skip


@recipe(1)
def gather_elements(s: Scope) -> None:
    s.since(11)
    a = s.pick((F32, I64), rank=range(1, 4), fits=lambda t: min(t.shape) > 0)
    axis = axis_of(s, a)
    index = np.array([s.rng.randrange(-a.shape[axis], a.shape[axis]) for _ in range(
        int(np.prod(a.shape)))]).reshape(a.shape)  # fmt: skip
    s.emit("GatherElements", [a.name, s.ints(index)], axis=axis)


@recipe(3)
def scatter(s: Scope) -> None:
    s.since(9)
    a = s.pick((F32, I64, I32), rank=range(1, 4), fits=lambda t: min(t.shape) > 0)
    op = s.rng.choice(["Scatter", "ScatterElements", "ScatterND"])
    reduction = None
    if s.opset >= 16 and s.rng.random() < 0.5:
        reduction = s.rng.choice(["none", "add", "mul"] + ["max", "min"] * (s.opset >= 18))
    if op == "ScatterND":
        s.since(11)
        width = s.rng.randint(1, len(a.shape))
        # Distinct places: what duplicates give is not defined without a reduction.
        first = s.rng.sample(range(a.shape[0]), s.rng.randint(1, a.shape[0]))
        rows = [[i, *(s.rng.randrange(d) for d in a.shape[1:width])] for i in first]
        index = s.ints(rows)
        updates = array(s, (len(first), *a.shape[width:]), a.elem_type)
        s.emit(op, [a.name, index, s.const(updates)], reduction=reduction)
        return
    if op == "ScatterElements":
        s.since(11)
    elif s.opset > 10:
        raise Impossible
    axis = s.rng.randrange(len(a.shape))
    part = s.rng.randint(1, a.shape[axis])
    shape = tuple(part if i == axis else d for i, d in enumerate(a.shape))
    line = np.array(s.rng.sample(range(a.shape[axis]), part))
    view = [1] * len(shape)
    view[axis] = part
    index = s.const(np.broadcast_to(line.reshape(view), shape), s.rng.choice([I64, I32]))
    updates = s.const(array(s, shape, a.elem_type))
    s.emit(op, [a.name, index, updates], axis=axis,
           reduction=reduction if op == "ScatterElements" else None)  # fmt: skip


@recipe(4)
def reshape(s: Scope) -> None:
    a = s.pick((F32, I64, BOOL, F16), rank=range(6), fits=lambda t: 0 not in t.shape)
    form = s.rng.choice(["flat", "keep", "computed", "split", "tail"])
    if form == "flat":
        wanted = s.ints([-1])
    elif form == "keep" and a.shape:
        wanted = s.ints([0, -1])
    elif form == "tail" and len(a.shape) > 1:
        wanted = s.ints([-1, a.shape[-1]])
    elif form == "computed" and a.shape:
        shape = s.emit("Shape", [a.name])[0]
        first = (
            s.emit("Gather", [shape.name, s.ints([0])])[0]
            if s.rng.random() < 0.5
            else (_unsqueeze(s, s.emit("Gather", [shape.name, s.const(0, I64)])[0]))
        )
        joined = s.emit("Concat", [first.name, s.ints([-1])], axis=0)[0]
        node = s.node("Reshape", [a.name, joined.name], [s.names.fresh()])
        s.nodes.append(node)
        s.tensors.append(Known(node.output[0], a.elem_type,
                               (a.shape[0], int(np.prod(a.shape[1:])))))  # fmt: skip
        return
    else:
        wanted = s.ints([1, int(np.prod(a.shape))])
    s.emit("Reshape", [a.name, wanted])


def _unsqueeze(s: Scope, t: Known) -> Known:
    if s.opset >= 13:
        return s.emit("Unsqueeze", [t.name, s.ints([0])])[0]
    return s.emit("Unsqueeze", [t.name], axes=[0])[0]


@recipe(2)
def squeezing(s: Scope) -> None:
    a = s.pick((F32, I64, BOOL), rank=range(5))
    if s.rng.random() < 0.5:
        axis = s.rng.randrange(-(len(a.shape) + 1) if s.opset >= 11 else 0, len(a.shape) + 1)
        inputs = [a.name, s.ints([axis])] if s.opset >= 13 else [a.name]
        s.emit("Unsqueeze", inputs, axes=None if s.opset >= 13 else [axis])
        return
    ones = [i for i, d in enumerate(a.shape) if d == 1]
    if not ones:
        raise Impossible
    if s.rng.random() < 0.3:
        s.emit("Squeeze", [a.name])
        return
    axis = s.rng.choice(ones) - (len(a.shape) if s.opset >= 11 and s.rng.random() < 0.5 else 0)
    inputs = [a.name, s.ints([axis])] if s.opset >= 13 else [a.name]
    s.emit("Squeeze", inputs, axes=None if s.opset >= 13 else [axis])


@recipe(2)
def layout(s: Scope) -> None:
    a = s.pick((F32, I64, F16), rank=range(1, 5))
    op = s.rng.choice(["Transpose", "Flatten", "Shape", "Size", "Tile", "Expand", "Concat"])
    if op == "Transpose":
        perm = list(range(len(a.shape)))
        s.rng.shuffle(perm)
        s.emit(op, [a.name], perm=s.rng.choice([None, perm]))
    elif op == "Flatten":
        low = -len(a.shape) if s.opset >= 11 else 0
        if a.elem_type == I64:
            s.since(9)
        s.emit(op, [a.name], axis=s.rng.randint(low, len(a.shape)))
    elif op == "Shape" and s.opset >= 15:
        s.emit(op, [a.name], start=s.rng.choice([None, 0, 1, -1]), end=s.rng.choice([None, -1, 2]))
    elif op in ("Shape", "Size"):
        s.emit(op, [a.name])
    elif op == "Tile":
        s.emit(op, [a.name, s.ints([s.rng.randint(1, 2) for _ in a.shape])])
    elif op == "Expand":
        s.since(8)
        s.emit(op, [a.name, s.ints([s.rng.choice([1, 2]), *([1] * len(a.shape))])])
    else:
        s.emit(op, [a.name, a.name, s.const(array(s, a.shape, a.elem_type))],
               axis=axis_of(s, a) if s.opset >= 11 else 0)  # fmt: skip


@recipe(1)
def split(s: Scope) -> None:
    a = s.pick((F32, I64), rank=range(1, 5), fits=lambda t: max(t.shape) > 1)
    axis = int(np.argmax(a.shape))
    size = a.shape[axis]
    parts = [1, size - 1]
    if s.opset >= 13:
        s.emit("Split", [a.name, s.ints(parts)], 2, axis=axis)
    else:
        s.emit("Split", [a.name], 2, axis=axis, split=parts)


@recipe(2)
def pad(s: Scope) -> None:
    a = s.pick((F32,), rank=range(1, 5), fits=lambda t: min(t.shape) > 1)
    pads = [s.rng.choice([0, 0, 1]) for _ in range(2 * len(a.shape))]
    mode = s.rng.choice([None, "constant", "reflect", "edge"])
    if s.opset < 11:
        s.emit("Pad", [a.name], pads=pads, mode=mode, value=s.rng.choice([None, 0.5]))
        return
    inputs = [a.name, s.ints(pads)]
    if mode in (None, "constant") and s.rng.random() < 0.5:
        inputs.append(s.const(0.5, F32))
    s.emit("Pad", inputs, mode=mode)


@recipe(4)
def reduce(s: Scope) -> None:
    op = s.rng.choice(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp",
                       "SumSquare"])  # fmt: skip
    a = s.pick((F32, F64) if op not in ("Sum", "Max", "Min") else (F32, I32, I64),
               rank=range(1, 5), fits=lambda t: 0 not in t.shape)  # fmt: skip
    axes = sorted(s.rng.sample(range(len(a.shape)), s.rng.randint(1, len(a.shape))))
    if s.opset >= 11:
        axes = [x - len(a.shape) if s.rng.random() < 0.3 else x for x in axes]
    keep = s.rng.choice([None, 0, 1])
    as_input = s.opset >= (13 if op == "Sum" else 18)
    none = s.rng.random() < 0.2
    if as_input:
        noop = s.rng.choice([None, 0, 1])
        s.emit(f"Reduce{op}", [a.name] if none else [a.name, s.ints(axes)], keepdims=keep,
               noop_with_empty_axes=noop)  # fmt: skip
    else:
        s.emit(f"Reduce{op}", [a.name], axes=None if none else axes, keepdims=keep)


@recipe(1)
def searching(s: Scope) -> None:
    op = s.rng.choice(["ArgMax", "ArgMin", "TopK", "CumSum", "NonZeroless", "OneHot"])
    a = s.pick((F32,), rank=range(1, 4), fits=lambda t: 0 not in t.shape)
    axis = axis_of(s, a) if s.opset >= 11 else s.rng.randrange(len(a.shape))
    if op in ("ArgMax", "ArgMin"):
        last = s.rng.choice([None, 1]) if s.opset >= 12 else None
        s.emit(op, [a.name], axis=axis, keepdims=s.rng.choice([None, 0]), select_last_index=last)
    elif op == "TopK":
        if s.opset >= 10:
            s.emit(op, [a.name, s.ints([1])], 2, axis=axis)
        else:
            s.emit(op, [a.name], 2, axis=axis, k=1)
    elif op == "CumSum":
        s.since(11)
        s.emit(op, [a.name, s.const(axis, I64)], exclusive=s.rng.choice([None, 1]),
               reverse=s.rng.choice([None, 1]))  # fmt: skip
    elif op == "OneHot":
        s.since(11)
        i = s.pick((I64,), rank=(1, 2))
        s.emit(op, [i.name, s.const(5, I64), s.const([0.0, 1.0], F32)], axis=-1)
    else:
        raise Impossible
