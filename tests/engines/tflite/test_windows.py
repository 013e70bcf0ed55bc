"""TFLite: pads before a window."""

from __future__ import annotations

from graphfix import run
from tests.engines.cases import model_of

TARGET = "tflite1.29"
PADDED = (
    "(float[1,2,9,7] x) => (float[1,2,A,B] y) <int64[8] p = {0,0,PAD,1,0,0,2,2}, float z = {ZERO}>"
    " { h = OP (x) q = Pad (h, p, z) y = MaxPool <kernel_shape = [3,3] AUTO> (q) }"
)


def padded(*, op: str = "Relu", pad: int = 1, zero: float = 0.0, auto: str = "") -> str:
    named = f', auto_pad = "{auto}"' if auto else ""
    text = PADDED.replace("OP", op).replace("PAD", str(pad)).replace("ZERO", str(zero))
    return text.replace("AUTO", named)


def test_they_are_explicit() -> None:
    result = run(model_of(padded(auto="VALID")), TARGET, trust_rules=True)
    assert result.exit_code == 0
    (pool,) = [node for node in result.model.graph.nodes if node.op == "MaxPool"]
    assert "auto_pad" not in pool.attrs
