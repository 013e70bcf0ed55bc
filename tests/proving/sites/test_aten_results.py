"""The numpy models of ATen operators against PyTorch's own results, see `fixtures/aten`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphfix.authoring.registry import shipped_passes

RESULTS = Path(__file__).resolve().parents[3] / "fixtures" / "aten" / "results.npz"
Array = np.ndarray[Any, Any]


def _calls() -> dict[str, dict[str, Array]]:
    found: dict[str, dict[str, Array]] = {}
    with np.load(RESULTS) as stored:
        for name in stored.files:
            call, _, part = name.rpartition(".")
            found.setdefault(call, {})[part] = stored[name]
    return found


CALLS = _calls()
EVALUATORS = {
    declared.id.replace("-", "_"): declared.evaluate
    for declared in shipped_passes()
    if declared.evaluate is not None and declared.id.startswith("aten-")
}


def _in_order(call: dict[str, Array], kind: str) -> list[Array | None]:
    places = [int(part.removeprefix(kind)) for part in call if part.startswith(kind)]
    return [call.get(f"{kind}{place}") for place in range(max(places) + 1)]


@pytest.mark.parametrize("name", CALLS)
def test_a_numpy_model_computes_what_pytorch_does(name: str) -> None:
    call = CALLS[name]
    evaluate = EVALUATORS[name.partition(".")[0]]
    found = evaluate(_in_order(call, "in"), {"operator": str(call["operator"])})
    expected = _in_order(call, "out")
    assert len(found) >= len(expected)  # those of a wider variant follow
    for one, two in zip(found, expected, strict=False):
        assert two is not None
        result = np.asarray(one)
        assert (result.dtype, result.shape) == (two.dtype, two.shape)
        np.testing.assert_allclose(result, two, rtol=2e-5, atol=2e-5)


def test_every_numpy_model_of_an_aten_operator_is_compared() -> None:
    owners = {name.partition(".")[0] for name in CALLS}
    assert owners == set(EVALUATORS) - {"aten_by_exporter"}  # its model is PyTorch itself
