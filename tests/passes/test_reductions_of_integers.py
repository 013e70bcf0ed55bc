"""reduce-l2-of-integers and reduce-log-sum-of-integers: rounded down, at every edge."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of

ROOT, LOG = "reduce-l2-of-integers", "reduce-log-sum-of-integers"
EXP = "reduce-log-sum-exp-of-integers"


def _model(op: str, kind: str = "int32", opset: int = 13, *, more: str = "") -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({kind}[N, K] x) => ({kind}[N, L] y) '
        f"{{ y = {op} <axes = [1]{more}> (x) }}"
    )


def _rows(dtype: Any, *rows: tuple[int, ...]) -> np.ndarray[Any, Any]:
    longest = max(map(len, rows))
    return np.array([[*row, *[0] * (longest - len(row))] for row in rows], dtype)


SQUARES = _rows(
    np.int32, (3, 4), (-7, 2), (0,), (1,), (46340,), (46341,), (40000, 40000), (-(2**31), 5),
    (2**31 - 1, 2**31 - 1), (1, 1), (2, 1, 1, 1, 1), (4095, 90), (46340, 304),
)  # fmt: skip


@pytest.mark.parametrize("opset", [9, 11, 13])
def test_roots_are_rounded_down_and_saturate(opset: int) -> None:
    done = assert_rewrite(ROOT, _model("ReduceL2", opset=opset), feeds=[{"x": SQUARES}])
    wanted = [min(math.isqrt(sum(int(v) ** 2 for v in row)), 2**31 - 1) for row in SQUARES]
    assert outputs_of(done.after, {"x": SQUARES})["y"][:, 0].tolist() == wanted


def test_roots_of_int64() -> None:
    big = [n * n + d for n in (1, 2, 3, 94906265, 2**31, 3037000498) for d in (-1, 0, 1)]
    model = '<ir_version: 8, opset_import: ["" : 13]> g (int64[N, 1] x) => (int64[N] y) '
    model += "{ y = ReduceL2 <axes = [1], keepdims = 0> (x) }"
    x = np.array([[math.isqrt(n)] for n in big], np.int64)
    done = assert_rewrite(ROOT, model, feeds=[{"x": x}])
    assert outputs_of(done.after, {"x": x})["y"].tolist() == x[:, 0].tolist()


def test_roots_next_to_squares() -> None:
    sums = [n * n + d for n in (2, 3, 10, 46340) for d in (-1, 0, 1)]
    x = _rows(np.int32, *[_as_squares(n) for n in sums])
    done = assert_rewrite(ROOT, _model("ReduceL2"), feeds=[{"x": x}])
    assert outputs_of(done.after, {"x": x})["y"][:, 0].tolist() == [math.isqrt(n) for n in sums]


def _as_squares(number: int) -> tuple[int, ...]:
    parts: list[int] = []
    while number:
        parts.append(math.isqrt(number))
        number -= parts[-1] ** 2
    return tuple(parts)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("opset", [9, 13])
def test_logarithms_are_rounded_down(kind: str, opset: int) -> None:
    dtype = np.dtype(kind)
    sums = [1, 2, 3, 7, 8, 20, 21, 8886110, 8886111, 2**31 - 1, 0, -1, -5]
    rows = [(n,) for n in sums] + [(2**31 - 1, 2**31 - 1)]
    x = _rows(dtype, *rows)
    done = assert_rewrite(LOG, _model("ReduceLogSum", kind, opset), feeds=[{"x": x}])
    low = int(np.iinfo(dtype).min)
    wanted = [0, 0, 1, 1, 2, 2, 3, 15, 16, 21, low, low, low, 22]
    assert outputs_of(done.after, {"x": x})["y"][:, 0].tolist() == wanted


def test_every_power_of_e_counts_from_its_integer_on() -> None:
    powers = [math.ceil(math.e**k) for k in range(1, 30)]  # float64 holds them to the unit
    x = np.array([[n + d] for n in powers for d in (-1, 0)], np.int64)
    done = assert_rewrite(LOG, _model("ReduceLogSum", "int64"), feeds=[{"x": x}])
    wanted = [k + d for k in range(1, 30) for d in (-1, 0)]
    assert outputs_of(done.after, {"x": x})["y"][:, 0].tolist() == wanted


@pytest.mark.parametrize(("name", "op"), [(ROOT, "ReduceL2"), (LOG, "ReduceLogSum")])
def test_axes_as_an_input_and_in_a_branch(name: str, op: str) -> None:
    inner = f"{{ z = {op} <keepdims = 0> (x, a) }}"
    model = (
        '<ir_version: 8, opset_import: ["" : 18]> g (bool c, int32[N, 4] x) => (int32[N] y) '
        f"<int64[1] a = {{-1}}> {{ y = If (c) <then_branch = t () => (int32[N] z) {inner}, "
        "else_branch = e () => (int32[N] w) { w = ReduceMax <keepdims = 0> (x, a) }> }"
    )
    x = np.array([[1, 2, 3, 4], [9, 9, 9, 9]], np.int32)
    feeds = [{"c": np.array(flag), "x": x} for flag in (True, False)]
    done = assert_rewrite(name, model, feeds=feeds)
    wanted = [5, 18] if op == "ReduceL2" else [2, 3]
    assert outputs_of(done.after, feeds[0])["y"].tolist() == wanted


@pytest.mark.parametrize(("name", "op"), [(ROOT, "ReduceL2"), (LOG, "ReduceLogSum")])
def test_all_axes_of_a_scalar_and_of_an_array(name: str, op: str) -> None:
    for shape, x in (("", np.array(6, np.int64)), ("[2, 3]", np.full((2, 3), 2, np.int64))):
        model = f'<ir_version: 8, opset_import: ["" : 13]> g (int64{shape} x) => (int64 y) '
        model += f"{{ y = {op} <keepdims = 0> (x) }}"
        done = assert_rewrite(name, model, feeds=[{"x": x}])
        flat = [int(v) for v in x.reshape(-1)]
        root, log = math.isqrt(sum(v * v for v in flat)), int(math.log(sum(flat)))
        assert int(outputs_of(done.after, {"x": x})["y"]) == (root if name == ROOT else log)


@pytest.mark.parametrize(("name", "op"), [(ROOT, "ReduceL2"), (LOG, "ReduceLogSum")])
def test_refusals(name: str, op: str) -> None:
    assert_refused(name, _model(op, "float"), "must be int32 or int64; it is float32")
    head = '<ir_version: 8, opset_import: ["" : 18]> g (int32[N, 4] x, int64[1] a) => (int32[N] y) '
    assert_refused(name, head + f"{{ y = {op} <keepdims = 0> (x, a) }}", "computed at run time")
    idle = '<ir_version: 8, opset_import: ["" : 18]> g (int32[N] x) => (int32[N] y) '
    idle += f"{{ y = {op} <noop_with_empty_axes = 1> (x) }}"
    assert_refused(name, idle, "without them nothing is reduced")
    assert_untouched(name, _model("ReduceMax", "int32"))


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_exponentials_of_differences_are_whole(kind: str) -> None:
    x = _rows(
        np.dtype(kind), (5, 4, 4, 4), (-5, -5, -5, -5), (-1, -1, -1, -1), (7, 7, 7, 1),
        (2000, 1999, 0, 0), (-9, -90, -90, -90), (0, 0, 0, -1),
    )  # fmt: skip
    done = assert_rewrite(EXP, _model("ReduceLogSumExp", kind), feeds=[{"x": x}])
    wanted = [5, -3, 0, 8, 2000, -9, 1]
    assert outputs_of(done.after, {"x": x})["y"][:, 0].tolist() == wanted
    flat = _model("ReduceLogSumExp", kind, more=", keepdims = 0").replace("[N, L]", "[N]")
    assert_rewrite(EXP, flat, feeds=[{"x": x}])
    assert_refused(EXP, _model("ReduceLogSumExp", "float"), "must be int32 or int64")
