"""Which arguments change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphfix.operators.arguments.aten_table import overloads_of
from graphfix.operators.arguments.neutral import contrib_form, equal, is_harmless_in, is_neutral


@pytest.mark.parametrize(
    ("operator", "overload", "argument", "value", "neutral"),
    [
        ("all", "dim", "keepdim", np.array(False), True),
        ("all", "dim", "keepdim", 1, False),
        ("all", "dim", "dim", 0, False),
        ("add", "Tensor", "alpha", np.array(1, np.int64), True),
        ("add", "Tensor", "alpha", 2, False),
        ("gelu", "", "approximate", "none", True),
        ("gelu", "", "approximate", "tanh", False),
        ("max_pool2d", "", "padding", [0, 0], True),
        ("max_pool2d", "", "padding", [0, 1], False),
        ("batch_norm", "", "momentum", 0.3, True),
        ("to", "dtype", "memory_format", 2, True),
        ("ones_like", "", "layout", 0, True),
        ("ones_like", "", "layout", 2, False),
        ("sum", "dim_IntList", "dtype", None, True),
        ("embedding", "", "padding_idx", 3, True),
        ("embedding_bag", "padding_idx", "padding_idx", 3, False),
        ("layer_norm", "", "eps", 1e-5, True),
        ("layer_norm", "", "eps", 1e-3, False),
    ],
)
def test_arguments_of_aten(
    operator: str, overload: str, argument: str, value: Any, neutral: bool
) -> None:
    (found,) = (one for one in overloads_of(operator) if one.name == overload)
    assert is_neutral(found, argument, value) is neutral


def test_operators_of_onnxruntime() -> None:
    form = contrib_form("Attention")
    assert form is not None
    assert form.inputs[:3] == ("input", "weights", "bias")
    assert form.defaults["unidirectional"] == 0
    assert form.defaults["scale"] is None
    assert contrib_form("NoSuchOperator") is None


def test_what_is_harmless_in_other_domains() -> None:
    assert is_harmless_in("", "Glow_Add", "i0_elemKind")
    assert not is_harmless_in("", "Glow_Add", "axis")
    assert is_harmless_in("onnx.brevitas", "DebugMarker", "export_debug_name")
    assert not is_harmless_in("com.microsoft", "Attention", "scale")


def test_numbers_are_compared_as_files_hold_them() -> None:
    assert equal(float(np.float32(0.1)), 0.1)
    assert not equal(0.1001, 0.1)
    assert equal([], [])
    assert not equal([], 1)
    assert not equal(0, None)
