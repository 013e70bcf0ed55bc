"""Which overload of an ATen operator takes what a node gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from graphfix.operators.arguments.aten_table import (
    REQUIRED,
    Arguments,
    Unfit,
    given_array,
    given_attribute,
    operators,
    overloads_of,
    resolved,
)

X = np.zeros((2, 3), np.float32)
NUMBER = np.array(1, np.int64)
LIST = np.array([1, 0], np.int64)


def called(
    operator: str,
    inputs: Sequence[Any],
    attributes: dict[str, Any] | None = None,
    overload: str | None = None,
    results: int = 1,
) -> str:
    named = {name: given_attribute(value) for name, value in (attributes or {}).items()}
    given = Arguments(named, tuple(map(given_array, inputs)), results, results)
    (found,) = resolved(operator, overload, given)
    return found.name


def test_the_table_has_defaults_and_lists() -> None:
    (only,) = (one for one in overloads_of("sum") if one.name == "dim_IntList")
    assert only.names == ("self", "dim", "keepdim", "dtype")
    assert [argument.default for argument in only.arguments[2:]] == [False, None]
    assert only.arguments[0].default is REQUIRED
    assert [argument.by_name for argument in only.arguments] == [False, False, False, True]
    (both,) = (one for one in overloads_of("max") if one.name == "dim")
    assert both.results == 2
    assert len(operators()) > 540
    assert overloads_of("no_such_operator") == ()


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "overload"),
    [
        ("all", [X], {}, ""),
        ("all", [X], {"dim": 1, "keepdim": 1}, "dim"),
        ("all", [X], {"dim": [0, 1]}, "dims"),
        ("all", [X, NUMBER, NUMBER], {}, "dim"),
        ("all", [X, LIST], {}, "dims"),
        ("sum", [X, None], {}, ""),
        ("sum", [X, LIST, NUMBER, None], {}, "dim_IntList"),
        ("max", [X], {}, ""),
        ("max", [X, X], {}, "other"),
        ("max", [X], {"dim": 1}, "dim"),
        ("std", [X, LIST], {"unbiased": 0, "keepdim": 1}, "dim"),
        ("std", [X, LIST], {"correction": 2}, "correction"),
        ("div", [X, X], {"rounding_mode": "floor"}, "Tensor_mode"),
        ("split", [X, NUMBER], {}, "Tensor"),
        ("split", [X, LIST], {}, ""),
        ("view", [X, LIST], {}, ""),
        ("addmm", [X, X, X, NUMBER, NUMBER], {}, ""),
        ("argsort", [X, NUMBER, NUMBER, NUMBER], {}, "stable"),
        ("upsample_nearest2d", [X], {"scale_factors": [2.0, 2.0]}, "vec"),
    ],
)
def test_what_is_given_decides(
    operator: str, inputs: list[Any], attributes: dict[str, Any], overload: str
) -> None:
    assert called(operator, inputs, attributes) == overload


def test_a_default_overload_that_is_named() -> None:
    assert called("sum", [X, NUMBER], overload="") == ""
    assert called("max", [X, X], overload="") == "other"  # the default one takes no other


def test_outputs_decide() -> None:
    assert called("max", [X, NUMBER], results=2) == "dim"


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "named", "reason"),
    [
        ("max", [X, NUMBER], {}, None, "must be named; 'dim', 'other' all take"),
        ("sum", [X, NUMBER], {}, None, "must be named; '', 'dim_IntList' all take"),
        ("std", [X, LIST, NUMBER, NUMBER], {}, None, "'correction', 'dim' all take"),
        ("all", [X], {"axis": 1}, None, "attribute axis is none of the arguments of aten::all"),
        ("relu", [X, X], {}, "", "aten::relu takes 1 inputs; 2 are given"),
        ("all", [X, NUMBER, NUMBER, NUMBER], {}, "dim", "aten::all.dim takes 3 inputs; 4 are"),
        ("sum", [X], {"dim": [0], "unbiased": 0}, "dim_IntList", "attribute unbiased is none"),
    ],
)
def test_what_no_overload_or_several_take(
    operator: str, inputs: list[Any], attributes: dict[str, Any], named: str | None, reason: str
) -> None:
    with pytest.raises(Unfit, match=reason):
        called(operator, inputs, attributes, named)


def test_outputs_that_no_overload_has() -> None:
    with pytest.raises(Unfit, match="aten::relu has 1 outputs; 2 are asked for"):
        called("relu", [X], results=2)


def test_an_operator_or_overload_that_is_not_in_the_table() -> None:
    assert resolved("no_such_operator", "", Arguments({}, ())) == ()
    assert resolved("all", "of_tomorrow", Arguments({}, (given_array(X),))) == ()
