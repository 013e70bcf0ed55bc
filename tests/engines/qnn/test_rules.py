"""The rules of QNN, and what its messages name."""

from __future__ import annotations

import pytest

from graphfix.engines.engine import engine_of
from tests.engines.cases import check, model_of

Q = "qnn2"
WINDOWS = (
    "(float[{b},8,8,3] x) => (float[A,B,C] y) <int64[6] s = {{{b},2,4,2,4,3}}, "
    "int64[3] t = {{-1,16,3}}> {{ p = Reshape (x, s) q = Transpose <perm = [{perm}]> (p) "
    "y = Reshape (q, t) }}"
)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("left to the CPU: Acosh('b'), Det('c')", ("Acosh", "b")),
        ("Failed to finalize QNN graph.", ("", "")),
    ],
)
def test_what_a_message_names(said: str, named: tuple[str, str]) -> None:
    assert engine_of("qnn").blamed(said) == named


@pytest.mark.parametrize(("batch", "order"), [(2, "0,1,3,2,4,5"), (1, "1,0,3,2,4,5")])
def test_windows_of_several_batches_keep_their_six_axes(batch: int, order: str) -> None:
    found = check(model_of(WINDOWS.format(b=batch, perm=order), 17), Q)
    assert {f.feature for f in found if f.rule == "many-dimensions"} == {
        "rank:Reshape.6",
        "rank:Transpose.6",
    }


def test_a_deep_chain_is_walked_without_recursion() -> None:
    chain = " ".join(f"t{n + 1} = Abs (t{n})" for n in range(1500))
    graph = f"(float[2] x) => (float[2] y) {{ t0 = Neg (x) {chain} y = Sinh (t1500) }}"
    assert [f.feature for f in check(model_of(graph), Q) if f.blocks] == ["op:Sinh"]
    early = f"(float[2] x) => (float[2] y) <int64[2] t0 = {{1, 2}}> {{ {chain} c = Cast <to = 1> "
    found = check(model_of(early + "(t1500) s = Sinh (c) y = Add (s, x) }"), Q)
    assert not [
        f.feature for f in found if f.blocks
    ]  # onnxruntime folds what is constant, Sinh too
