"""The forms of what moves, scatters and reduces."""

from __future__ import annotations

from benchmarks.attack.families.form import Form, Forms, K, data, typed

_ALL = ("f", "i64", "i32")
_MAX = 2**63 - 1
_MIN = -(2**63)


def moving_forms() -> list[Form]:
    """Return the forms."""
    made = Forms()
    add = made.add
    # Slices: steps, extremes, negative and repeated axes, bounds beyond.
    for starts, ends, axes, steps in (
        ([-1], [_MIN], [0], [-1]),
        ([_MAX], [_MIN], [-1], [-1]),
        ([-100], [100], [1], [2]),
        ([100], [-100], [0], [-3]),
        ([0], [_MAX], [-2], [3]),
        ([2], [2], [0], [1]),
        ([5], [1], [0], [1]),
        ([-3], [-1], [0], [1]),
        ([1, -2], [_MAX, _MIN], [1, 0], [1, -2]),
        ([-2], [-100], [1], [-1]),
        ([0, 0], [_MAX, -1], [0, 1], [_MAX, 1]),
        ([-1], [-_MAX], [0], [-2]),
        ([3], [0], [1], [-1]),
        ([-2], [_MAX], [1], [1]),
        ([0], [2**31 - 1], [0], [1]),
        ([1], [-(2**31)], [0], [-1]),
    ):
        add(
            "Slice",
            [data("N", "M"), K(starts), K(ends), K(axes), K(steps)],
            opsets=(10, 11, 13),
            kinds=("f", "i64", "b"),
        )
    add("Slice", [data("N", "M"), K([1]), K([3])], opsets=(11, 13))
    add(
        "Slice",
        [data("N", "M"), K([1], "i32"), K([2147483647], "i32"), K([1], "i32")],
        opsets=(11, 13),
    )
    add("Slice", [data(4, 5), typed("i64", 1), typed("i64", 1), K([0]), K([-1])], opsets=(11, 13))
    add("Slice", [data("N", 5), typed("i64", 2), typed("i64", 2)], opsets=(11, 13))
    # Gathers.
    for axis in (0, 1, -1):
        add(
            "Gather",
            [data("N", "M"), K([-1, 0, 0])],
            {"axis": axis},
            opsets=(11, 13),
            kinds=("f", "i64", "b"),
        )
        add("Gather", [data("N", "M"), K(-1)], {"axis": axis}, opsets=(11, 13))
        add(
            "Gather",
            [data("N", "M"), K([[0, -1], [-1, 0]], "i32")],
            {"axis": axis},
            opsets=(11, 13),
        )
        add("Gather", [data("N", "M"), K([])], {"axis": axis}, opsets=(11, 13))
        add("Gather", [data(7, 7), typed("i64", "K")], {"axis": axis}, opsets=(11, 13))
        add("GatherElements", [data(4, 4), typed("i64", "N", "M")], {"axis": axis}, opsets=(11, 13))
        add("GatherElements", [data(3, 3), K([[0, -1], [-3, 2]])], {"axis": axis}, opsets=(11, 13))
    add("GatherND", [data(4, 4), typed("i64", "N", 2)], opsets=(12, 13))
    add("GatherND", [data(4, 4), typed("i64", "N", 1)], opsets=(12, 13))
    add("GatherND", [data(2, 4, 4), typed("i64", 2, "N", 1)], {"batch_dims": 1}, opsets=(12, 13))
    add("GatherND", [data(4, 4), K([[0, -1], [-4, 3]])], opsets=(12, 13))
    # Scatters.
    for red in ("none", "add", "mul", "max", "min"):
        v = {"none": (13, 16), "add": (16, 18), "mul": (16, 18), "max": (18,), "min": (18,)}[red]
        at = {} if red == "none" else {"reduction": red}
        add(
            "ScatterElements",
            [data(4, 3), K([[0, -1, 2], [-1, 1, 0]]), data(2, 3)],
            {"axis": 0, **at},
            opsets=v,
            kinds=_ALL,
        )
        add(
            "ScatterElements",
            [data(4, 3), K([[1, 1], [-1, -1]]), data(2, 2)],
            {"axis": -1, **at},
            opsets=v if red != "none" else (),
            kinds=_ALL,
        )
        add(
            "ScatterND",
            [data(4, 3), K([[0], [-1], [0]]), data(3, 3)],
            at,
            opsets=v if red != "none" else (),
            kinds=_ALL,
        )
        add("ScatterND", [data(4, 3), K([[0, -1], [-1, 0]]), data(2)], at, opsets=v, kinds=_ALL)
        add("ScatterND", [data("N", 3), K([[0], [-1]]), data(2, 3)], at, opsets=v)
        add(
            "ScatterND",
            [data(5), typed("i64", "K", 1), data("K")],
            at,
            opsets=v if red != "none" else (),
        )
    add("Scatter", [data(4, 3), K([[0, 1, 2]]), data(1, 3)], {"axis": 0}, opsets=(9, 10))
    # Reductions.
    for op in (
        "ReduceSum",
        "ReduceMean",
        "ReduceMax",
        "ReduceMin",
        "ReduceProd",
        "ReduceL1",
        "ReduceL2",
        "ReduceLogSum",
        "ReduceLogSumExp",
        "ReduceSumSquare",
    ):
        kinds = (
            ("f", "i32", "i64")
            if op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare")
            else ("f", "d")
        )
        news = (13, 18) if op == "ReduceSum" else (18, 20)
        add(op, [data("N", "M")], {"keepdims": 0}, opsets=(11, 18), kinds=kinds)
        add(op, [data("N", "M", 2), K([-1, 0])], {"keepdims": 0}, opsets=news, kinds=kinds)
        add(op, [data("N", "M"), K([])], {"noop_with_empty_axes": 1}, opsets=news)
        add(op, [data("N", "M"), K([])], {"noop_with_empty_axes": 0}, opsets=news)
        add(op, [data("N", "M"), None], {"noop_with_empty_axes": 1}, opsets=news)
        add(op, [data("N", "M"), typed("i64", 1)], {"keepdims": 1}, opsets=news)
        add(op, [data()], {"keepdims": 1}, opsets=(13, 18))
        if op != "ReduceSum":
            add(op, [data("N", "M", 2)], {"axes": [-2], "keepdims": 1}, opsets=(11, 13))
            add(
                op,
                [data("N", "M", 2)],
                {"axes": [2, 0], "keepdims": 0},
                opsets=(9, 13),
                kinds=kinds,
            )
    for op in ("ArgMax", "ArgMin"):
        for axis in (0, -1, 1):
            for keep in (0, 1):
                for last in (0, 1):
                    add(
                        op,
                        [data("N", "M")],
                        {
                            "axis": axis,
                            "keepdims": keep,
                            **({"select_last_index": 1} if last else {}),
                        },
                        opsets=(12, 13),
                        kinds=("f", "i32"),
                        gives=("i64",),
                    )
    for largest in (0, 1):
        for axis in (-1, 0):
            add(
                "TopK",
                [data("N", "M"), K([1])],
                {"axis": axis, "largest": largest},
                opsets=(11,),
                kinds=_ALL,
                outputs=2,
                gives=("T", "i64"),
            )
            add(
                "TopK",
                [data(5, 4), K([4])],
                {"axis": axis, "largest": largest},
                opsets=(11,),
                kinds=_ALL,
                outputs=2,
                gives=("T", "i64"),
            )
            add(
                "TopK",
                [data(5, 4), K([0])],
                {"axis": axis, "largest": largest},
                opsets=(11,),
                outputs=2,
                gives=("T", "i64"),
            )
            add(
                "TopK",
                [data(5, 4), typed("i64", 1)],
                {"axis": axis, "largest": largest},
                opsets=(11,),
                outputs=2,
                gives=("T", "i64"),
            )
    return made
