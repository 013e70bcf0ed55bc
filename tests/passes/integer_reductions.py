"""Models of reductions of integers, and what each of their passes has to do."""

from collections.abc import Callable
from typing import Any

import numpy as np

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of


def model_of(op: str, kind: str = "int32", opset: int = 13, *, more: str = "") -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({kind}[N, K] x) => ({kind}[N, L] y) '
        f"{{ y = {op} <axes = [1]{more}> (x) }}"
    )


def rows_of(dtype: Any, *rows: tuple[int, ...]) -> np.ndarray[Any, Any]:
    longest = max(map(len, rows))
    return np.array([[*row, *[0] * (longest - len(row))] for row in rows], dtype)


def check_axes_as_an_input_and_in_a_branch(name: str, op: str, wanted: list[int]) -> None:
    inner = f"{{ z = {op} <keepdims = 0> (x, a) }}"
    model = (
        '<ir_version: 8, opset_import: ["" : 18]> g (bool c, int32[N, 4] x) => (int32[N] y) '
        f"<int64[1] a = {{-1}}> {{ y = If (c) <then_branch = t () => (int32[N] z) {inner}, "
        "else_branch = e () => (int32[N] w) { w = ReduceMax <keepdims = 0> (x, a) }> }"
    )
    x = np.array([[1, 2, 3, 4], [9, 9, 9, 9]], np.int32)
    feeds = [{"c": np.array(flag), "x": x} for flag in (True, False)]
    done = assert_rewrite(name, model, feeds=feeds)
    assert outputs_of(done.after, feeds[0])["y"].tolist() == wanted


def check_all_axes(name: str, op: str, of: Callable[[list[int]], int]) -> None:
    for shape, x in (("", np.array(6, np.int64)), ("[2, 3]", np.full((2, 3), 2, np.int64))):
        model = f'<ir_version: 8, opset_import: ["" : 13]> g (int64{shape} x) => (int64 y) '
        model += f"{{ y = {op} <keepdims = 0> (x) }}"
        done = assert_rewrite(name, model, feeds=[{"x": x}])
        flat = [int(v) for v in x.reshape(-1)]
        assert int(outputs_of(done.after, {"x": x})["y"]) == of(flat)


def check_refusals(name: str, op: str) -> None:
    assert_refused(name, model_of(op, "float"), "must be int32 or int64; it is float32")
    head = '<ir_version: 8, opset_import: ["" : 18]> g (int32[N, 4] x, int64[1] a) => (int32[N] y) '
    assert_refused(name, head + f"{{ y = {op} <keepdims = 0> (x, a) }}", "computed at run time")
    idle = '<ir_version: 8, opset_import: ["" : 18]> g (int32[N] x) => (int32[N] y) '
    idle += f"{{ y = {op} <noop_with_empty_axes = 1> (x) }}"
    assert_refused(name, idle, "without them nothing is reduced")
    assert_untouched(name, model_of("ReduceMax", "int32"))
