"""The table of operators: one row each, read in the text of the operators.

Every row holds for all opsets that have the operator. `tests/operators` holds the table against
the schemas of onnx and against the values of its node tests.

References: https://onnx.ai/onnx/operators/
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from graphfix.operators.row import Draws, Motion, Operator

_FIRST = (0,)


def _moving(motion: Motion, *names: str, data: tuple[int, ...] = _FIRST) -> Iterable[Operator]:
    return (Operator(name, motion, data) for name in names)


def _elementwise(*names: str) -> Iterable[Operator]:
    return (Operator(name, elementwise=True) for name in names)


def _comparing(*names: str) -> Iterable[Operator]:
    return (Operator(name, compares=True, elementwise=True) for name in names)


def _ranged(low: float, high: float, *names: str) -> Iterable[Operator]:
    return (Operator(name, elementwise=True, low=low, high=high) for name in names)


def _rounding(*names: str, elementwise: bool = False) -> Iterable[Operator]:
    return (Operator(name, elementwise=elementwise, rounds=True) for name in names)


def _reducing(*names: str) -> Iterable[Operator]:
    return (Operator(name, axes=1) for name in names)


_ROWS = (
    # What moves elements.
    Operator("Flatten", Motion.SAME, _FIRST),
    Operator("Identity", Motion.SAME, _FIRST, elementwise=True),
    Operator("Reshape", Motion.SAME, _FIRST, sizes=(1,)),
    Operator("Squeeze", Motion.SAME, _FIRST, axes=1),
    Operator("Unsqueeze", Motion.SAME, _FIRST, axes=1),
    *_moving(Motion.ORDERED, "DepthToSpace", "ReverseSequence", "SpaceToDepth", "Transpose"),
    Operator("Slice", Motion.RANGE, _FIRST, sizes=(1, 2, 3, 4)),
    Operator("Split", Motion.RANGE, _FIRST, sizes=(1,)),
    *_moving(Motion.PICKED, "Compress", "Gather", "GatherElements", "GatherND"),
    Operator("Expand", Motion.COPIED, _FIRST, sizes=(1,)),
    Operator("Tile", Motion.COPIED, _FIRST, sizes=(1,)),
    Operator("Concat", Motion.JOINED),
    # What gives elements that it got, or zeros.
    Operator("Clip", Motion.CHOSEN, (0, 1, 2), elementwise=True),
    Operator("Max", Motion.CHOSEN, elementwise=True, commutes=True),
    Operator("Min", Motion.CHOSEN, elementwise=True, commutes=True),
    Operator("Where", Motion.CHOSEN, (1, 2), elementwise=True),
    Operator("Relu", Motion.CHOSEN, _FIRST, elementwise=True, low=0.0),
    Operator("OneHot", Motion.CHOSEN, (2,), sizes=(1,)),
    Operator("Pad", Motion.CHOSEN, (0, 2), sizes=(1, 3)),
    Operator("ReduceMax", Motion.CHOSEN, _FIRST, axes=1),
    Operator("ReduceMin", Motion.CHOSEN, _FIRST, axes=1),
    Operator("TopK", Motion.CHOSEN, _FIRST, sizes=(1,), places=1),
    *_moving(Motion.CHOSEN, "MaxPool", "Trilu", "Unique"),
    # With a reduction they compute others.
    *_moving(Motion.CHOSEN, "ScatterElements", "ScatterND", data=(0, 2)),
    # What makes tensors of computed sizes.
    Operator("ConstantOfShape", sizes=(0,)),
    Operator("Range", sizes=(0, 1, 2)),
    Operator("Resize", sizes=(1, 2, 3)),
    Operator("Upsample", sizes=(1,)),
    # What reduces over axes.
    *_reducing("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceProd"),
    *_reducing("ReduceSumSquare"),
    Operator("ReduceMean", axes=1, rounds=True),
    Operator("ReduceSum", axes=1, rounds=True),
    # What adds up products.
    *_rounding("AveragePool", "Conv", "ConvTranspose", "Einsum", "Gemm", "MatMul"),
    # What reads a shape, and what gives positions.
    Operator("EyeLike", reads_shape=True),
    Operator("Shape", reads_shape=True, places=0),
    Operator("Size", reads_shape=True, places=0),
    Operator("ArgMax", places=0),
    Operator("ArgMin", places=0),
    Operator("NonZero", places=0),
    # What draws.
    Operator("RandomNormal", draws=Draws.ALWAYS),
    Operator("RandomNormalLike", draws=Draws.ALWAYS, reads_shape=True),
    Operator("RandomUniform", draws=Draws.ALWAYS),
    Operator("RandomUniformLike", draws=Draws.ALWAYS, reads_shape=True),
    Operator("Bernoulli", draws=Draws.ALWAYS, draws_by_data=True),
    Operator("Multinomial", draws=Draws.ALWAYS, draws_by_data=True),
    Operator("Dropout", draws=Draws.TRAINING, draws_by_data=True),
    # What compares, and what computes element by element.
    Operator("Equal", compares=True, elementwise=True, commutes=True),
    *_comparing("Greater", "GreaterOrEqual", "Less", "LessOrEqual"),
    *_ranged(0.0, 1.0, "HardSigmoid", "Sigmoid"),
    *_ranged(-1.0, 1.0, "Erf", "Softsign", "Tanh"),
    *_ranged(0.0, inf, "Exp", "Sqrt"),
    Operator("Softmax", low=0.0, high=1.0),
    Operator("LogSoftmax", high=0.0),
    # The smallest integer of a type has no opposite and stays as it is.
    *_elementwise("Abs", "Cast", "Ceil", "Floor", "LeakyRelu", "Log", "Mod", "Neg", "Not"),
    *_elementwise("Pow", "Reciprocal", "Round", "Sign"),
    *(Operator(name, elementwise=True, commutes=True) for name in ("And", "Or", "Xor")),
    *_rounding("Div", "Sub", elementwise=True),
    *(
        Operator(name, elementwise=True, commutes=True, rounds=True)
        for name in ("Add", "Mul", "Sum")
    ),
)

OPERATORS = {row.name: row for row in _ROWS}


def moving(*motions: Motion) -> frozenset[str]:
    """Return the operators that move elements in one of these ways."""
    return frozenset(row.name for row in _ROWS if row.motion in motions)


# All elements of the results are elements of the first input.
MOVES_FIRST = moving(Motion.SAME, Motion.ORDERED, Motion.RANGE, Motion.PICKED, Motion.COPIED)
# Those, but for what other inputs pick.
CARRIES_FIRST = MOVES_FIRST - moving(Motion.PICKED)
# All elements of the results are elements of inputs, limits or zeros.
GIVES_ELEMENTS = MOVES_FIRST | moving(Motion.JOINED, Motion.CHOSEN)

SIZES = {row.name: row.sizes for row in _ROWS if row.sizes}
AXES = {row.name: row.axes for row in _ROWS if row.axes is not None}
READS_SHAPE = frozenset(row.name for row in _ROWS if row.reads_shape)
PLACES = {row.name: row.places for row in _ROWS if row.places is not None}

RANDOM = frozenset(row.name for row in _ROWS if row.draws is Draws.ALWAYS)
MAY_DRAW = frozenset(row.name for row in _ROWS if row.draws is not None)
DRAWS_BY_DATA = frozenset(row.name for row in _ROWS if row.draws_by_data)

REDUCTIONS = tuple(sorted(row.name for row in _ROWS if row.name.startswith("Reduce")))
COMPARISONS = frozenset(row.name for row in _ROWS if row.compares)
ELEMENTWISE = frozenset(row.name for row in _ROWS if row.elementwise)
COMMUTES = frozenset(row.name for row in _ROWS if row.commutes)
ROUNDS = frozenset(row.name for row in _ROWS if row.rounds)
NOT_NEGATIVE = frozenset(row.name for row in _ROWS if row.low >= 0)
LIMITED = frozenset(row.name for row in _ROWS if row.low > -inf and row.high < inf)
