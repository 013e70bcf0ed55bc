"""TFLite: what is after a Reshape to an image, and what is in front of it."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

TARGET = "tflite1.29"
IMAGE = (
    "(float[1,2,4,4] x) => (float[A,B,C,D] y) <int64[3] r = {1, 4, 16}, int64[4] i = {1, 4, SIZES},"
    " float[4,2,1,1] f = {1, 2, 3, 4, 5, 6, 7, 8}, float[1,4,1,1] k = {1, 2, 3, 4}>"
    " { c = Conv (x, f) a = Reshape (c, r) t = Exp (a) e = Reshape (t, i) y = READER }"
)


def image(reader: str, sizes: str = "4, 4") -> str:
    return IMAGE.replace("READER", reader).replace("SIZES", sizes)


@pytest.mark.parametrize(
    "reader",
    [
        "MaxPool <kernel_shape = [2, 2]> (e)",
        "Conv <pads = [1, 1, 1, 1]> (e, k)",
        "Conv <pads = [0, 0, 1, 1]> (e, k)",
        "ReduceMean <axes = [1]> (e)",
    ],
)
def test_an_image_made_of_equal_sizes(reader: str) -> None:
    rule, feature = "image-made-of-equal-sizes", "form:Reshape.equal-sizes"
    assert_yes(Yes(image(reader), rule, feature, "wrong", "", TARGET))
    assert_no(No(image(reader, "2, 8"), rule, TARGET))


def test_a_padded_conv_with_steps() -> None:
    rule, feature = "image-made-of-equal-sizes", "form:Reshape.equal-sizes"
    text = image("Conv <pads = [0, 0, 1, 1], strides = [2, 2]> (e, k)")
    assert_yes(Yes(text, rule, feature, "reject", "", TARGET))


@pytest.mark.parametrize(
    "reader", ["Conv (e, k)", "Relu (e)", "InstanceNormalization (e, r, r)", "Abs (e)"]
)
def test_what_is_tried(reader: str) -> None:
    assert_no(No(image(reader), "image-made-of-equal-sizes", TARGET))


TURNED = (
    "(float[1,4,4,4] x) => (float[A,B,C,D] y) <float[4,4] m = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,"
    " 12, 13, 14, 15, 16}, float[1,4,1,1] k = {1, 2, 3, 4}>"
    " { c = MAKER e = Transpose <perm = [PERM]> (c) y = READER }"
)


@pytest.mark.parametrize("reader", ["MaxPool <kernel_shape = [2, 2]> (e)", "Conv (e, k)"])
@pytest.mark.parametrize("perm", ["0, 3, 1, 2", "0, 2, 3, 1"])
def test_an_image_that_is_turned(perm: str, reader: str) -> None:
    rule, feature = "image-made-of-equal-sizes", "form:Transpose.equal-sizes"
    text = TURNED.replace("MAKER", "Neg (x)").replace("PERM", perm).replace("READER", reader)
    assert_yes(Yes(text, rule, feature, "wrong", "", TARGET))
    assert_no(No(text.replace(perm, "0, 1, 2, 3"), rule, TARGET))


def test_numbers_that_are_limited_and_scaled_before() -> None:
    rule, feature = "image-made-of-equal-sizes", "form:Transpose.equal-sizes"
    text = (
        TURNED.replace("MAKER", "Neg (x)")
        .replace("PERM", "0, 3, 1, 2")
        .replace("y = READER", "l = Clip (e) w = Abs (k) s = Mul (l, w) y = Conv (s, k)")
    )
    assert_yes(Yes(text, rule, feature, "wrong", "", TARGET))


def test_what_a_product_gives_is_seen_right() -> None:
    rule, feature = "image-made-of-equal-sizes", "form:Transpose.equal-sizes"
    text = TURNED.replace("MAKER", "MatMul (x, m)").replace("PERM", "0, 3, 1, 2")
    assert_no(No(text.replace("READER", "Conv (e, k)"), rule, TARGET))
    pooled = text.replace("READER", "GlobalAveragePool (e)")
    assert_yes(Yes(pooled, rule, feature, "wrong", "", TARGET))


def test_blocks_of_no_image() -> None:
    rule = "blocks-of-no-image"
    text = image("DepthToSpace <blocksize = 2> (e)", "2, 8")
    assert_yes(Yes(text, rule, "op:DepthToSpace", "reject", "", TARGET))
    text = image("SpaceToDepth <blocksize = 2> (e)", "2, 8")
    assert_yes(Yes(text, rule, "op:SpaceToDepth", "wrong", "", TARGET))
    text = image('DepthToSpace <blocksize = 2, mode = "CRD"> (e)', "2, 8")
    assert_no(No(text, rule, TARGET))
    assert_no(No(image("DepthToSpace <blocksize = 2> (c)"), rule, TARGET))
