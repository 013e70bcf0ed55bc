"""Every numpy model of an operator against onnxruntime, edge cases included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from graphfix.analysis.folding import numbers
from tests.analysis.folding.one_node import engine_outputs, known_outputs, one_node

Array = np.ndarray[Any, Any]


def ints(*values: int, dtype: str = "int64") -> Array:
    return np.array(values, dtype=dtype)


def floats(*values: float, dtype: str = "float32") -> Array:
    return np.array(values, dtype=dtype)


NUMBERS = ints(-7, -1, 0, 1, 6, 7)
BLOCK = np.arange(24, dtype=np.int64).reshape(2, 3, 4)
YES_NO = np.array([True, False, True, False])
Case = tuple[str, Sequence[Array | None], dict[str, Any], int, int]


ONE_AXIS_OR_ALL: tuple[dict[str, Any], ...] = (
    {"axes": [1], "opset": 13},
    {"keepdims": 0, "opset": 13},
)


def case(
    op: str, *inputs: Array | None, opset: int = 18, outputs: int = 1, **attributes: Any
) -> Case:
    return (op, inputs, attributes, opset, outputs)


CASES = [
    *(case(op, NUMBERS, ints(2)) for op in ("Add", "Sub", "Mul", "Div", "Equal", "Less")),
    *(case(op, NUMBERS, ints(-2)) for op in ("Div", "Mod", "Greater", "GreaterOrEqual")),
    *(case(op, floats(-1.5, 0.1, 3), floats(0.3)) for op in ("Add", "Sub", "Mul", "Div")),
    case("Div", floats(1, -1, 0), floats(0, 0, 0)),
    case("Div", ints(-7, 7, -8, 8, dtype="int32"), ints(2, -2, 3, -3, dtype="int32")),
    case("Add", ints(2**31 - 1, dtype="int32"), ints(1, dtype="int32")),
    case("Mul", np.ones((2, 1), np.int64), np.arange(3)),
    case("Mod", NUMBERS, ints(3)),
    case("Mod", NUMBERS, ints(3), fmod=1),
    case("Mod", NUMBERS, ints(-3), fmod=1),
    case("LessOrEqual", NUMBERS, ints(1)),
    *(case(op, YES_NO, YES_NO[::-1].copy()) for op in ("And", "Or", "Xor")),
    case("Not", YES_NO),
    case("Neg", NUMBERS),
    case("Neg", floats(-1.5, 0, np.inf)),
    case("Abs", ints(-5, 5, dtype="int32")),
    case("Floor", floats(-1.5, -0.5, 0.5, 2)),
    case("Ceil", floats(-1.5, -0.5, 0.5, 2)),
    case("Identity", floats(1, np.nan)),
    case("Cast", floats(-1.9, 1.9, 0), to=7),
    case("Cast", floats(-1.9, 1.9, 0, np.nan), to=9),
    case("Cast", ints(-1, 2**40 + 5), to=6),
    case("Cast", ints(-1, 255, 300, dtype="int32"), to=2),
    case("Cast", ints(2**24 + 1, -3), to=1),
    case("Cast", floats(1e-8, 65519, 65520, 0.1), to=10),
    case("Cast", YES_NO, to=7),
    case("Cast", floats(0.1, 1e300, dtype="float64"), to=1),
    case("Concat", ints(1, 2), ints(3), np.zeros(0, np.int64), axis=0),
    case("Concat", BLOCK, BLOCK, axis=-1),
    case("Gather", BLOCK, ints(-1, 0), axis=1),
    case("Gather", BLOCK, np.array(-2), axis=-1),
    case("Gather", ints(5, 6, 7), np.array([[0, -3]])),
    case("Unsqueeze", ints(1, 2), ints(0, -1)),
    case("Unsqueeze", ints(1, 2), axes=[0, 2], opset=11),
    case("Unsqueeze", np.array(4), ints(0)),
    case("Squeeze", BLOCK[:1], ints(0)),
    case("Squeeze", BLOCK[:1, :1]),
    case("Squeeze", BLOCK[:, :1], axes=[-2], opset=11),
    case("Reshape", BLOCK, ints(0, -1)),
    case("Reshape", BLOCK, ints(4, 6)),
    case("Reshape", np.zeros((0, 3), np.int64), ints(0, 3), allowzero=1),
    case("Reshape", np.array(5), ints(1, 1)),
    case("Slice", BLOCK, ints(1), ints(2**62), ints(-1)),
    case("Slice", BLOCK, ints(-1), ints(-(2**62)), ints(2), ints(-2)),
    case("Slice", NUMBERS, ints(-100), ints(-(2**62)), ints(0), ints(-1)),
    case("Slice", NUMBERS, ints(100), ints(1), ints(0), ints(-1)),
    case("Slice", NUMBERS, ints(4), ints(2)),
    case("Slice", NUMBERS, ints(-3), ints(-1)),
    case("Slice", BLOCK, ints(0, 1, dtype="int32"), ints(1, 3, dtype="int32")),
    case("Slice", BLOCK, starts=[1], ends=[-1], axes=[2], opset=9),
    case("Transpose", BLOCK),
    case("Transpose", BLOCK, perm=[2, 0, 1]),
    case("Expand", ints(1, 2), ints(3, 1)),
    case("Expand", BLOCK[:, :1], ints(3, 1)),
    case("Tile", BLOCK[0], ints(2, 1)),
    case("ConstantOfShape", ints(2, 3)),
    case("ConstantOfShape", np.zeros(0, np.int64)),
    case("ConstantOfShape", ints(0, 2)),
    case("Range", np.array(2), np.array(9), np.array(3)),
    case("Range", np.array(5, np.int32), np.array(-5, np.int32), np.array(-4, np.int32)),
    case("Range", np.array(5), np.array(1), np.array(1)),
    case("Where", YES_NO, ints(1, 2, 3, 4), ints(9)),
    *(case("NonZero", x) for x in (YES_NO, BLOCK % 3, ints(0), ints(), ints(0, 7, dtype="int32"))),
    case("NonZero", floats(0, -0.0, np.nan, -np.inf, 1e-45), opset=9),
    case("Min", NUMBERS, ints(2), ints(-3)),
    case("Max", NUMBERS, ints(2)),
    *(
        case(op, BLOCK.astype(dtype), **settings)
        for op in ("ReduceProd", "ReduceMax", "ReduceMin")
        for dtype in ("int32", "int64")
        for settings in ONE_AXIS_OR_ALL
    ),
    case("ReduceSum", BLOCK, ints(-1)),
    case("ReduceSum", BLOCK, ints(0, 1), keepdims=0),
    case("ReduceSum", BLOCK, keepdims=0),
    case("ReduceSum", BLOCK, noop_with_empty_axes=1),
    case("ReduceSum", BLOCK, np.zeros(0, np.int64), noop_with_empty_axes=1),
    case("Split", NUMBERS, ints(1, 5), outputs=2),
    case("Split", NUMBERS, outputs=3, num_outputs=3),
    case("Split", ints(1, 2, 3, 4, 5, 6, 7), outputs=3, num_outputs=3),
    case("Split", BLOCK, axis=-1, outputs=2, opset=13),
    case("Split", NUMBERS, split=[2, 4], outputs=2, opset=11),
]


def test_every_operator_has_a_case() -> None:
    assert {name for name, *_ in CASES} == set(numbers.FUNCTIONS)


@pytest.mark.parametrize("chosen", CASES, ids=lambda c: f"{c[0]}-{c[3]}")
def test_numpy_gives_what_onnxruntime_gives(chosen: Case) -> None:
    op, inputs, attributes, opset, outputs = chosen
    model = one_node(op, inputs, attributes, opset=opset, outputs=outputs)
    known = known_outputs(model)
    expected = engine_outputs(model)
    assert len(known) == len(expected)
    for value, wanted in zip(known, expected, strict=True):
        assert value is not None
        assert value.dtype == wanted.dtype
        assert value.shape == wanted.shape
        np.testing.assert_array_equal(value, wanted)


@pytest.mark.parametrize(
    "chosen",
    [
        case("Div", ints(1, 2), ints(0)),
        case("Div", ints(-(2**63)), ints(-1)),
        case("Mod", ints(1), ints(0)),
        case("Mod", floats(1.5), floats(1)),
        case("Cast", floats(np.nan), to=7),
        case("Cast", floats(1e30), to=7),
        case("Cast", floats(-1), to=2),
        case("Cast", floats(0.1, dtype="float64"), to=10),
        case("Cast", ints(1), to=8),
        case("Gather", ints(1, 2), ints(2)),
        case("Gather", ints(1, 2), ints(-3)),
        case("Reshape", BLOCK, ints(5, -1)),
        case("Reshape", np.zeros((0, 3), np.int64), ints(-1, 0), allowzero=1),
        case("Slice", NUMBERS, ints(0), ints(3), ints(0), ints(0)),
        case("Slice", NUMBERS, ints(0), ints(3), ints(4)),
        case("Squeeze", BLOCK, ints(0)),
        case("Range", np.array(0), np.array(3), np.array(0)),
        case("Range", np.array(0.0), np.array(1.0), np.array(0.1)),
        case("ConstantOfShape", ints(-1)),
        case("Max", floats(0.0), floats(-0.0)),
        case("ReduceSum", floats(1, 2)),
        case("ReduceSum", ints(2**31 - 1, 5, dtype="int32")),
        case("ReduceProd", ints(2**31, 2**31), axes=[0], opset=13),
        case("ReduceSum", ints(2**60, 1, -(2**60))),
        case("Split", ints(1, 2, 3), outputs=2, opset=13),
        case("Split", ints(1, 2, 3, 4, 5), outputs=4, num_outputs=4),
        case("Expand", ints(1, 2), ints(3)),
        case("NonZero", np.array(3)),
        case("Tile", ints(1, 2), ints(1), opset=1),
        case("Add", ints(1, 2), np.array(1), opset=6, broadcast=1),
    ],
    ids=lambda c: f"{c[0]}-{c[3]}",
)
def test_nothing_is_vouched_for(chosen: Case) -> None:
    op, inputs, attributes, opset, outputs = chosen
    model = one_node(op, inputs, attributes, opset=opset, outputs=outputs)
    assert not [value for value in known_outputs(model) if value is not None]


@pytest.mark.parametrize(
    "chosen",
    [
        case("ConstantOfShape", ints(1 << 12, 1 << 12)),
        case("ConstantOfShape", ints(1 << 40, 1 << 40)),
        case("Expand", np.array(1.0), ints(1 << 20)),
        case("Tile", floats(1, 2), ints(1 << 20)),
        case("Range", np.array(0), np.array(1 << 40), np.array(1)),
        case("Add", np.zeros((1, 4096)), np.zeros((4096, 1))),
        case("Gather", np.zeros((1, 4096)), np.zeros(4096, np.int64)),
        case("Where", np.ones((4096, 1), bool), np.zeros((1, 4096)), np.array(1.0)),
    ],
    ids=lambda c: c[0],
)
def test_what_would_be_big_is_not_made(chosen: Case) -> None:
    op, inputs, attributes, opset, _ = chosen
    assert known_outputs(one_node(op, inputs, attributes, opset=opset)) == ()


def test_bfloat16_and_float8_are_moved_and_not_computed() -> None:
    import ml_dtypes

    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        values = np.array([1, 2, 3], dtype=dtype)
        moved = known_outputs(one_node("Transpose", [values], opset=21))
        assert moved[0] is not None
        assert moved[0].dtype == values.dtype
        assert known_outputs(one_node("Add", [values, values], opset=21)) == ()
        assert known_outputs(one_node("Cast", [values], {"to": 1}, opset=21)) == ()


def test_strings_are_left_alone() -> None:
    words = np.array(["a", "b"], dtype=object)
    assert known_outputs(one_node("Gather", [words, ints(0)])) == ()
    assert known_outputs(one_node("Identity", [words])) == ()
