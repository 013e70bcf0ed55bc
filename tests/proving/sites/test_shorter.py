"""Sites on shorter axes: which axes may be cut, to which sizes, and what is seen all the same."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites.one_site import certify
from graphfix.proving.sites.shorter import Shorter, shorter
from graphfix.proving.sites.site_proof import Case
from graphfix.report import Certificate, Verdict

HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> '
BIG = "g (float[1,24,640,640] x) => (float[a,b,c,d] y) "


def model(text: str) -> ModelProto:
    return parser.parse_model(HEAD + text)


def cut(text: str, after: str = "") -> dict[str, dict[int, str]]:
    found = shorter(model(text), model(after or text))
    return {} if found is None else found.names


def made(text: str) -> Shorter:
    found = shorter(model(text), model(text))
    assert found is not None
    return found


def proof(before: str, after: str, *, whole: bool = False) -> Certificate:
    models = model(before), model(after)
    case = Case(*models, short=shorter(*models), whole=whole)
    assert case.short is not None
    return certify(case, Evaluators({}))


ALL = {1: "cut0", 2: "cut1", 3: "cut2"}
SIDES = {2: "cut0", 3: "cut1"}


@pytest.mark.parametrize(
    ("body", "free"),
    [
        ("{ y = Relu (x) }", ALL),
        ("<float[1] s = {2}> { y = Mul (x, s) }", ALL),
        ("<float[24,1,1] s = {" + ",".join(["2"] * 24) + "}> { y = Mul (x, s) }", SIDES),
        ("<int64[1] a = {1}> { y = ReduceSum (x, a) }", SIDES),
        ("{ y = Softmax <axis = -1> (x) }", {1: "cut0", 2: "cut1"}),
        ("{ y = Transpose <perm = [0, 2, 3, 1]> (x) }", ALL),
        ("<int64[3] s = {1, 24, -1}> { y = Reshape (x, s) }", {}),
        ("{ y = Shape (x) }", {}),
        ("{ z = Shape (x) y = Expand (x, z) }", {}),
        ("{ y = DepthToSpace <blocksize = 2> (x) }", {}),
        ("{ a = Transpose (x) y = MatMul (x, a) }", {}),
        ("{ y = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (x) }", ALL),
        ("{ y, i = MaxPool <kernel_shape = [3, 3]> (x) }", {}),
        ("{ y = GlobalAveragePool (x) }", {1: "cut0"}),
        ('<float[4] s = {1,1,2,2}> { y = Resize <mode="linear"> (x, , s) }', ALL),
        (
            '<float[4] s = {1,1,1.7,2}> { y = Resize <mode="linear"> (x, , s) }',
            {1: "cut0", 3: "cut1"},
        ),
        ("<int64[8] p = {0,0,0,2,0,0,0,2}> { y = Pad (x, p) }", {1: "cut0", 2: "cut1"}),
        ("{ y = Concat <axis = 2> (x, x) }", {1: "cut0", 3: "cut1"}),
        ("{ y = LRN <size = 3> (x) }", SIDES),
        ("{ y = Unknown (x) }", {}),
    ],
)
def test_axes_that_are_not_mixed_may_be_cut(body: str, free: dict[int, str]) -> None:
    assert cut(BIG + body) == ({"x": free} if free else {})


def test_both_sides_decide() -> None:
    plain = BIG + "{ y = Neg (x) }"
    assert cut(plain, BIG + "{ y = Softmax <axis = 2> (x) }") == {"x": {1: "cut0", 3: "cut1"}}
    assert cut(plain, BIG + "{ s = Shape (x) z = Reshape (x, s) y = Neg (z) }") == {}


def test_inputs_that_are_broadcast_share_their_axes() -> None:
    text = "g (float[8,300,1] x, float[300,200] z) => (float[a,b,c] y) { y = Add (x, z) }"
    assert cut(text) == {"x": {1: "cut0"}, "z": {0: "cut0", 1: "cut1"}}


def test_sizes_are_odd_and_differ_and_one_is_long() -> None:
    found = made(BIG + "{ y = Relu (x) }")
    assert len(found.sizes) == 2
    for sizes in found.sizes:
        assert len(set(sizes.values())) == 3
        assert all(size % 2 for size in sizes.values())
    assert 1500 < found.elements() < 6000
    assert [max(sizes.values()) for sizes in found.long] == [259]
    wide = made("g (float[8,70000] x) => (float[a,b] y) { y = Relu (x) }")
    assert [sizes["cut0"] for sizes in wide.long] == [259, 32771, 65539]


def test_a_block_that_the_site_names_is_passed() -> None:
    after = BIG + "<int64[1] b = {64}> { z = Cast <to = 1> (b) w = Mul (x, z) y = Div (w, z) }"
    found = shorter(model(BIG + "{ y = Identity (x) }"), model(after))
    assert found is not None
    assert [max(sizes.values()) for sizes in found.long] == [259, 65]


def test_windows_keep_the_remainder_of_a_side() -> None:
    body = "{ z = AveragePool <kernel_shape = [3, 3], strides = [4, 4]> (x) " + (
        "y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (z) }"
    )
    found = made(BIG + body)
    for sizes in (*found.sizes, *found.long):
        assert sizes["cut1"] % 8 == 640 % 8
        assert sizes["cut2"] % 8 == 640 % 8


def test_own_values_are_cut_to_the_first_sizes() -> None:
    found = made(BIG + "{ y = Relu (x) }")
    value = np.broadcast_to(np.arange(640, dtype=np.float32), (1, 24, 640, 640))
    kept = found.cut({"x": value})["x"]
    assert isinstance(kept, np.ndarray)
    assert kept.shape == (1, *found.sizes[0].values())
    assert kept.min() == 0
    assert kept.max() == 639


QUANTIZED = "<float s = {0.1}, uint8 z = {3}> { q = QuantizeLinear (x, s, z) "
TWICE = BIG + QUANTIZED + "y = DequantizeLinear (q, s, z) }"
CLIPPED = BIG + (
    "<float s = {0.1}, float l = {-3}, float h = {%s}> "
    "{ a = Div (x, s) b = Round (a) c = Clip (b, l, h) y = Mul (c, s) }"
)


def test_a_place_of_millions_is_proved_on_thousands() -> None:
    twice, clipped = (text.replace("640,640", "320,320") for text in (TWICE, CLIPPED))
    found = proof(twice, clipped % "252")
    assert found.status is Verdict.EQUAL
    assert found.samples >= 10
    (sizes,) = found.sizes
    assert sizes.name == "x"
    assert all(np.prod(shape) < 20_000 for shape in sizes.shapes)
    assert len(sizes.shapes) == 3
    assert proof(twice, clipped % "253").status is Verdict.MISMATCH


def test_the_whole_size_is_run_once_where_it_is_asked_for() -> None:
    found = proof(TWICE, CLIPPED % "252", whole=True)
    assert found.status is Verdict.EQUAL
    assert found.sizes[0].shapes[-1] == (1, 24, 640, 640)


LONG = "g (float[4,{n}] x) => (float[a,b] y) "
WRONG_PAST = LONG + (
    "<int64[2] s = {{4, {n}}}> {{ h = Shape (x) c = Cast <to = {kind}> (h) i = Cast <to = 7> (c) "
    "e = Equal (i, s) f = Cast <to = 1> (e) m = ReduceMin <keepdims = 0> (f) "
    "z = Neg (x) y = Mul (z, m) }}"
)


@pytest.mark.parametrize(("size", "kind"), [(200, 3), (300, 2), (40_000, 5), (70_000, 4)])
def test_a_size_that_a_type_does_not_hold_shows(size: int, kind: int) -> None:
    before = model(LONG.format(n=size) + "{ y = Neg (x) }")
    after = model(WRONG_PAST.format(n=size, kind=kind))
    assert shorter(before, after) is None  # the shape is read
    assert certify(Case(before, after), Evaluators({})).status is Verdict.MISMATCH
    small = WRONG_PAST.format(n=100, kind=kind)
    right = certify(
        Case(model(LONG.format(n=100) + "{ y = Neg (x) }"), model(small)), Evaluators({})
    )
    assert right.status is Verdict.EQUAL
