"""The rules of MNN, what its messages name, and what to do next."""

from __future__ import annotations

import pytest

from graphfix.engines.engine import engine_of
from graphfix.engines.interface import Written
from graphfix.engines.targets import load_target

M = "mnn3.6"


@pytest.mark.parametrize(
    ("said", "named"),
    [
        (":220: These Op Not Support: ONNX::IsNaN | ONNX::Det Converted Failed!", ("IsNaN", "")),
        ("Convert Onnx's Op t5 , type = Einsum, failed, may be some node", ("Einsum", "t5")),
        ("run returned 0 of 1 outputs", ("", "")),
    ],
)
def test_what_a_message_names(said: str, named: tuple[str, str]) -> None:
    assert engine_of("mnn").blamed(said) == named


def test_the_next_step_is_the_converter() -> None:
    written = Written("my model.onnx", False, lambda: ((), frozenset()))
    step = engine_of("mnn").next_step(written, load_target(M))
    assert step is not None
    assert step.command == (
        "MNNConvert -f ONNX --modelFile 'my model.onnx' --MNNModel 'my model.mnn' "
        "--bizCode graphfix"
    )
