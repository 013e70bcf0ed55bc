"""QNN: equations of Einsum and edges of Pad, as its simulator took and computed them."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

Q = "qnn2"
EINSUM, EDGE = "equation-of-no-product", "repeated-edge"


def einsum(equation: str, one: str = "2,8,12", two: str = "2,12,6", kind: str = "float") -> str:
    out = ",".join("ABCDE"[: len(equation.partition("->")[2]) or 3])
    return (
        f"({kind}[{one}] x, {kind}[{two}] z) => ({kind}[{out}] y)"
        f' {{ y = Einsum <equation = "{equation}"> (x, z) }}'
    )


def pad(pads: str, before: str = "Neg (x)", rest: str = "") -> str:
    count = len(pads.split(","))
    return (
        f"(float[2,3,8,8] x) => (float[A,B,C,D] y) <int64[{count}] p = {{{pads}}},"
        " int64[1] a = {2}, float[3,3,1,1] w = {1,2,3,4,5,6,7,8,9}>"
        f' {{ c = {before} y = Pad <mode = "edge"> (c, p{rest}) }}'
    )


@pytest.mark.parametrize(
    "graph",
    [
        einsum("bij,bjk"),
        einsum("bij,jk->bik", two="12,6"),
        einsum("bji,bjk->bik", one="2,12,8"),
        einsum("bij,bjk->bki"),
        einsum("bij,bjk->bik", one="1,8,12"),
        einsum("bij,bjk->bik", kind="double"),
        einsum("bhwc,hck->bhwk", "2,3,4,5", "3,5,6"),
        einsum("bhwc,bkc->bhwk", "2,3,4,5", "2,6,5"),
        einsum("bhwc,wkc->bhwk", "2,3,4,5", "4,6,5", kind="double"),
        einsum("bhhc,hkc->bhhk", "2,3,3,5", "3,6,5"),
    ],
)
def test_other_equations_are_left(graph: str) -> None:
    assert_yes(Yes(graph, EINSUM, "op:Einsum", "reject", target=Q))


@pytest.mark.parametrize(
    "graph",
    [
        einsum("bij,bjk->bik"),
        einsum("bij, bkj -> bik", two="2,6,12"),
        einsum("ij,kj->ik", "8,12", "6,12"),
        einsum("bhid,bhjd->bhij", "1,2,8,12", "1,2,8,12"),
        einsum("bij,bjk->bik", kind="float16"),
        einsum("bhwc,hkc->bhwk", "2,3,4,5", "3,6,5"),
        einsum("abcd, ced -> abce", "2,3,4,5", "4,6,5"),
    ],
)
def test_products_of_matrices_are_taken(graph: str) -> None:
    assert_no(No(graph, EINSUM, target=Q))


def test_sizes_that_are_not_known() -> None:
    unknown = Unknown(einsum("bij,bjk->bik", one="N,8,12"), EINSUM, "sizes of x and z", target=Q)
    assert_unknown(unknown)


@pytest.mark.parametrize("pads", ["0,0,2,2,0,0,2,2", "0,0,0,3,0,0,0,0", "0,0,0,0,0,0,1,1"])
def test_the_last_axis_is_read_outside(pads: str) -> None:
    assert_yes(Yes(pad(pads), EDGE, "attr:Pad.mode=edge", "wrong", target=Q))


@pytest.mark.parametrize(
    "graph",
    [
        pad("0,0,2,0,0,0,2,0"),
        pad("0,1,0,0,0,1,0,0"),
        pad("1,1", rest=", , a"),
        pad("0,0,2,2,0,0,2,2", before="Conv (x, w)"),
        pad("0,0,2,2,0,0,2,2", before="MaxPool <kernel_shape = [2, 2]> (x)"),
    ],
)
def test_other_axes_and_images_are_right(graph: str) -> None:
    assert_no(No(graph, EDGE, target=Q, opset=18))
