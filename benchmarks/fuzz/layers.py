"""Recipes for layers: images, windows, normalisations, and what makes tensors from nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from benchmarks.fuzz.recipes import RECIPES, array, recipe
from benchmarks.fuzz.scope import BOOL, F32, FLOATS, I32, I64, U8, Impossible, Known, Scope


def _image(s: Scope) -> Known:
    return s.pick(
        (F32,), rank=(4,), fits=lambda t: min(t.shape) >= 1 and t.shape[2] * t.shape[3] > 3
    )


@recipe(3)
def resizing(s: Scope) -> None:
    a = _image(s)
    mode = s.rng.choice(["nearest", "linear"])
    factor = s.rng.choice([1.0, 2.0, 1.5, 0.5])
    scales = s.const([1.0, 1.0, factor, s.rng.choice([factor, 2.0])], F32)
    if s.opset < 9:
        s.emit("Upsample", [a.name], mode=mode, scales=[1.0, 1.0, 2.0, 2.0])
    elif s.opset < 10:
        s.emit("Upsample", [a.name, s.const([1.0, 1.0, 2.0, 2.0], F32)], mode=mode)
    elif s.opset < 11:
        s.emit("Resize", [a.name, scales], mode=mode)
    else:
        roi = "" if s.opset >= 13 or s.rng.random() < 0.3 else s.const(np.zeros(0), F32)
        way = s.rng.choice([None, "half_pixel", "align_corners", "asymmetric",
                            "pytorch_half_pixel"])  # fmt: skip
        near = s.rng.choice([None, "floor", "ceil", "round_prefer_ceil"])
        if s.rng.random() < 0.4:
            sizes = s.ints([*a.shape[:2], a.shape[2] + s.rng.randint(0, 3), a.shape[3] * 2])
            inputs = [a.name, roi, "" if s.opset >= 13 else s.const(np.zeros(0), F32), sizes]
        else:
            inputs = [a.name, roi, scales]
        s.emit("Resize", inputs, mode=s.rng.choice([mode, mode, "cubic"]),
               coordinate_transformation_mode=way, nearest_mode=near)  # fmt: skip


@recipe(3)
def windows(s: Scope) -> None:
    a = _image(s)
    op = s.rng.choice(
        [
            *("Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LRN"),
            *("BatchNormalization", "InstanceNormalization", "DepthToSpace"),
        ]
    )
    channels = a.shape[1]
    if op == "Conv":
        w = s.const(array(s, (2, channels, 2, 2), F32))
        inputs = [a.name, w] + ([s.const(array(s, (2,), F32))] if s.rng.random() < 0.5 else [])
        s.emit(op, inputs, kernel_shape=s.rng.choice([None, [2, 2]]),
               pads=s.rng.choice([None, [1, 0, 1, 1]]))  # fmt: skip
    elif op in ("MaxPool", "AveragePool"):
        extra: dict[str, Any] = {}
        if s.opset >= 10:
            extra["ceil_mode"] = s.rng.choice([None, 0, 1])
        if (op == "MaxPool" and s.opset >= 10) or s.opset >= 19:
            extra["dilations"] = s.rng.choice([None, [1, 1], [2, 1]])
        if op == "AveragePool":
            extra["count_include_pad"] = s.rng.choice([None, 1])
        kernel = s.rng.choice([[2, 2], [1, 2], [2, 1]])
        s.emit(op, [a.name], 2 if op == "MaxPool" and s.opset >= 8 and s.rng.random() < 0.2 else 1,
               kernel_shape=kernel, strides=s.rng.choice([None, [2, 1]]), **extra)  # fmt: skip
    elif op == "BatchNormalization":
        scale, bias, mean = (s.const(array(s, (channels,), F32)) for _ in range(3))
        s.emit(op, [a.name, scale, bias, mean, s.const(np.abs(array(s, (channels,), F32)) + 0.5)])
    elif op == "InstanceNormalization":
        s.emit(op, [a.name, *(s.const(array(s, (channels,), F32)) for _ in range(2))])
    elif op == "LRN":
        s.emit(op, [a.name], size=3)
    elif op == "DepthToSpace":
        if channels % 4:
            raise Impossible
        s.emit(op, [a.name], blocksize=2)
    else:
        s.emit(op, [a.name])


@recipe(2)
def normalising(s: Scope) -> None:
    a = s.pick((F32,), rank=range(2, 5), fits=lambda t: t.shape[-1] > 1 and 0 not in t.shape)
    op = s.rng.choice(["LayerNormalization", "GroupNormalization", "RMSNormalization",
                       "MeanVarianceNormalization", "LpNormalization"])  # fmt: skip
    if op == "LayerNormalization":
        s.since(17)
        inputs = [a.name, s.const(array(s, a.shape[-1:], F32))]
        if s.rng.random() < 0.6:
            inputs.append(s.const(array(s, a.shape[-1:], F32)))
        s.emit(op, inputs, axis=-1)
    elif op == "GroupNormalization":
        s.since(18)
        if len(a.shape) < 3 or a.shape[1] % 2:
            raise Impossible
        size = a.shape[1] if s.opset >= 21 else 2
        s.emit(op, [a.name, s.const(array(s, (size,), F32)), s.const(array(s, (size,), F32))],
               num_groups=2)  # fmt: skip
    elif op == "RMSNormalization":
        s.since(23)
        s.emit(op, [a.name, s.const(array(s, a.shape[-1:], F32))])
    elif op == "MeanVarianceNormalization":
        s.since(9)
        s.emit(op, [a.name], axes=list(range(len(a.shape)))[1:])
    else:
        s.emit(op, [a.name], axis=-1, p=s.rng.choice([1, 2]))


@recipe(2)
def making(s: Scope) -> None:
    op = s.rng.choice(["ConstantOfShape", "Range", "EyeLike", "Trilu", "Einsum", "Dropout",
                       "CastLike", "QuantizeLinear"])  # fmt: skip
    if op == "ConstantOfShape":
        s.since(9)
        value = helper.make_tensor("", F32, [1], [1.5])
        s.emit(op, [s.ints(s.rng.choice([[2, 3], [1], []]))], value=s.rng.choice([None, value]))
    elif op == "Range":
        s.since(11)
        s.emit(op, [s.const(v, I64) for v in (0, 6, s.rng.choice([1, 2]))])
    elif op == "EyeLike":
        s.since(9)
        s.emit(op, [s.pick((F32,), rank=(2,)).name], k=s.rng.choice([None, 1, -1]))
    elif op == "Trilu":
        s.since(14)
        t = s.pick((F32, I64), rank=(2, 3))
        s.emit(op, [t.name] + ([s.const(s.rng.choice([0, 1, -1]), I64)] * (s.rng.random() < 0.5)),
               upper=s.rng.choice([None, 0, 1]))  # fmt: skip
    elif op == "Einsum":
        s.since(12)
        t = s.pick((F32,), rank=(2,))
        s.emit(op, [t.name, t.name], equation=s.rng.choice(["ij,ij->i", "ij,kj->ik", "ij,ij->ji"]))
    elif op == "Dropout":
        t = s.pick((F32,))
        if s.opset >= 12 and s.rng.random() < 0.5:
            s.emit(op, [t.name, s.const(0.3, F32), s.const(False, BOOL)], s.rng.choice([1, 2]))
        else:
            s.emit(op, [t.name], s.rng.choice([1, 2]) if s.opset >= 10 else 1)
    elif op == "CastLike":
        s.since(15)
        s.emit(op, [s.pick((I32, BOOL, F32)).name, s.pick(FLOATS).name])
    else:
        s.since(10)
        t = s.pick((F32,))
        scale, zero = s.const(0.1, F32), s.const(10, U8)
        q = s.emit(op, [t.name, scale, zero])[0]
        s.emit("DequantizeLinear", [q.name, scale, zero])


@recipe(1)
def sequences(s: Scope) -> None:
    s.since(11)
    a = s.pick((F32,), rank=range(1, 4), fits=lambda t: 0 not in t.shape)
    made, joined = s.names.fresh("seq"), s.names.fresh()
    s.nodes.append(s.node("SequenceConstruct", [a.name, a.name], [made]))
    if s.rng.random() < 0.5:
        s.nodes.append(s.node("SequenceAt", [made, s.const(s.rng.choice([0, -1]), I64)], [joined]))
        s.tensors.append(Known(joined, a.elem_type, a.shape))
        return
    new = int(s.rng.random() < 0.5)
    shape = (2, *a.shape) if new else (a.shape[0] * 2, *a.shape[1:])
    s.nodes.append(s.node("ConcatFromSequence", [made], [joined], axis=0, new_axis=new))
    s.tensors.append(Known(joined, a.elem_type, shape))


RECIPES_WITH_LAYERS = RECIPES
