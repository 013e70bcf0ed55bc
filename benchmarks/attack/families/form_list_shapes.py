"""The forms of what normalizes along axes and changes shapes."""

from __future__ import annotations

from benchmarks.attack.families.form import Form, Forms, K, data, typed

_ALL = ("f", "i64", "i32")
_MAX = 2**63 - 1
_MIN = -(2**63)


def shape_forms() -> list[Form]:
    """Return the forms."""
    made = Forms()
    add = made.add
    # Softmax and its kin.
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for axis in (None, 0, 1, -1, -2, 2):
            add(
                op,
                [data("N", "M", "K")],
                {} if axis is None else {"axis": axis},
                opsets=(9 if axis is None or axis >= 0 else 11, 12, 13),
                kinds=("f",),
            )
    # Shapes.
    for shape in ([-1], [0, -1], [-1, 0], [0, 0], [1, -1, 1], [0, 1, -1], [2, -1]):
        add("Reshape", [data("N", "M"), K(shape)], opsets=(7, 14), kinds=("f", "b"))
    for shape in ([0, 5], [5, 0], [-1], [0]):
        add("Reshape", [data("N", 5), K(shape)], {"allowzero": 1}, opsets=(14, 19))
    add("Reshape", [data(), K([])], opsets=(13,))
    add("Reshape", [data(1, 1), K([])], opsets=(13,))
    add("Reshape", [data("N", 4), typed("i64", 1)], opsets=(13, 14))
    for axis in (0, 1, 2, -1, -2):
        add(
            "Flatten",
            [data("N", "M")],
            {"axis": axis},
            opsets=(9 if axis >= 0 else 11, 13),
            kinds=("f", "i64"),
        )
    add("Squeeze", [data("N", 1, 1, "M"), K([1, -2])], opsets=(13,))
    add("Squeeze", [data("N", 1, "M")], opsets=(13, 11))
    add("Squeeze", [data(1, "N", 1), K([])], opsets=(13,))
    add("Squeeze", [data(1, 2, 1), K([])], opsets=(13,))
    add("Squeeze", [data(1, 2, 1)], {"axes": [-1]}, opsets=(11,))
    add("Squeeze", [data(1, "N", 1), typed("i64", 1)], opsets=(13,))
    add("Unsqueeze", [data("N", "M"), K([-1, 0])], opsets=(13,))
    add("Unsqueeze", [data("N", "M"), K([2, 0, -1])], opsets=(13,))
    add("Unsqueeze", [data("N", "M"), K([])], opsets=(13,))
    add("Unsqueeze", [data("N", "M")], {"axes": [-1, 0]}, opsets=(11,))
    add("Unsqueeze", [data()], {"axes": [0, 1]}, opsets=(9, 11))
    add("Expand", [data("N", 1), K([3, 1, 4])], opsets=(8, 13), kinds=("f", "b", "i64"))
    add("Expand", [data("N", 1), K([1])], opsets=(8, 13))
    add("Expand", [data(3, 1), K([0])], opsets=(8, 13))
    add("Expand", [data(3, 1), K([])], opsets=(8, 13))
    add("Expand", [data(3, 1), typed("i64", 3)], opsets=(13,))
    add("Tile", [data("N", "M"), K([2, 1])], opsets=(6, 13), kinds=("f", "b", "i64"))
    add("Tile", [data("N", "M"), K([0, 2])], opsets=(6, 13))
    add("Tile", [data(2, 2), typed("i64", 2)], opsets=(13,))
    add("Transpose", [data("N", "M", "K")], opsets=(9, 13), kinds=("f", "b"))
    add("Transpose", [data("N", "M", "K")], {"perm": [1, 2, 0]}, opsets=(9, 13))
    add("Transpose", [data()], opsets=(13,))
    add("Transpose", [data("N", 2, "M", 3, "K")], {"perm": [0, 3, 1, 4, 2]}, opsets=(13,))
    add(
        "Concat",
        [data("N", "M"), data("N", 1), data("N", 0)],
        {"axis": -1},
        opsets=(11, 13),
        kinds=("f", "b", "i64"),
    )
    add("Concat", [data("N"), K([1.0], "T"), data("N")], {"axis": 0}, opsets=(9, 13))
    add("Concat", [data("N")], {"axis": 0}, opsets=(9, 13))
    add(
        "Split",
        [data("N", 5), K([2, 0, 3])],
        {"axis": -1},
        opsets=(13, 18),
        outputs=3,
        gives=("T", "T", "T"),
    )
    add("Split", [data("N", 6)], {"axis": 1}, opsets=(9, 13), outputs=2, gives=("T", "T"))
    add(
        "Split",
        [data("N", 5)],
        {"axis": 1, "num_outputs": 2},
        opsets=(18,),
        outputs=2,
        gives=("T", "T"),
    )
    add(
        "Split",
        [data("N", 5)],
        {"axis": -1, "num_outputs": 3},
        opsets=(18,),
        outputs=3,
        shown=(0, 2),
        gives=("T", "T"),
    )
    add(
        "Split",
        [data("N", 5)],
        {"axis": 0, "num_outputs": 2},
        opsets=(18,),
        outputs=2,
        gives=("T", "T"),
    )
    add("Split", [data(5)], {"split": [2, 3]}, opsets=(9, 11), outputs=2, shown=(1,), gives=("T",))
    add("Shape", [data("N", "M", 3)], {"start": -2}, opsets=(15,), gives=("i64",))
    add("Shape", [data("N", "M", 3)], {"start": 5, "end": -9}, opsets=(15,), gives=("i64",))
    add("Shape", [data("N", "M", 3)], {"end": -1, "start": 1}, opsets=(15, 21), gives=("i64",))
    add("Shape", [data()], opsets=(13,), gives=("i64",))
    add("Size", [data("N", "M")], opsets=(13,), gives=("i64",))
    add("Size", [data()], opsets=(13,), gives=("i64",))
    for mode in ("constant", "reflect", "edge"):
        add(
            "Pad",
            [data("N", 5), K([0, 2, 1 if mode == "constant" else 0, 3])],
            {"mode": mode},
            opsets=(11, 13, 18),
            kinds=("f", "i64"),
        )
        add("Pad", [data("N", 5), K([0, -1, 0, 2])], {"mode": mode}, opsets=(11, 13), kinds=("f",))
        add("Pad", [data(3, 5), K([1, 2]), None, K([-1])], {"mode": mode}, opsets=(18,))
        add("Pad", [data(3, 5), typed("i64", 4)], {"mode": mode}, opsets=(13,))
    add("Pad", [data("N", 5), K([1, 0, 0, 1]), K(float("nan"), "T")], opsets=(11, 13))
    add("Pad", [data("N", 5), K([1, 0, 0, 1]), K(float("-inf"), "T")], opsets=(11, 13))
    add("Pad", [data("N", 5), K([1, 0, 0, 1]), typed("f")], opsets=(11, 13))
    add("Pad", [data("N", 5), K([-1, -2, -1, 0])], opsets=(11, 13))
    add("Pad", [data("N", 5)], {"pads": [0, 1, 0, -1], "value": 1.5}, opsets=(9,))
    add("Pad", [data(3, 5), K([0, 3, 0, 4])], {"mode": "wrap"}, opsets=(19,))
    for mode in ("DCR", "CRD"):
        add("DepthToSpace", [data("N", 8, 2, 3)], {"blocksize": 2, "mode": mode}, opsets=(11, 13))
    add("SpaceToDepth", [data("N", 2, 4, 6)], {"blocksize": 2}, opsets=(9, 13))
    add("ConstantOfShape", [typed("i64", 2)], opsets=(9, 20), gives=("f",))
    add("Range", [K(0), typed("i64"), K(1)], opsets=(11,), gives=("i64",))
    add("Range", [typed("i64"), typed("i64"), K(-2)], opsets=(11,), gives=("i64",))
    add("Range", [K(0.5, "f"), typed("f"), K(0.25, "f")], opsets=(11,), gives=("f",))
    add("NonZero", [data("N", "M")], opsets=(9, 13), kinds=("f", "b", "i64"), gives=("i64",))
    add("Compress", [data("N", "M"), typed("b", "N")], {"axis": 0}, opsets=(9, 11))
    add("Compress", [data("N", "M"), K([True, False, True], "b")], opsets=(9, 11))
    add("Compress", [data(4, "M"), K([False, True], "b")], {"axis": 0}, opsets=(9, 11))
    for axis in (-1, 0, 1):
        add(
            "OneHot",
            [typed("i64", "N", "M"), K(4), K([0.5, 2.0], "T")],
            {"axis": axis},
            opsets=(9, 11),
            kinds=("f", "i64"),
        )
        add(
            "OneHot",
            [typed("i32", "N"), K([3]), K([2.0, -1.0], "T")],
            {"axis": axis if axis != 1 else 0},
            opsets=(11,),
        )
        add(
            "CumSum",
            [data("N", "M"), K(axis)],
            {"exclusive": 1, "reverse": 1},
            opsets=(11, 14),
            kinds=_ALL,
        )
        add("CumSum", [data("N", "M"), K(axis)], {"reverse": 1}, opsets=(11, 14), kinds=_ALL)
        add("CumSum", [data("N", "M"), K([axis])], {"exclusive": 1}, opsets=(11, 14))
    add("CumSum", [data("N", "M"), typed("i64")], opsets=(11, 14))
    for upper in (0, 1):
        for k in (None, K(-1), K(1), K(_MAX), K(_MIN), typed("i64")):
            add(
                "Trilu",
                [data("N", "M"), k] if k is not None else [data("N", "M")],
                {"upper": upper},
                opsets=(14,),
                kinds=("f", "i64", "b") if k is None else ("f",),
            )
    for place in (0, 1, -2, 9):
        add("EyeLike", [data("N", "M")], {"k": place}, opsets=(9,), gives=("f",))
    add("EyeLike", [data("N", "M")], {"k": 1, "dtype": 7}, opsets=(9,), gives=("i64",))
    add(
        "ReverseSequence",
        [data(4, "N", 2), typed("i64", "N")],
        {"batch_axis": 1, "time_axis": 0},
        opsets=(10,),
    )
    add(
        "Einsum",
        [data("N", "M"), data("M", "K")],
        {"equation": "ij,jk->ik"},
        opsets=(12,),
        kinds=("f", "d"),
    )
    for eq, dims in (
        ("ij->ji", [("N", "M")]),
        ("ii->i", [("N", "N")]),
        ("ij->", [("N", "M")]),
        ("ii", [("N", "N")]),
        ("i,i->", [("N",), ("N",)]),
        ("i,j->ij", [("N",), ("M",)]),
        ("...ij,...jk->...ik", [(2, "N", "M"), ("M", "K")]),
        ("bij,bjk->bik", [(2, "N", "M"), (1, "M", "K")]),
        ("ij,ij->i", [("N", "M"), (1, "M")]),
        (" i j , j -> i ", [("N", "M"), ("M",)]),
        ("ij,jk", [("N", "M"), ("M", "K")]),
        ("iij->ij", [("N", "N", "M")]),
        ("ba", [("N", "M")]),
    ):
        add("Einsum", [data(*d) for d in dims], {"equation": eq}, opsets=(12,), kinds=("f",))
    add("MatMul", [data("N", "M"), data("M", "K")], opsets=(9, 13), kinds=("f", "i32", "d"))
    add("MatMul", [data("M"), data("M")], opsets=(13,))
    add("MatMul", [data("M"), data(2, "M", "K")], opsets=(13,))
    add("MatMul", [data(3, 1, "N", "M"), data(2, "M", "K")], opsets=(13,))
    add("MatMul", [data("N", 2), K([1.0, 2.0], "T")], opsets=(13,))
    add(
        "Gemm",
        [data("M", "N"), data("K", "M"), data("K")],
        {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0},
        opsets=(7, 13),
        kinds=("f", "d"),
    )
    add("Gemm", [data("N", "M"), data("M", "K"), data(1)], {"beta": 0.0}, opsets=(7, 13))
    add("Gemm", [data("N", "M"), data("M", "K"), data("N", 1)], {"alpha": 0.0}, opsets=(7, 13))
    add("Gemm", [data("N", "M"), data("M", "K")], {"alpha": 2.0}, opsets=(11, 13))
    add("Gemm", [data("N", "M"), data("M", "K"), data()], opsets=(11, 13))
    return made
