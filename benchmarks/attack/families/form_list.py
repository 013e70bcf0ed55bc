"""The forms of operators: inputs, constants, attributes, opsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_F = ("f",)
_ALL = ("f", "i64", "i32")
_FLOATS = ("f", "h", "d")
_MAX = 2**63 - 1
_MIN = -(2**63)


@dataclass(frozen=True)
class K:
    """A constant."""

    value: Any
    kind: str = "i64"


@dataclass(frozen=True)
class Form:
    """One form; an input is (type, dims), a constant, or None for one that is left out."""

    op: str
    inputs: Sequence[Any]
    attrs: dict[str, Any] = field(default_factory=dict[str, Any])
    opsets: Sequence[int] = (13, 17)
    kinds: Sequence[str] = _F
    outputs: int = 1
    shown: Sequence[int] = ()
    gives: Sequence[str] = ("T",)


def T(*dims: Any) -> tuple[str, tuple[Any, ...]]:
    return ("T", dims)


def X(kind: str, *dims: Any) -> tuple[str, tuple[Any, ...]]:
    return (kind, dims)


def _forms() -> list[Form]:
    made: list[Form] = []
    add = lambda *a, **k: made.append(Form(*a, **k))  # noqa: E731
    # Slices: steps, extremes, negative and repeated axes, bounds beyond.
    for starts, ends, axes, steps in (
        ([-1], [_MIN], [0], [-1]), ([_MAX], [_MIN], [-1], [-1]), ([-100], [100], [1], [2]),
        ([100], [-100], [0], [-3]), ([0], [_MAX], [-2], [3]), ([2], [2], [0], [1]), ([5], [1], [0], [1]),
        ([-3], [-1], [0], [1]), ([1, -2], [_MAX, _MIN], [1, 0], [1, -2]), ([-2], [-100], [1], [-1]),
        ([0, 0], [_MAX, -1], [0, 1], [_MAX, 1]), ([-1], [-_MAX], [0], [-2]), ([3], [0], [1], [-1]),
        ([-2], [_MAX], [1], [1]), ([0], [2**31 - 1], [0], [1]), ([1], [-(2**31)], [0], [-1]),
    ):  # fmt: skip
        add("Slice", [T("N", "M"), K(starts), K(ends), K(axes), K(steps)], opsets=(10, 11, 13), kinds=("f", "i64", "b"))
    add("Slice", [T("N", "M"), K([1]), K([3])], opsets=(11, 13))
    add("Slice", [T("N", "M"), K([1], "i32"), K([2147483647], "i32"), K([1], "i32")], opsets=(11, 13))
    add("Slice", [T(4, 5), X("i64", 1), X("i64", 1), K([0]), K([-1])], opsets=(11, 13))
    add("Slice", [T("N", 5), X("i64", 2), X("i64", 2)], opsets=(11, 13))
    # Gathers.
    for axis in (0, 1, -1):
        add("Gather", [T("N", "M"), K([-1, 0, 0])], {"axis": axis}, opsets=(11, 13), kinds=("f", "i64", "b"))
        add("Gather", [T("N", "M"), K(-1)], {"axis": axis}, opsets=(11, 13))
        add("Gather", [T("N", "M"), K([[0, -1], [-1, 0]], "i32")], {"axis": axis}, opsets=(11, 13))
        add("Gather", [T("N", "M"), K(np_empty())], {"axis": axis}, opsets=(11, 13))
        add("Gather", [T(7, 7), X("i64", "K")], {"axis": axis}, opsets=(11, 13))
        add("GatherElements", [T(4, 4), X("i64", "N", "M")], {"axis": axis}, opsets=(11, 13))
        add("GatherElements", [T(3, 3), K([[0, -1], [-3, 2]])], {"axis": axis}, opsets=(11, 13))
    add("GatherND", [T(4, 4), X("i64", "N", 2)], opsets=(12, 13))
    add("GatherND", [T(4, 4), X("i64", "N", 1)], opsets=(12, 13))
    add("GatherND", [T(2, 4, 4), X("i64", 2, "N", 1)], {"batch_dims": 1}, opsets=(12, 13))
    add("GatherND", [T(4, 4), K([[0, -1], [-4, 3]])], opsets=(12, 13))
    # Scatters.
    for red in ("none", "add", "mul", "max", "min"):
        v = {"none": (13, 16), "add": (16, 18), "mul": (16, 18), "max": (18,), "min": (18,)}[red]
        at = {} if red == "none" else {"reduction": red}
        add("ScatterElements", [T(4, 3), K([[0, -1, 2], [-1, 1, 0]]), T(2, 3)], {"axis": 0, **at}, opsets=v, kinds=_ALL)
        add("ScatterElements", [T(4, 3), K([[1, 1], [-1, -1]]), T(2, 2)], {"axis": -1, **at}, opsets=v if red != "none" else (), kinds=_ALL)
        add("ScatterND", [T(4, 3), K([[0], [-1], [0]]), T(3, 3)], at, opsets=v if red != "none" else (), kinds=_ALL)
        add("ScatterND", [T(4, 3), K([[0, -1], [-1, 0]]), T(2)], at, opsets=v, kinds=_ALL)
        add("ScatterND", [T("N", 3), K([[0], [-1]]), T(2, 3)], at, opsets=v)
        add("ScatterND", [T(5), X("i64", "K", 1), T("K")], at, opsets=v if red != "none" else ())
    add("Scatter", [T(4, 3), K([[0, 1, 2]]), T(1, 3)], {"axis": 0}, opsets=(9, 10))
    # Reductions.
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
               "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"):  # fmt: skip
        kinds = ("f", "i32", "i64") if op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare") else ("f", "d")
        news = (13, 18) if op == "ReduceSum" else (18, 20)
        add(op, [T("N", "M")], {"keepdims": 0}, opsets=(11, 18), kinds=kinds)
        add(op, [T("N", "M", 2), K([-1, 0])], {"keepdims": 0}, opsets=news, kinds=kinds)
        add(op, [T("N", "M"), K(np_empty())], {"noop_with_empty_axes": 1}, opsets=news)
        add(op, [T("N", "M"), K(np_empty())], {"noop_with_empty_axes": 0}, opsets=news)
        add(op, [T("N", "M"), None], {"noop_with_empty_axes": 1}, opsets=news)
        add(op, [T("N", "M"), X("i64", 1)], {"keepdims": 1}, opsets=news)
        add(op, [T()], {"keepdims": 1}, opsets=(13, 18))
        if op != "ReduceSum":
            add(op, [T("N", "M", 2)], {"axes": [-2], "keepdims": 1}, opsets=(11, 13))
            add(op, [T("N", "M", 2)], {"axes": [2, 0], "keepdims": 0}, opsets=(9, 13), kinds=kinds)
    for op in ("ArgMax", "ArgMin"):
        for axis in (0, -1, 1):
            for keep in (0, 1):
                for last in (0, 1):
                    add(op, [T("N", "M")], {"axis": axis, "keepdims": keep, **({"select_last_index": 1} if last else {})},
                        opsets=(12, 13), kinds=("f", "i32"), gives=("i64",))
    for largest in (0, 1):
        for axis in (-1, 0):
            add("TopK", [T("N", "M"), K([1])], {"axis": axis, "largest": largest}, opsets=(11,), kinds=_ALL, outputs=2, gives=("T", "i64"))
            add("TopK", [T(5, 4), K([4])], {"axis": axis, "largest": largest}, opsets=(11,), kinds=_ALL, outputs=2, gives=("T", "i64"))
            add("TopK", [T(5, 4), K([0])], {"axis": axis, "largest": largest}, opsets=(11,), outputs=2, gives=("T", "i64"))
            add("TopK", [T(5, 4), X("i64", 1)], {"axis": axis, "largest": largest}, opsets=(11,), outputs=2, gives=("T", "i64"))
    # Element by element, broadcast.
    for op in ("Add", "Sub", "Mul", "Div"):
        add(op, [T("N", "M"), T("M")], opsets=(7, 13), kinds=("f", "i32", "h", "d") if op != "Div" else ("f", "h", "d"))
        add(op, [T("N", 1), T("M")], opsets=(13,), kinds=("f",))
        add(op, [T("N", "M"), K([1.0, 0.0], "T")], opsets=(13,))
        add(op, [K([[1.0], [1.0]], "T"), T("N")], opsets=(13,))
        add(op, [T("N"), K([[[1.0]]], "T")], opsets=(13,))
        add(op, [T("N"), K([[[0.0]]], "T")], opsets=(13,))
        add(op, [T("N"), K(np_empty("f"), "T")], opsets=(13,))
        add(op, [T(), T()], opsets=(13,))
    for kind in ("i32", "i64", "i8", "u8", "u32", "u64"):
        add("Div", [T("N", "M"), K([-2 if kind[0] == "i" else 2, 3], "T")], opsets=(13,), kinds=(kind,))
        add("Mod", [T("N", "M"), K([-2 if kind[0] == "i" else 2, 3], "T")], opsets=(13,), kinds=(kind,))
        add("Mod", [T("N", "M"), K([-2 if kind[0] == "i" else 2, 3], "T")], {"fmod": 1}, opsets=(13,), kinds=(kind,))
        add("Abs", [T("N", "M")], opsets=(13,), kinds=(kind,))
        add("Sign", [T("N", "M")], opsets=(13,), kinds=(kind,))
        add("Max", [T("N", "M"), K([1, 2], "T")], opsets=(13,), kinds=(kind,))
        add("Min", [T("N", "M"), T("M"), K([[[1]]], "T")], opsets=(13,), kinds=(kind,))
        add("Greater", [T("N", "M"), T("M")], opsets=(13,), kinds=(kind,), gives=("b",))
        add("LessOrEqual", [T("N", "M"), T("M")], opsets=(16,), kinds=(kind,), gives=("b",))
        add("Equal", [T("N", "M"), T("M")], opsets=(11, 13), kinds=(kind,), gives=("b",))
        add("Clip", [T("N", "M"), K(2, "T"), K(1, "T")], opsets=(12, 13), kinds=(kind,))
        add("Clip", [T("N", "M"), None, K(1, "T")], opsets=(12, 13), kinds=(kind,))
    for kind in ("i32", "i64", "i8"):
        add("Neg", [T("N", "M")], opsets=(13,), kinds=(kind,))
    for kind in ("u8", "u16", "u32", "u64"):
        for direction in ("LEFT", "RIGHT"):
            add("BitShift", [T("N", "M"), K([3, 7], "T")], {"direction": direction}, opsets=(11,), kinds=(kind,))
            add("BitShift", [T("N", "M"), T("M")], {"direction": direction}, opsets=(11,), kinds=(kind,))
    for kind in ("u8", "i8", "i16", "i32", "i64", "u64", "u32"):
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            add(op, [T("N", "M"), T("M")], opsets=(18,), kinds=(kind,))
            add(op, [T("N", "M"), K([6], "T")], opsets=(18,), kinds=(kind,))
        add("BitwiseNot", [T("N", "M")], opsets=(18,), kinds=(kind,))
    add("Mod", [T("N", "M"), T("M")], {"fmod": 1}, opsets=(13,), kinds=_FLOATS)
    add("Mod", [T("N", "M"), K([-2.5, 3.0], "T")], {"fmod": 1}, opsets=(10, 13), kinds=_FLOATS)
    for value in (2.0, 0.5, 3.0, -1.0, 0.0, 1.0, -2.0, 0.25, 4.0, 1.5):
        add("Pow", [T("N", "M"), K(value, "T")], opsets=(7, 13), kinds=("f", "d"))
        add("Pow", [T("N"), K([[[value]]], "f")], opsets=(13,), kinds=("f", "i32", "i64", "d"))
    add("Pow", [T("N"), K([2, 3], "i64")], opsets=(13,), kinds=("f", "i32", "i64"))
    add("Pow", [T("N", "M"), T("M")], opsets=(13,), kinds=("f", "i32"))
    for op in ("And", "Or", "Xor"):
        add(op, [T("N", "M"), T("M")], opsets=(7, 13), kinds=("b",))
        add(op, [T("N", "M"), K([[True]], "T")], opsets=(13,), kinds=("b",))
    add("Not", [T("N")], opsets=(13,), kinds=("b",))
    for kind in ("f", "i64", "b", "d", "i32"):
        add("Where", [X("b", "N", 1), T("M"), T(1, "M")], opsets=(13,), kinds=(kind,))
        add("Where", [X("b", "N"), K([[0], [1]], "T"), T("N")], opsets=(13,), kinds=(kind,))
    add("Where", [K([[True, False]], "b"), T("N", 1), K([[[1.5]]], "T")], opsets=(13,))
    add("Where", [K([True, False], "b"), K(float("-inf"), "T"), T("N", 2)], opsets=(13,))
    for op in ("Floor", "Ceil", "Round", "Sqrt", "Reciprocal", "Sign", "Erf", "Softsign", "Softplus", "Exp", "Log",
               "Sigmoid", "Tanh", "Abs", "Neg", "Relu", "HardSwish", "Mish", "Atan", "Sinh", "Acosh"):  # fmt: skip
        v = {"Round": (11,), "HardSwish": (14,), "Mish": (18,)}.get(op, (13,))
        add(op, [T("N", "M")], opsets=v, kinds=("f", "h") if op not in ("Sign", "Acosh", "Sinh", "Atan") else ("f",))
    for op in ("IsNaN", "IsInf"):
        add(op, [T("N", "M")], opsets=(13, 20) if op == "IsNaN" else (10, 20), kinds=("f", "d"), gives=("b",))
    add("IsInf", [T("N")], {"detect_negative": 0}, opsets=(10,), gives=("b",))
    add("IsInf", [T("N")], {"detect_positive": 0}, opsets=(10,), gives=("b",))
    add("IsInf", [T("N")], {"detect_positive": 0, "detect_negative": 0}, opsets=(10,), gives=("b",))
    for attrs, op in (({"alpha": 0.5}, "Elu"), ({"alpha": -0.5}, "LeakyRelu"), ({"alpha": 1.5, "gamma": 0.7}, "Selu"),
                      ({"alpha": 0.0}, "ThresholdedRelu"), ({"alpha": -1.0}, "ThresholdedRelu"), ({"alpha": 0.5}, "Celu"),
                      ({"alpha": 0.3, "beta": 0.7}, "HardSigmoid"), ({"alpha": -0.3, "beta": 0.7}, "HardSigmoid"),
                      ({"bias": 0.5, "lambd": 1.0}, "Shrink"), ({"bias": 1.0, "lambd": -0.5}, "Shrink")):  # fmt: skip
        add(op, [T("N", "M")], attrs, opsets=(12, 17))
    add("PRelu", [T("N", 3), K([0.1, -0.2, 0.0], "T")], opsets=(9, 16))
    add("PRelu", [T("N", 3, 2), K([[[0.1]], ], "T")], opsets=(9, 16))
    add("Clip", [T("N", "M"), K(1.0, "T"), K(-1.0, "T")], opsets=(11, 13), kinds=_FLOATS)
    add("Clip", [T("N", "M"), None, K(1.0, "T")], opsets=(11, 13), kinds=_FLOATS)
    add("Clip", [T("N", "M"), X("f"), X("f")], opsets=(11, 13))
    add("Clip", [T("N", "M")], opsets=(6, 11))
    add("Clip", [T("N", "M")], {"min": -1.0}, opsets=(6, 10))
    add("Clip", [T("N", "M")], {"max": 0.5, "min": 1.0}, opsets=(6, 10))
    add("Max", [T("N", "M")], opsets=(8, 13), kinds=("f", "d"))
    add("Max", [T("N", "M"), T("M"), T(1, 1, 1)], opsets=(8, 13), kinds=("f", "d", "h"))
    add("Min", [T("N", "M"), T("M"), T(1, 1, 1)], opsets=(8, 13), kinds=("f",))
    add("Sum", [T("N", "M"), T("M"), T(1, 1, 1)], opsets=(8, 13), kinds=("f", "d"))
    add("Mean", [T("N", "M"), T("M"), T(1, 1, 1)], opsets=(8, 13), kinds=("f",))
    # Softmax and its kin.
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for axis in (None, 0, 1, -1, -2, 2):
            add(op, [T("N", "M", "K")], {} if axis is None else {"axis": axis}, opsets=(9 if axis is None or axis >= 0 else 11, 12, 13), kinds=("f",))
    # Shapes.
    for shape in ([-1], [0, -1], [-1, 0], [0, 0], [1, -1, 1], [0, 1, -1], [2, -1]):
        add("Reshape", [T("N", "M"), K(shape)], opsets=(7, 14), kinds=("f", "b"))
    for shape in ([0, 5], [5, 0], [-1], [0]):
        add("Reshape", [T("N", 5), K(shape)], {"allowzero": 1}, opsets=(14, 19))
    add("Reshape", [T(), K(np_empty())], opsets=(13,))
    add("Reshape", [T(1, 1), K(np_empty())], opsets=(13,))
    add("Reshape", [T("N", 4), X("i64", 1)], opsets=(13, 14))
    for axis in (0, 1, 2, -1, -2):
        add("Flatten", [T("N", "M")], {"axis": axis}, opsets=(9 if axis >= 0 else 11, 13), kinds=("f", "i64"))
    add("Squeeze", [T("N", 1, 1, "M"), K([1, -2])], opsets=(13,))
    add("Squeeze", [T("N", 1, "M")], opsets=(13, 11))
    add("Squeeze", [T(1, "N", 1), K(np_empty())], opsets=(13,))
    add("Squeeze", [T(1, 2, 1), K(np_empty())], opsets=(13,))
    add("Squeeze", [T(1, 2, 1)], {"axes": [-1]}, opsets=(11,))
    add("Squeeze", [T(1, "N", 1), X("i64", 1)], opsets=(13,))
    add("Unsqueeze", [T("N", "M"), K([-1, 0])], opsets=(13,))
    add("Unsqueeze", [T("N", "M"), K([2, 0, -1])], opsets=(13,))
    add("Unsqueeze", [T("N", "M"), K(np_empty())], opsets=(13,))
    add("Unsqueeze", [T("N", "M")], {"axes": [-1, 0]}, opsets=(11,))
    add("Unsqueeze", [T()], {"axes": [0, 1]}, opsets=(9, 11))
    add("Expand", [T("N", 1), K([3, 1, 4])], opsets=(8, 13), kinds=("f", "b", "i64"))
    add("Expand", [T("N", 1), K([1])], opsets=(8, 13))
    add("Expand", [T(3, 1), K([0])], opsets=(8, 13))
    add("Expand", [T(3, 1), K(np_empty())], opsets=(8, 13))
    add("Expand", [T(3, 1), X("i64", 3)], opsets=(13,))
    add("Tile", [T("N", "M"), K([2, 1])], opsets=(6, 13), kinds=("f", "b", "i64"))
    add("Tile", [T("N", "M"), K([0, 2])], opsets=(6, 13))
    add("Tile", [T(2, 2), X("i64", 2)], opsets=(13,))
    add("Transpose", [T("N", "M", "K")], opsets=(9, 13), kinds=("f", "b"))
    add("Transpose", [T("N", "M", "K")], {"perm": [1, 2, 0]}, opsets=(9, 13))
    add("Transpose", [T()], opsets=(13,))
    add("Transpose", [T("N", 2, "M", 3, "K")], {"perm": [0, 3, 1, 4, 2]}, opsets=(13,))
    add("Concat", [T("N", "M"), T("N", 1), T("N", 0)], {"axis": -1}, opsets=(11, 13), kinds=("f", "b", "i64"))
    add("Concat", [T("N"), K([1.0], "T"), T("N")], {"axis": 0}, opsets=(9, 13))
    add("Concat", [T("N")], {"axis": 0}, opsets=(9, 13))
    add("Split", [T("N", 5), K([2, 0, 3])], {"axis": -1}, opsets=(13, 18), outputs=3, gives=("T", "T", "T"))
    add("Split", [T("N", 6)], {"axis": 1}, opsets=(9, 13), outputs=2, gives=("T", "T"))
    add("Split", [T("N", 5)], {"axis": 1, "num_outputs": 2}, opsets=(18,), outputs=2, gives=("T", "T"))
    add("Split", [T("N", 5)], {"axis": -1, "num_outputs": 3}, opsets=(18,), outputs=3, shown=(0, 2), gives=("T", "T"))
    add("Split", [T("N", 5)], {"axis": 0, "num_outputs": 2}, opsets=(18,), outputs=2, gives=("T", "T"))
    add("Split", [T(5)], {"split": [2, 3]}, opsets=(9, 11), outputs=2, shown=(1,), gives=("T",))
    add("Shape", [T("N", "M", 3)], {"start": -2}, opsets=(15,), gives=("i64",))
    add("Shape", [T("N", "M", 3)], {"start": 5, "end": -9}, opsets=(15,), gives=("i64",))
    add("Shape", [T("N", "M", 3)], {"end": -1, "start": 1}, opsets=(15, 21), gives=("i64",))
    add("Shape", [T()], opsets=(13,), gives=("i64",))
    add("Size", [T("N", "M")], opsets=(13,), gives=("i64",))
    add("Size", [T()], opsets=(13,), gives=("i64",))
    for mode in ("constant", "reflect", "edge"):
        add("Pad", [T("N", 5), K([0, 2, 1 if mode == "constant" else 0, 3])], {"mode": mode}, opsets=(11, 13, 18), kinds=("f", "i64"))
        add("Pad", [T("N", 5), K([0, -1, 0, 2])], {"mode": mode}, opsets=(11, 13), kinds=("f",))
        add("Pad", [T(3, 5), K([1, 2]), None, K([-1])], {"mode": mode}, opsets=(18,))
        add("Pad", [T(3, 5), X("i64", 4)], {"mode": mode}, opsets=(13,))
    add("Pad", [T("N", 5), K([1, 0, 0, 1]), K(float("nan"), "T")], opsets=(11, 13))
    add("Pad", [T("N", 5), K([1, 0, 0, 1]), K(float("-inf"), "T")], opsets=(11, 13))
    add("Pad", [T("N", 5), K([1, 0, 0, 1]), X("f")], opsets=(11, 13))
    add("Pad", [T("N", 5), K([-1, -2, -1, 0])], opsets=(11, 13))
    add("Pad", [T("N", 5)], {"pads": [0, 1, 0, -1], "value": 1.5}, opsets=(9,))
    add("Pad", [T(3, 5), K([0, 3, 0, 4])], {"mode": "wrap"}, opsets=(19,))
    for mode in ("DCR", "CRD"):
        add("DepthToSpace", [T("N", 8, 2, 3)], {"blocksize": 2, "mode": mode}, opsets=(11, 13))
    add("SpaceToDepth", [T("N", 2, 4, 6)], {"blocksize": 2}, opsets=(9, 13))
    add("ConstantOfShape", [X("i64", 2)], opsets=(9, 20), gives=("f",))
    add("Range", [K(0), X("i64"), K(1)], opsets=(11,), gives=("i64",))
    add("Range", [X("i64"), X("i64"), K(-2)], opsets=(11,), gives=("i64",))
    add("Range", [K(0.5, "f"), X("f"), K(0.25, "f")], opsets=(11,), gives=("f",))
    add("NonZero", [T("N", "M")], opsets=(9, 13), kinds=("f", "b", "i64"), gives=("i64",))
    add("Compress", [T("N", "M"), X("b", "N")], {"axis": 0}, opsets=(9, 11))
    add("Compress", [T("N", "M"), K([True, False, True], "b")], opsets=(9, 11))
    add("Compress", [T(4, "M"), K([False, True], "b")], {"axis": 0}, opsets=(9, 11))
    for axis in (-1, 0, 1):
        add("OneHot", [X("i64", "N", "M"), K(4), K([0.5, 2.0], "T")], {"axis": axis}, opsets=(9, 11), kinds=("f", "i64"))
        add("OneHot", [X("i32", "N"), K([3]), K([2.0, -1.0], "T")], {"axis": axis if axis != 1 else 0}, opsets=(11,))
        add("CumSum", [T("N", "M"), K(axis)], {"exclusive": 1, "reverse": 1}, opsets=(11, 14), kinds=_ALL)
        add("CumSum", [T("N", "M"), K(axis)], {"reverse": 1}, opsets=(11, 14), kinds=_ALL)
        add("CumSum", [T("N", "M"), K([axis])], {"exclusive": 1}, opsets=(11, 14))
    add("CumSum", [T("N", "M"), X("i64")], opsets=(11, 14))
    for upper in (0, 1):
        for k in (None, K(-1), K(1), K(_MAX), K(_MIN), X("i64")):
            add("Trilu", [T("N", "M"), k] if k is not None else [T("N", "M")], {"upper": upper}, opsets=(14,), kinds=("f", "i64", "b") if k is None else ("f",))
    for k in (0, 1, -2, 9):
        add("EyeLike", [T("N", "M")], {"k": k}, opsets=(9,), gives=("f",))
    add("EyeLike", [T("N", "M")], {"k": 1, "dtype": 7}, opsets=(9,), gives=("i64",))
    add("ReverseSequence", [T(4, "N", 2), X("i64", "N")], {"batch_axis": 1, "time_axis": 0}, opsets=(10,))
    add("Einsum", [T("N", "M"), T("M", "K")], {"equation": "ij,jk->ik"}, opsets=(12,), kinds=("f", "d"))
    for eq, dims in (("ij->ji", [("N", "M")]), ("ii->i", [("N", "N")]), ("ij->", [("N", "M")]), ("ii", [("N", "N")]),
                     ("i,i->", [("N",), ("N",)]), ("i,j->ij", [("N",), ("M",)]), ("...ij,...jk->...ik", [(2, "N", "M"), ("M", "K")]),
                     ("bij,bjk->bik", [(2, "N", "M"), (1, "M", "K")]), ("ij,ij->i", [("N", "M"), (1, "M")]), (" i j , j -> i ", [("N", "M"), ("M",)]),
                     ("ij,jk", [("N", "M"), ("M", "K")]), ("iij->ij", [("N", "N", "M")]), ("ba", [("N", "M")])):  # fmt: skip
        add("Einsum", [T(*d) for d in dims], {"equation": eq}, opsets=(12,), kinds=("f",))
    add("MatMul", [T("N", "M"), T("M", "K")], opsets=(9, 13), kinds=("f", "i32", "d"))
    add("MatMul", [T("M"), T("M")], opsets=(13,))
    add("MatMul", [T("M"), T(2, "M", "K")], opsets=(13,))
    add("MatMul", [T(3, 1, "N", "M"), T(2, "M", "K")], opsets=(13,))
    add("MatMul", [T("N", 2), K([1.0, 2.0], "T")], opsets=(13,))
    add("Gemm", [T("M", "N"), T("K", "M"), T("K")], {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}, opsets=(7, 13), kinds=("f", "d"))
    add("Gemm", [T("N", "M"), T("M", "K"), T(1)], {"beta": 0.0}, opsets=(7, 13))
    add("Gemm", [T("N", "M"), T("M", "K"), T("N", 1)], {"alpha": 0.0}, opsets=(7, 13))
    add("Gemm", [T("N", "M"), T("M", "K")], {"alpha": 2.0}, opsets=(11, 13))
    add("Gemm", [T("N", "M"), T("M", "K"), T()], opsets=(11, 13))
    return made


def np_empty(kind: str = "i64") -> list[Any]:
    return []


FORMS = _forms()
