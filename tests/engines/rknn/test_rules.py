"""The rules of RKNN, and what its messages name."""

from __future__ import annotations

import onnx
import pytest

from graphfix.engines.engine import engine_of
from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes, check

R = "rknn2.3"
X = "(float[2,3] x) => (float[2,3] y) "

VOLUME = (
    "(float[1,2,6,5,4] x) => (float[A,B,C,D,E] y) {{ z = Neg (x) y = AveragePool <kernel_shape ="
    " [{}], strides = [2, 2, 2]{}> (z) }}"
)
TRILU = (
    "(float[2,2] x) => (float[2,2] y) <{t}[2,2] c = {{1, 1, 1, 1}}> {{ t = Trilu (c)"
    " d = Cast <to = 1> (t) y = Mul (x, d) }}"
)
YES = [
    Yes(
        VOLUME.format("3, 3, 2", ", pads = [0, 1, 0, 0, 1, 0]"),
        "volumes-beyond-their-end",
        "shape:AveragePool.pads",
        "wrong",
        target=R,
    ),
    Yes(
        VOLUME.format("3, 3, 2", ", pads = [0, 1, 0, 0, 1, 0], count_include_pad = 1"),
        "volumes-beyond-their-end",
        "shape:AveragePool.pads",
        "reject",
        target=R,
    ),
    Yes(
        VOLUME.format("2, 2, 2", ", ceil_mode = 1"),
        "volumes-beyond-their-end",
        "attr:AveragePool.ceil_mode=1",
        "wrong",
        target=R,
    ),
    Yes(TRILU.format(t="bool"), "stated-types", "dtype:Trilu.bool", "reject", target=R),
    Yes("(float[1,2,9,9] x) => (float[A,B,C,D] y) "
        "{ y = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 2, 3], strides = [2, 2]> (x) }",
        "pads-as-wide-as-windows", "shape:MaxPool.pads", "reject", "smaller than kernel", R),
    Yes("(float x) => (float y) { y = Exp (x) }", "scalar-input", "io:scalar-input", "reject",
        "Got: 0 Expected: 1", R),
    Yes("(uint16[2] x) => (float[2] y) { y = Cast <to = 1> (x) }", "input-type",
        "io:uint16-input", "reject", "Not support input data type", R),
    Yes("(float[2] x) => (float[2] y, float[2] k) <float[2] k = {1, 2}> { y = Exp (x) }",
        "constant-output", "io:output-of-constants", "reject", "are constants", R),
    Yes("(float[2] x) => (float[2] y, int64[1] s) { y = Exp (x) s = Shape (x) }",
        "constant-output", "io:output-of-constants", "reject", "are constants", R),
    Yes("(float[2] x) => (float[2] y, float[2] z) { y = Exp (x) z = Identity (y) }",
        "repeated-output", "io:repeated-output", "reject", "outputs came", R),
    Yes("(float[2,3] x) => (int64[2,N] y) { y = NonZero (x) }", "dynamic-sizes", "op:NonZero",
        "reject", "dynamic graph", R),
    Yes("(float[2,3] x) => (float[2,3] y) <float[3] s = {1, 2, 3}> "
        "{ y = LayerNormalization (x, s) }",
        "layer-normalization-of-the-last-axis", "op:LayerNormalization", "reject", "KeyError", R),
    Yes("(int64[2] x, int64[2] z) => (int64[2] y) { y = Div (x, z) }", "computed-divisor",
        "const:Div.B", "reject", "", R),
    Yes(X.replace("[2,3] y", "[1,3] y") + "<int64[1] s = {0}, int64[1] e = {1}> "
        "{ y = Slice (x, s, e) }", "unwritten-axes", "form:Slice.no-axes", "reject",
        "invalid dimensions", R),
    Yes(X.replace("[2,3] y", "[2,2] y") + "{ t = Transpose (x) y = MatMul (x, t) }",
        "with-its-own-transpose", "form:MatMul.with-own-transpose", "reject", "", R),
    Yes("(float[2] u, float[2] x) => (float[2] y) { y = Exp (x) }", "unread-input",
        "io:unused-input", "wrong", "", R),
    Yes("(float[3] u, float[2] x) => (float[2] y) { y = Exp (x) }", "unread-input",
        "io:unused-input", "reject", "is wrong, expect", R),
    Yes("(float[2] u, float[2] x) => (float[2] y) { y = Exp (x) d = Neg (u) }", "unread-input",
        "io:unused-input", "reject", "NoneType", R),
    Yes("(float[2] x) => (float[2] y) { k = Constant <value_float = 2.0> () y = Add (x, k) }",
        "constant-without-a-tensor", "form:Constant.value", "reject", "HasField", R),
    Yes("(float[2] x) => (float[2] y) { u = Cast <to = 2> (x) y = Cast <to = 1> (u) }", "unsigned",
        "dtype:Cast.uint8", "reject", "Not Support Dtype", R),
]  # fmt: skip

NO = [
    No(VOLUME.format("2, 3, 2", ""), "volumes-beyond-their-end", target=R),
    No(VOLUME.format("2, 3, 2", ", ceil_mode = 1"), "volumes-beyond-their-end", target=R),
    No(TRILU.format(t="float"), "stated-types", target=R),
    No("(float[1,2,9,9] x) => (float[A,B,C,D] y) "
       "{ y = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 2, 2], strides = [2, 2]> (x) }",
       "pads-as-wide-as-windows", R),
    No("(float[1] x) => (float[1] y) { y = Exp (x) }", "scalar-input", R),
    No("(int64[2] x) => (float[2] y) { y = Cast <to = 1> (x) }", "input-type", R),
    No("(float[2] x) => (float[2] y) { s = Shape (x) y = Expand (x, s) }", "constant-output", R),
    No("(float[2] x) => (float[2] y) { k = Constant <value = float {2}> () y = Add (x, k) }",
       "constant-without-a-tensor", R),
    No("(float[2] x) => (float[2] y, float[2] z) { y = Exp (x) z = Neg (y) }",
        "repeated-output", R),
    No("(float[2] x) => (float[A] y) <int64[1] s = {2}> { y = ConstantOfShape (s) }",
       "dynamic-sizes", R),
    No("(float[2,3] x, float[3] s) => (float[2,3] y) "
       "{ y = LayerNormalization <epsilon = 0.001> (x, s) }",
       "layer-normalization-of-the-last-axis", R),
    No("(float[2,3] x, float[2,3] s) => (float[2,3] y) "
        "{ y = LayerNormalization <axis = 0> (x, s) }",
       "layer-normalization-of-the-last-axis", R),
    No("(int64[2] x) => (int64[2] y) <int64 two = {2}> { y = Div (x, two) }",
        "computed-divisor", R),
    No("(float[2] x, float[2] z) => (float[2] y) { y = Div (x, z) }", "computed-divisor", R),
    No("(float[4,4] x) => (float[2,2] y) <int64[2] s = {0, 0}, int64[2] e = {2, 2}> "
       "{ y = Slice (x, s, e) }", "unwritten-axes", R),
    No("(float[2,3] x, float[2,3] z) => (float[2,2] y) { t = Transpose (z) y = MatMul (x, t) }",
       "with-its-own-transpose", R),
    No("(float[2] x, float[2] u) => (float[2] y) { y = Exp (x) }", "unread-input", R),
    No("(float[2] u, float[2] x) => (float[2] y, float[2] u) { y = Exp (x) }", "unread-input", R),
]  # fmt: skip


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule} {case.feature}")
def test_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: case.rule)
def test_no(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize(("order", "count"), [('"far" : 1, "" : 17', 1), ('"" : 17, "far" : 1', 0)])
def test_the_first_import_is_taken_for_the_opset(order: str, count: int) -> None:
    text = f"<ir_version: 8, opset_import: [{order}]> g {X} {{ y = Exp (x) }}"
    found = [
        f.feature for f in check(onnx.parser.parse_model(text), R) if f.rule == "foreign-import"
    ]
    assert found == ["domain:first.far"] * count


def test_a_rank_that_is_not_known() -> None:
    graph = (
        "(float[8] x, int64[A] s, float[2,2] w) => (float[C,D] y) "
        "{ r = Reshape (x, s) y = LayerNormalization <axis = 1> (r, w) }"
    )
    rule = "layer-normalization-of-the-last-axis"
    assert_unknown(Unknown(graph, rule, "rank of r", R))


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("The input 0 of NonZero('y') need to be constant!", ("NonZero", "y")),
        ("The Loop('/Loop') will cause the graph to be a dynamic graph!", ("Loop", "/Loop")),
        ("Unsupport onnx opset 21, need <= 19!", ("", "")),
    ],
)
def test_what_a_message_names(said: str, named: tuple[str, str]) -> None:
    assert engine_of("rknn").blamed(said) == named


def _in_a_row(count: int, weight: str, tail: str, biased: str = "") -> str:
    """Return a graph of Convs of one channel whose nine weights are the same."""
    given = f"float[1,1,3,3] w = {{{', '.join([weight] * 9)}}}" + (biased and f", {biased}")
    row = [
        f"t{i + 1} = Conv <pads = [1,1,1,1]> (t{i}, w{', b' if biased else ''})"
        for i in range(count)
    ]
    return f"(float[1,1,8,8] t0) => (float[A,B,C,D] y) <{given}> {{ {' '.join(row)} {tail} }}"


@pytest.mark.parametrize(
    ("graph", "is_constant"),
    [
        (_in_a_row(12, "0.001", "y = Sigmoid (t12)"), True),
        (_in_a_row(12, "0.001", "y = GlobalAveragePool (t12)"), True),
        (_in_a_row(12, "0.001", "k = Constant <value_float = 0.5> () y = Add (t12, k)"), True),
        (_in_a_row(12, "0.001", "y = Add (t12, t0)"), False),
        (_in_a_row(12, "0.001", "y = Relu (t12)", "float[1] b = {0.5}"), False),
        (_in_a_row(12, "0.001", "y = Relu (t12)", "float[1] b = {1e-10}"), True),
        (_in_a_row(6, "0.001", "y = Relu (t6)"), False),
        (_in_a_row(1, "1e-8", "y = Sigmoid (t1)"), True),
        (_in_a_row(1, "1e-7", "y = Sigmoid (t1)"), False),
        ("(float[2] x) => (float[2] y) <float k = {1e-8}> { y = Mul (x, k) }", True),
        ("(float[2] x) => (float[2] y) <float k = {1e-7}> { y = Mul (k, x) }", False),
        ("(float[1,1,2,2] x, float[1,1,1,1] w) => (float[A,B,C,D] y) { y = Conv (x, w) }", False),
    ],
)
def test_outputs_in_which_nothing_of_the_inputs_is_left(graph: str, is_constant: bool) -> None:
    """Each of these was asked of the toolkit; but where the weights are an input."""
    text = f'<ir_version: 8, opset_import: ["" : 17]> g {graph}'
    found = [f for f in check(onnx.parser.parse_model(text), R) if f.rule == "vanishing-output"]
    assert [f.feature for f in found] == ["io:vanishing-output"] * is_constant


def _two_products(weight: str) -> str:
    """Return a graph of two products by sixteen weights each."""
    weights = ", ".join([weight] * 256)
    return (
        f"(float[2,16] x) => (float[2,16] y) <float[16,16] w = {{{weights}}}> "
        "{ a = MatMul (x, w) r = Relu (a) y = MatMul (r, w) }"
    )


def test_numbers_that_grow_beyond_float16() -> None:
    """Both were asked of the toolkit, with some weights below 0."""
    rule = "grown-beyond-float16"
    missing = "how large y becomes: about 1e+05 for inputs around 1"
    assert_unknown(Unknown(_two_products("60.0"), rule, missing, R))
    assert_no(No(_two_products("0.5"), rule, R))


def test_quotients_of_what_is_quantized() -> None:
    rule = "quotient-of-steps"
    assert_unknown(Unknown(_steps("Neg (x)", "y = Div (a, d)"), rule, "how near to 0 d comes", R))
    assert_no(No(_steps("Neg (x)", "y = Div (d, a)"), rule, R))
    fed = _steps("Neg (a)", "y = Div (a, d)").replace("(e,", "(x,")
    assert_no(No(fed, rule, R))


def _steps(computed: str, quotient: str) -> str:
    """Return a graph that quantizes what it computes."""
    return (
        "(float[2] x, float[2] a) => (float[2] y) <float s = {0.02}, uint8 z = {128}> "
        f"{{ e = {computed} i = QuantizeLinear (e, s, z) d = DequantizeLinear (i, s, z) "
        f"{quotient} }}"
    )


def test_places_in_pixels_that_are_counted_in_the_graph() -> None:
    """As exporters write them; a constant is in facts/graphs.json."""
    graph = (
        "(float[1,1,2,{n}] x, float[1,{n}] f) => (float[1,1,1,{n}] y) <int64 o = {{0}}, int64 k = "
        "{{1}}, int64 z = {{{n}}}, int64[1] a = {{0}}, int64[2] b = {{0, 3}}, float d = {{9}}> "
        "{{ r = Range (o, z, k) c = Cast <to = 1> (r) e = Unsqueeze (c, a) s = Add (e, f) "
        "q = Div (s, d) h = Unsqueeze (q, b) g = Concat <axis = 3> (h, h) "
        "y = GridSample (x, g) }}"
    )
    rule = "grid-in-pixels"
    assert_no(No(graph.format(n=17), rule, R))
    assert_unknown(Unknown(graph.format(n=18), rule, "how steep x is", R))
    feature = "form:GridSample.grid-in-pixels"
    assert_yes(Yes(graph.format(n=32), rule, feature, "wrong", "", R))


def test_parameters_that_may_be_overridden_are_stored() -> None:
    graph = (
        "(float[1,2,3,3] x, float[2] s = {1, 2}) => (float[1,2,3,3] y) <float[2] k = {1, 2}> "
        "{ y = BatchNormalization (x, s, k, k, k) }"
    )
    assert_no(No(graph, "computed-normalization", R))
    fed = graph.replace(" = {1, 2})", ")")
    feature = "const:BatchNormalization.scale"
    assert_yes(Yes(fed, "computed-normalization", feature, "reject", "unsupported operand", R))


def test_a_gather_that_two_read() -> None:
    graph = (
        "(float[2,3,7,2,7,2] x) => (float[A,B,C,D] y) <int64 i = {0}, int64 j = {1}> "
        "{ a = Gather <axis = 3> (x, i) b = Gather <axis = 4> (a, j) "
        "c = Gather <axis = 4> (a, i) y = Add (b, c) }"
    )
    assert_unknown(Unknown(graph, "gather-of-a-gather", "how Gathers are joined", R))
