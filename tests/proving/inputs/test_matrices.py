from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from graphfix.proving.inputs.draws import STYLES, floats, is_free
from graphfix.proving.inputs.uses import Use


@pytest.mark.parametrize(
    ("op", "named"), [("ATen", "linalg_inv"), ("Inverse", ""), ("ATen", "aten::inverse")]
)
def test_matrices_that_are_inverted_are_regular(op: str, named: str) -> None:
    attributes = {"operator": named} if named else {}
    use = Use(helper.make_node(op, ["x"], ["y"], **attributes), 0)
    rng = np.random.default_rng(0)
    for style in range(STYLES):
        for size in (1, 2, 3, 8):
            drawn = floats((4, size, size), style, [use], rng)
            assert drawn.shape == (4, size, size)
            assert np.linalg.cond(drawn).max() < 1e3
    # a pivot has to be looked for: the diagonal does not always hold the largest entry
    drawn = floats((20, 4, 4), 0, [use], rng)
    assert (np.abs(drawn[:, :, 0]).argmax(axis=1) != 0).any()


@pytest.mark.parametrize("named", ["linalg_cholesky", "aten::linalg_cholesky_ex", "cholesky"])
def test_matrices_that_have_a_root_are_symmetric_and_positive(named: str) -> None:
    use = Use(helper.make_node("ATen", ["x"], ["y"], operator=named), 0)
    rng = np.random.default_rng(0)
    for style in range(STYLES):
        drawn = floats((4, 5, 5), style, [use], rng)
        np.testing.assert_allclose(drawn, drawn.swapaxes(-1, -2), rtol=1e-12)
        assert np.linalg.eigvalsh(drawn).min() > 1e-3
    assert not is_free((4, 5, 5), [use])
    assert is_free((4, 5), [use])


def test_other_uses_draw_as_before() -> None:
    use = Use(helper.make_node("ATen", ["x"], ["y"], operator="triu"), 0)
    drawn = floats((8, 8), 0, [use], np.random.default_rng(0))
    assert (drawn[:, -1] == drawn[:, 0]).all()
