"""signed-bitshift-to-arithmetic: arithmetic shifts, as onnx defines them from opset 28 on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "signed-bitshift-to-arithmetic"
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def shifted(number: int, by: int, bits: int, direction: str) -> int:
    """What the page of the operator says, with the integers of Python."""
    out = by < 0 or by >= bits
    if direction == "RIGHT":
        return (-1 if number < 0 else 0) if out else number >> by
    if out:
        return 0
    kept = (number << by) & ((1 << bits) - 1)
    return kept - (1 << bits) if kept >= 1 << (bits - 1) else kept


def model(kind: str, direction: str, constant: list[int] | None = None) -> str:
    given_ = ""
    name, inputs = "k", f"{kind}[N] x, {kind}[N] k"
    if constant is not None:
        numbers = ", ".join(map(str, constant))
        given_ = f"@k = Constant <value = {kind}[{len(constant)}] {{{numbers}}}> ()\n"
        name, inputs = "@k", f"{kind}[N] x"
    body = f'{given_}@y = BitShift <direction = "{direction}"> (x, {name})'
    return written(body, inputs, f"{kind}[N]", opset=28)


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("kind", list(BITS))
def test_every_shift_of_the_ends(kind: str, direction: str) -> None:
    bits = BITS[kind]
    most = 2 ** (bits - 1)
    ends = [-most, -most + 1, -8, -1, 0, 1, 5, most - 1]
    shifts = [-most, -1, *range(bits + 2), most - 1]
    x = np.repeat(np.array(ends, kind), len(shifts))
    k = np.tile(np.array(shifts, kind), len(ends))
    wanted = [shifted(int(a), int(b), bits, direction) for a, b in zip(x, k, strict=True)]
    done = run_pass(PASS, model(kind, direction))
    assert outputs_of(done.after, {"x": x, "k": k})["y"].tolist() == wanted
    fixed = run_pass(PASS, model(kind, direction, k.tolist()))
    assert outputs_of(fixed.after, {"x": x})["y"].tolist() == wanted


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-3, 35), st.sampled_from(["LEFT", "RIGHT"]))
def test_any_number_of_32_bits(number: int, by: int, direction: str) -> None:
    done = run_pass(PASS, model("int32", direction))
    feed = {"x": np.array([number], np.int32), "k": np.array([by], np.int32)}
    assert outputs_of(done.after, feed)["y"].tolist() == [shifted(number, by, 32, direction)]
