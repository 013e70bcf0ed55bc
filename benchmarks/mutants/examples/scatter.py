"""Writing into tensors."""

from __future__ import annotations

import numpy as np

from benchmarks.mutants.examples.example import Example

_I = np.int64
_RNG = np.random.default_rng(6)
_LINE = np.ascontiguousarray(np.broadcast_to(np.array([4, 0, -2], _I), (30, 6, 3)))
_SCATTERED = np.argsort(_RNG.random((30, 6, 9)), axis=2)[:, :, :4].astype(_I)
_ROWS = np.array([[3, 1], [0, 5], [-1, 2], [2, 2]], _I)
_BLOCK = np.array([[[1, j] for j in (2, 3, 4)], [[2, j] for j in (2, 3, 4)]], _I)
_TWICE = np.array([[3, 1], [0, 5], [3, 1], [2, 2]], _I)
_TYPES = ("float", "int32", "int64", "uint8")


def _nd(unit: str, rows: np.ndarray, form: str, **more: object) -> Example:
    reduction = str(more.pop("reduction", ""))
    attribute = f' <reduction = "{reduction}">' if reduction else ""
    count = "2, 3" if rows.ndim == 3 else str(len(rows))
    text = (
        f"g (T[{form}] x, T[{count}, 50] u) => (T[{form}] y)"
        f" {{ y = ScatterND{attribute} (x, i, u) }}"
    )
    return Example(unit, text, arrays={"i": rows}, **more)  # type: ignore[arg-type]


EXAMPLES = (
    Example(
        "scatterelements-to-where",
        "g (T[30, 6, 9] x, T[30, 6, 3] u) => (T[30, 6, 9] y)"
        " { y = ScatterElements <axis = 2> (x, i, u) }",
        types=_TYPES,
        arrays={"i": _LINE},
    ),
    Example(
        "scatterelements-to-where",
        "g (T[30, 6, 9] x, T[30, 6, 4] u) => (T[30, 6, 9] y)"
        " { y = ScatterElements <axis = -1> (x, i, u) }",
        types=("float", "int8"),
        arrays={"i": _SCATTERED},
    ),
    Example(
        "scatterelements-to-where",
        "g (T[30, 6, 9] x, T[30, 6, 3] u) => (T[30, 6, 9] y)"
        ' { y = ScatterElements <axis = 2, reduction = "add"> (x, i, u) }',
        types=("float", "int32"),
        opset=18,
        arrays={"i": np.where(_LINE == 0, 4, _LINE)},
    ),
    Example(
        "scatterelements-to-where",
        "g (T[6, 500] x, T[1, 500] u) => (T[6, 500] y)"
        " { y = ScatterElements <axis = 0> (x, i, u) }",
        types=("float",),
        arrays={"i": np.full((1, 500), 3, _I)},
    ),
    Example(  # refused: computed indices
        "scatterelements-to-where",
        "g (T[30, 9] x, int64[30, 4] j, T[30, 4] u) => (T[30, 9] y)"
        " { y = ScatterElements <axis = 1> (x, j, u) }",
        domains={"j": "pairs 0 9"},
    ),
    Example(
        "scatterelements-to-where",
        "g (T[8, 8, 8] x, T[8, 8, 8] u) => (T[8, 8, 8] y)"
        " { y = ScatterElements <axis = 1> (x, i, u) }",
        types=("float", "int32"),
        arrays={"i": np.argsort(_RNG.random((8, 8, 8)), axis=1).astype(_I)},
    ),
    Example(
        "scatterelements-to-where",
        "g (T[8, 8, 8] x, T[8, 8, 8] u) => (T[8, 8, 8] y)"
        ' { y = ScatterElements <axis = -2, reduction = "mul"> (x, i, u) }',
        types=("float",),
        opset=18,
        domains={"x": "mild", "u": "mild"},
        arrays={"i": _RNG.integers(-8, 8, (8, 8, 8)).astype(_I)},
    ),
    _nd("scatternd-to-where", np.array([[k, 7 - k] for k in range(8)], _I), "8, 8, 50"),
    _nd("scatternd-to-scatterelements", np.array([[k, 7 - k] for k in range(8)], _I), "8, 8, 50"),
    _nd(
        "scatternd-to-slice-concat",
        np.array([[[k, j] for j in range(3, 6)] for k in (2, 3)], _I),
        "8, 8, 50",
    ),
    _nd(
        "scatternd-to-slice-concat",
        np.array([[[k, j] for j in range(3)] for k in (6, 7)], _I),
        "8, 8, 50",
    ),
    _nd("scatternd-to-where", _ROWS, "5, 7, 50", types=_TYPES),
    _nd("scatternd-to-where", _TWICE, "5, 7, 50", types=("float",), reduction="add", opset=18),
    _nd("scatternd-to-where", _TWICE, "5, 7, 50", types=("int32",), reduction="max", opset=18),
    _nd("scatternd-to-where", _ROWS[:1], "5, 7, 50", types=("float", "uint8")),
    _nd("scatternd-to-slice-concat", _BLOCK, "4, 6, 50", types=_TYPES),
    _nd("scatternd-to-slice-concat", _BLOCK, "4, 6, 50", reduction="mul", opset=18),
    _nd("scatternd-to-slice-concat", _ROWS, "5, 7, 50", types=("float",)),
    _nd("scatternd-to-slice-concat", np.array([[1, 2]], _I), "4, 6, 50", types=("float",)),
    _nd("scatternd-to-scatterelements", _ROWS, "5, 7, 50", types=_TYPES),
    _nd("scatternd-to-scatterelements", _TWICE, "5, 7, 50", reduction="add", opset=18),
    Example(
        "scatternd-to-scatterelements",
        "g (T[9, 7, 50] x, int64[6, 2] i, T[6, 50] u) => (T[9, 7, 50] y)"
        " { y = ScatterND (x, i, u) }",
        types=("float", "int64"),
        domains={"i": "tuples -9:9,0:7"},
    ),
    Example(
        "scatternd-to-scatterelements",
        "g (T[N, 50] x, int64[6, 1] i, T[6, 50] u) => (T[N, 50] y) { y = ScatterND (x, i, u) }",
        sizes={"N": (6, 40)},
        domains={"i": "tuples 0:6"},
    ),
    Example(
        "scatter-reduction-elimination",
        "g (T[30, 9] x, T[30, 4] u) => (T[30, 9] y)"
        ' { y = ScatterElements <axis = 1, reduction = "add"> (x, i, u) }',
        types=("float", "int32"),
        opset=18,
        arrays={"i": _SCATTERED[:, 0]},
    ),
    Example(
        "scatter-reduction-elimination",
        "g (T[5, 7, 50] x, T[4, 50] u) => (T[5, 7, 50] y)"
        ' { y = ScatterND <reduction = "max"> (x, i, u) }',
        types=("float",),
        opset=18,
        arrays={"i": _ROWS},
    ),
    Example(
        "scatter-to-scatterelements",
        "g (T[30, 6, 9] x, T[30, 6, 4] u) => (T[30, 6, 9] y) { y = Scatter <axis = 2> (x, i, u) }",
        opset=10,
        arrays={"i": _SCATTERED},
    ),
)
