"""Trilu below opset 14, and for engines without it: any diagonal of any matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from graphfix import run
from graphfix.testing import run_pass
from tests.opset.conversion import converted, model_of
from tests.sessions import session_of

LOWEST, HIGHEST = -(2**63), 2**63 - 1
DIAGONALS = [
    *(LOWEST, LOWEST + 1, -(2**53) - 1, -(2**31) - 1, -(2**31), -2, 0, 1, 3),
    *(2**31 - 1, 2**31, 2**53 + 1, HIGHEST - 1, HIGHEST),
]
SHAPES = [(3, 5), (5, 3), (1, 1), (0, 4), (4, 0), (1, 6), (6, 1)]


def model(upper: int, *, k: int | None = None, dims: str = "n,m") -> ModelProto:
    """Return a Trilu of opset 14 with a constant or a computed diagonal."""
    constant = "" if k is None else f"k = Constant<value = int64 {{{k}}}>() "
    given = ", int64 k" if k is None else ""
    header = f"(float[{dims}] x{given}) => (float[{dims}] y)"
    return model_of(
        f'<ir_version: 8, opset_import: ["" : 14]>\ng {header}\n'
        f"{{ {constant}y = Trilu<upper = {upper}>(x, k) }}"
    )


def assert_keeps(session: Any, upper: int, shape: tuple[int, int], k: int, feed: Any) -> None:
    x = np.arange(1, shape[0] * shape[1] + 1, dtype=np.float32).reshape(shape)
    away = np.arange(shape[1])[None, :] - np.arange(shape[0])[:, None]
    (given,) = session.run(None, {"x": x, **feed})
    np.testing.assert_array_equal(given, np.where(away >= k if upper else away <= k, x, 0))


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("how", ["opset 13", "trilu-to-where"])
def test_trilu_with_a_computed_diagonal_near_the_ends_of_int64(upper: int, how: str) -> None:
    proto = model(upper)
    result = converted(proto, 13) if how == "opset 13" else run_pass(how, proto).after
    assert "Trilu" not in {node.op_type for node in result.graph.node}
    session = session_of(result)
    for shape in SHAPES:
        for k in DIAGONALS:
            assert_keeps(session, upper, shape, k, {"k": np.array(k)})


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [LOWEST, LOWEST + 1, -(2**31) - 1, 2**31, HIGHEST])
@pytest.mark.parametrize("dims", ["n,m", "3,5"])
@pytest.mark.parametrize("how", ["opset 13", "trilu-to-where"])
def test_trilu_with_a_constant_diagonal_near_the_ends_of_int64(
    how: str, dims: str, k: int, upper: int
) -> None:
    proto = model(upper, k=k, dims=dims)
    result = converted(proto, 13) if how == "opset 13" else run_pass(how, proto).after
    assert_keeps(session_of(result), upper, (3, 5), k, {})


@pytest.mark.parametrize("options", [{"target": "trt8.2"}, {"opset": 9}])
def test_a_diagonal_of_the_lowest_int64_ends_in_0(options: dict[str, Any]) -> None:
    done = run(model(1, k=LOWEST), **options, verify="sites")
    assert done.exit_code == 0
    assert done.model is not None
    assert_keeps(session_of(done.model.to_proto()), 1, (3, 5), LOWEST, {})
