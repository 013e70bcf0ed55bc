"""The forms of what computes element by element."""

from __future__ import annotations

from benchmarks.attack.families.form import Form, Forms, K, data, typed

_FLOATS = ("f", "h", "d")


def element_forms() -> list[Form]:
    """Return the forms."""
    made = Forms()
    add = made.add
    # Element by element, broadcast.
    for op in ("Add", "Sub", "Mul", "Div"):
        add(
            op,
            [data("N", "M"), data("M")],
            opsets=(7, 13),
            kinds=("f", "i32", "h", "d") if op != "Div" else ("f", "h", "d"),
        )
        add(op, [data("N", 1), data("M")], opsets=(13,), kinds=("f",))
        add(op, [data("N", "M"), K([1.0, 0.0], "T")], opsets=(13,))
        add(op, [K([[1.0], [1.0]], "T"), data("N")], opsets=(13,))
        add(op, [data("N"), K([[[1.0]]], "T")], opsets=(13,))
        add(op, [data("N"), K([[[0.0]]], "T")], opsets=(13,))
        add(op, [data("N"), K([], "T")], opsets=(13,))
        add(op, [data(), data()], opsets=(13,))
    for kind in ("i32", "i64", "i8", "u8", "u32", "u64"):
        add(
            "Div",
            [data("N", "M"), K([-2 if kind[0] == "i" else 2, 3], "T")],
            opsets=(13,),
            kinds=(kind,),
        )
        add(
            "Mod",
            [data("N", "M"), K([-2 if kind[0] == "i" else 2, 3], "T")],
            opsets=(13,),
            kinds=(kind,),
        )
        add(
            "Mod",
            [data("N", "M"), K([-2 if kind[0] == "i" else 2, 3], "T")],
            {"fmod": 1},
            opsets=(13,),
            kinds=(kind,),
        )
        add("Abs", [data("N", "M")], opsets=(13,), kinds=(kind,))
        add("Sign", [data("N", "M")], opsets=(13,), kinds=(kind,))
        add("Max", [data("N", "M"), K([1, 2], "T")], opsets=(13,), kinds=(kind,))
        add("Min", [data("N", "M"), data("M"), K([[[1]]], "T")], opsets=(13,), kinds=(kind,))
        add("Greater", [data("N", "M"), data("M")], opsets=(13,), kinds=(kind,), gives=("b",))
        add("LessOrEqual", [data("N", "M"), data("M")], opsets=(16,), kinds=(kind,), gives=("b",))
        add("Equal", [data("N", "M"), data("M")], opsets=(11, 13), kinds=(kind,), gives=("b",))
        add("Clip", [data("N", "M"), K(2, "T"), K(1, "T")], opsets=(12, 13), kinds=(kind,))
        add("Clip", [data("N", "M"), None, K(1, "T")], opsets=(12, 13), kinds=(kind,))
    for kind in ("i32", "i64", "i8"):
        add("Neg", [data("N", "M")], opsets=(13,), kinds=(kind,))
    for kind in ("u8", "u16", "u32", "u64"):
        for direction in ("LEFT", "RIGHT"):
            add(
                "BitShift",
                [data("N", "M"), K([3, 7], "T")],
                {"direction": direction},
                opsets=(11,),
                kinds=(kind,),
            )
            add(
                "BitShift",
                [data("N", "M"), data("M")],
                {"direction": direction},
                opsets=(11,),
                kinds=(kind,),
            )
    for kind in ("u8", "i8", "i16", "i32", "i64", "u64", "u32"):
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            add(op, [data("N", "M"), data("M")], opsets=(18,), kinds=(kind,))
            add(op, [data("N", "M"), K([6], "T")], opsets=(18,), kinds=(kind,))
        add("BitwiseNot", [data("N", "M")], opsets=(18,), kinds=(kind,))
    add("Mod", [data("N", "M"), data("M")], {"fmod": 1}, opsets=(13,), kinds=_FLOATS)
    add("Mod", [data("N", "M"), K([-2.5, 3.0], "T")], {"fmod": 1}, opsets=(10, 13), kinds=_FLOATS)
    for value in (2.0, 0.5, 3.0, -1.0, 0.0, 1.0, -2.0, 0.25, 4.0, 1.5):
        add("Pow", [data("N", "M"), K(value, "T")], opsets=(7, 13), kinds=("f", "d"))
        add("Pow", [data("N"), K([[[value]]], "f")], opsets=(13,), kinds=("f", "i32", "i64", "d"))
    add("Pow", [data("N"), K([2, 3], "i64")], opsets=(13,), kinds=("f", "i32", "i64"))
    add("Pow", [data("N", "M"), data("M")], opsets=(13,), kinds=("f", "i32"))
    for op in ("And", "Or", "Xor"):
        add(op, [data("N", "M"), data("M")], opsets=(7, 13), kinds=("b",))
        add(op, [data("N", "M"), K([[True]], "T")], opsets=(13,), kinds=("b",))
    add("Not", [data("N")], opsets=(13,), kinds=("b",))
    for kind in ("f", "i64", "b", "d", "i32"):
        add("Where", [typed("b", "N", 1), data("M"), data(1, "M")], opsets=(13,), kinds=(kind,))
        add("Where", [typed("b", "N"), K([[0], [1]], "T"), data("N")], opsets=(13,), kinds=(kind,))
    add("Where", [K([[True, False]], "b"), data("N", 1), K([[[1.5]]], "T")], opsets=(13,))
    add("Where", [K([True, False], "b"), K(float("-inf"), "T"), data("N", 2)], opsets=(13,))
    for op in (
        "Floor",
        "Ceil",
        "Round",
        "Sqrt",
        "Reciprocal",
        "Sign",
        "Erf",
        "Softsign",
        "Softplus",
        "Exp",
        "Log",
        "Sigmoid",
        "Tanh",
        "Abs",
        "Neg",
        "Relu",
        "HardSwish",
        "Mish",
        "Atan",
        "Sinh",
        "Acosh",
    ):
        v = {"Round": (11,), "HardSwish": (14,), "Mish": (18,)}.get(op, (13,))
        add(
            op,
            [data("N", "M")],
            opsets=v,
            kinds=("f", "h") if op not in ("Sign", "Acosh", "Sinh", "Atan") else ("f",),
        )
    for op in ("IsNaN", "IsInf"):
        add(
            op,
            [data("N", "M")],
            opsets=(13, 20) if op == "IsNaN" else (10, 20),
            kinds=("f", "d"),
            gives=("b",),
        )
    add("IsInf", [data("N")], {"detect_negative": 0}, opsets=(10,), gives=("b",))
    add("IsInf", [data("N")], {"detect_positive": 0}, opsets=(10,), gives=("b",))
    add(
        "IsInf",
        [data("N")],
        {"detect_positive": 0, "detect_negative": 0},
        opsets=(10,),
        gives=("b",),
    )
    for attrs, op in (
        ({"alpha": 0.5}, "Elu"),
        ({"alpha": -0.5}, "LeakyRelu"),
        ({"alpha": 1.5, "gamma": 0.7}, "Selu"),
        ({"alpha": 0.0}, "ThresholdedRelu"),
        ({"alpha": -1.0}, "ThresholdedRelu"),
        ({"alpha": 0.5}, "Celu"),
        ({"alpha": 0.3, "beta": 0.7}, "HardSigmoid"),
        ({"alpha": -0.3, "beta": 0.7}, "HardSigmoid"),
        ({"bias": 0.5, "lambd": 1.0}, "Shrink"),
        ({"bias": 1.0, "lambd": -0.5}, "Shrink"),
    ):
        add(op, [data("N", "M")], attrs, opsets=(12, 17))
    add("PRelu", [data("N", 3), K([0.1, -0.2, 0.0], "T")], opsets=(9, 16))
    add(
        "PRelu",
        [
            data("N", 3, 2),
            K(
                [
                    [[0.1]],
                ],
                "T",
            ),
        ],
        opsets=(9, 16),
    )
    add("Clip", [data("N", "M"), K(1.0, "T"), K(-1.0, "T")], opsets=(11, 13), kinds=_FLOATS)
    add("Clip", [data("N", "M"), None, K(1.0, "T")], opsets=(11, 13), kinds=_FLOATS)
    add("Clip", [data("N", "M"), typed("f"), typed("f")], opsets=(11, 13))
    add("Clip", [data("N", "M")], opsets=(6, 11))
    add("Clip", [data("N", "M")], {"min": -1.0}, opsets=(6, 10))
    add("Clip", [data("N", "M")], {"max": 0.5, "min": 1.0}, opsets=(6, 10))
    add("Max", [data("N", "M")], opsets=(8, 13), kinds=("f", "d"))
    add("Max", [data("N", "M"), data("M"), data(1, 1, 1)], opsets=(8, 13), kinds=("f", "d", "h"))
    add("Min", [data("N", "M"), data("M"), data(1, 1, 1)], opsets=(8, 13), kinds=("f",))
    add("Sum", [data("N", "M"), data("M"), data(1, 1, 1)], opsets=(8, 13), kinds=("f", "d"))
    add("Mean", [data("N", "M"), data("M"), data(1, 1, 1)], opsets=(8, 13), kinds=("f",))
    return made
