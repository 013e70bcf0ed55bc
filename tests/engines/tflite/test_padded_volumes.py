"""TFLite: a Pad that onnxsim makes one with the pool of a volume, as onnx2tf took the pools."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

T, RULE = "tflite1.29", "averages-of-volumes"


def padded(pads: str, kernel: str, *, strides: str = "1, 1, 1", between: str = "") -> str:
    pooled = "q" if between else "p"
    return (
        "(float[1,2,8,10,6] x) => (float[A,B,C,D,E] y)"
        f" <int64[10] s = {{{pads}}}> {{ p = Pad (x, s) {between} y = AveragePool <kernel_shape ="
        f" [{kernel}], strides = [{strides}], count_include_pad = 1> ({pooled}) }}"
    )


@pytest.mark.parametrize(
    ("pads", "kernel"),
    [
        ("0,0,1,0,0,0,0,1,0,0", "3, 1, 1"),
        ("0,0,1,1,1,0,0,1,1,1", "3, 3, 3"),
        ("0,0,0,0,0,0,0,1,0,0", "2, 1, 1"),
    ],
)
def test_pads_as_those_of_same(pads: str, kernel: str) -> None:
    assert_yes(Yes(padded(pads, kernel), RULE, "rank:AveragePool.5", "reject", target=T))


@pytest.mark.parametrize(
    "graph",
    [
        padded("0,0,2,0,0,0,0,2,0,0", "3, 1, 1"),
        padded("0,1,1,0,0,0,0,1,0,0", "3, 1, 1"),
        padded("0,0,1,0,0,0,0,1,0,0", "3, 1, 1", strides="2, 1, 1"),
        padded("0,0,1,0,0,0,0,1,0,0", "3, 1, 1", between="q = Neg (p)"),
    ],
)
def test_other_pads_and_what_is_not_joined(graph: str) -> None:
    assert_no(No(graph, RULE, target=T))
