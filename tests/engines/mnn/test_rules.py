"""The rules of MNN, what its messages name, and what to do next."""

from __future__ import annotations

import pytest

from graphfix.engines.engine import engine_of
from graphfix.engines.interface import Written
from graphfix.engines.targets import load_target
from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

M = "mnn3.6"
GRID = "(float[1,1,3,3] x, float[1,2,2,2] g) => (float[1,1,2,2] y) "
SCATTER = "(float[3,3] x, int64[1,3] i, float[1,3] u) => (float[3,3] y) "
POOL = "(float[1,1,8,8] x) => (float[1,1,A,B] y) "
SCALED = POOL + "<float[4] s = {{1, 1, 2, 2}}> {{ y = Resize <{}> (x, , s) }}"
LOOPS = (
    "(int64 t, bool c, float[1] x) => (float[1] y) {{ m = Loop (t, c, x) <body = b1 "
    "(int64 i, bool d, float[1] u) => (bool e, float[1] w) {{ e = Identity (d) {0} = Loop (t, d, u)"
    " <body = b2 (int64 j, bool f, float[1] v) => (bool g, float[1] z) {{ g = Identity (f) "
    "z = Neg (v) }}> w = Identity ({0}) }}> y = Neg (m) }}"
)
CURVE = (
    "(float[7] x) => (float[7] y) <float r = {1.4142135}, float i = {0.70710677}, "
    "float h = {0.5}, float o = {1.0}, float two = {2.0}, float s = {0.8}> "
)
VOLUME = "(float[1,1,4,4,4] x, float[1,1,2,2,2] w, float[1] b) => (float[1,1,A,B,C] y) "
IMAGE = "(float[1,1,4,4] x, float[1,1,2,2] w, float[1] b) => (float[1,1,A,B] y) "
LINE = "(float[1,2,8] x, float[3,2,3] w) => (float[1,3,A] y) "


def wrong(graph: str, rule: str, feature: str, opset: int = 17) -> Yes:
    return Yes(graph, rule, feature, "wrong", "", M, opset)


def reject(graph: str, rule: str, feature: str, text: str) -> Yes:
    return Yes(graph, rule, feature, "reject", text, M)


YES = [
    wrong(
        GRID + '{ y = GridSample <mode = "bicubic"> (x, g) }',
        "grid-sample-modes",
        "attr:GridSample.mode=cubic",
    ),
    wrong(
        GRID + '{ y = GridSample <padding_mode = "reflection"> (x, g) }',
        "grid-sample-modes",
        "attr:GridSample.padding_mode=reflection",
    ),
    wrong(
        "(float[6,1] x, float[4] z) => (bool[6,4] y) { y = Greater (x, z) }",
        "broadcast-comparison",
        "shape:Greater.broadcast",
    ),
    reject(
        "(float[2,3,4] x, float[3] p) => (float[2,3,4] y) <float[3] k = {1, 2, 3}>"
        "{ y = BatchNormalization (x, k, k, p, k) }",
        "computed-parameters",
        "const:BatchNormalization.mean",
        "SIGSEGV",
    ),
    wrong(
        "(float[4] x) => (bool[4] y) <float[4] z = {1, -1, 0, 2}> { y = Less (x, z) }",
        "order-by-bits",
        "op:Less",
    ),
    wrong(
        "(float[4] x) => (bool[4] y) <float z = {-1}> { y = Less (z, x) }",
        "order-by-bits",
        "op:Less",
    ),
    wrong(
        SCATTER + '{ y = ScatterElements <reduction = "none", axis = 1> (x, i, u) }',
        "scatter-axis-behind-reduction",
        "attr:ScatterElements.reduction=none",
    ),
    wrong(
        "(float[1,1,4,4,4] x) => (float[1,1,A,B,C] y) { y = AveragePool <kernel_shape = [2,2,2], "
        "strides = [1,1,1], pads = [0,1,0,0,0,0]> (x) }",
        "padded-average-in-space",
        "shape:AveragePool.padded3d",
    ),
    wrong(SCALED.format('mode = "cubic"'), "resize-cubic", "attr:Resize.mode=cubic"),
    wrong(
        "(bool[2] z) => (bool[2] y) <int64[2] x = {0, 2}> { b = Cast <to = 9> (x) y = And (b, z) }",
        "cast-to-bool",
        "form:Cast.to-bool",
    ),
    reject(
        POOL + "{ y = AveragePool <kernel_shape = [2, 2]> (x) }",
        "no-strides",
        "form:AveragePool.no-strides",
        "SIGFPE",
    ),
    reject(
        "(float[1,1,4,4,4] x) => (float[1,1,A,B,C] y) "
        "{ y = MaxPool <kernel_shape = [2,2,2], strides = [1,1,1]> (x) }",
        "no-strides",
        "form:MaxPool.no-pads",
        "SIGSEGV",
    ),
    reject(LOOPS.format("m"), "loop-named-as-its-outer", "form:Loop.namesake", "SIGSEGV"),
    wrong(
        VOLUME + "{ y = ConvTranspose <dilations = [2, 1, 1]> (x, w) }",
        "dilated-in-depth",
        "attr:ConvTranspose.dilations",
    ),
    wrong(
        VOLUME + "{ y = ConvTranspose <output_shape = [4, 5, 5]> (x, w) }",
        "shape-of-the-output",
        "attr:ConvTranspose.output_shape",
    ),
    wrong(
        VOLUME + '{ y = ConvTranspose <auto_pad = "SAME_UPPER"> (x, w) }',
        "automatic-padding",
        "attr:ConvTranspose.auto_pad",
    ),
    wrong(
        "(int64[3,2] x, int64 i) => (int64[1,2] y) { s = SplitToSequence (x) "
        "y = SequenceAt (s, i) }",
        "reads-split-integers",
        "op:SequenceAt",
    ),
    reject(
        "(float[1,1,4,4] x, float[4] s) => (float[A,B,C,D] y) { y = Resize (x, , s) }",
        "computed-scales",
        "const:Resize.scales",
        "0 of 1 outputs",
    ),
    reject(
        "(float[2] x) => (float[2] y, float[2] w) <float[2] w = {1, 2}> { y = Add (x, w) }",
        "constant-output",
        "io:constant-output",
        "no file",
    ),
    wrong(
        "(float[2,3] x) => (float[2,3] y) { y = LogSoftmax (x) }",
        "no-axis",
        "form:LogSoftmax.no-axis",
    ),
    wrong(
        "(float[3] x) => (float[2] y) <int64[2] p = {-1, 0}> { y = Pad (x, p) }",
        "negative-padding",
        "form:Pad.negative",
    ),
    wrong(LINE + "{ y = Conv (x, w) }", "convolved-line-as-output", "rank:Conv.3"),
]

SHOWS = "whether 5e-4 shows in what the network outputs"
UNKNOWN = [
    Unknown(
        "(float[4] x, float[4] z) => (bool[4] y) { y = Less (x, z) }",
        "order-by-bits",
        "whether x and z are ever negative at once",
        M,
    ),
    Unknown(
        "(float[4] x, int64[1] k) => (int64[a] y) { v, y = TopK (x, k) }",
        "order-of-equal-elements",
        "whether elements of x are equal",
        M,
    ),
    *(
        Unknown(graph, "cast-to-bool", "whether x has numbers other than 0 and 1", M)
        for graph in (
            "(int64[2] x) => (bool[2] y) { b = Cast <to = 9> (x) y = Not (b) }",
            "(int64[2] x) => (bool[2] y) { y = Cast <to = 9> (x) }",
            "(int64[2] x, bool[1,2] z) => (bool[1,2] y) <int64[1] a = {0}>"
            "{ b = Cast <to = 9> (x) u = Unsqueeze (b, a) y = And (u, z) }",
        )
    ),
    Unknown(
        "(float[2] x) => (float[2] y) <int64[0] e = {}>"
        "{ c = ConstantOfShape <value = float[1] {2}> (e) y = Mul (c, x) }",
        "single-number",
        "what the memory holds",
        M,
    ),
    Unknown(
        "(float[1,1,H,W] x, int64[4] s) => (float[1,1,A,B] y)"
        ' { y = Resize <mode = "cubic"> (x, , , s) }',
        "resize-cubic",
        "whether a size changes",
        M,
    ),
    Unknown("(float[7] x) => (float[7] y) { y = Gelu (x) }", "gelu-by-tanh", SHOWS, M, 20),
    *(
        Unknown(CURVE + f"{{ {form} }}", "gelu-of-erf", SHOWS, M)
        for form in (
            "d = Div (x, r) e = Erf (d) a = Add (e, o) m = Mul (x, a) y = Mul (m, h)",
            "d = Mul (x, i) e = Erf (d) a = Add (e, o) m = Mul (a, x) y = Div (m, two)",
        )
    ),
]
NO = [
    *(  # asked of MNN 3.6: it computes these when it reads the model
        No(
            f"(float[1,3,4,4] x) => (float[1,3,4,4] y) <float[3] k = {{1, 2, 3}}> {{ {scale} "
            "y = BatchNormalization (x, s, k, k, k) }",
            "computed-parameters",
            M,
        )
        for scale in (
            "s = Identity (k)",
            "s = Add (k, k)",
            "n = Constant <value = int64[1] {3}> () s = ConstantOfShape <value = float[1] {2}> (n)",
            "w = Shape (x) i = Constant <value = int64[1] {1}> () n = Gather (w, i) "
            "s = ConstantOfShape <value = float[1] {2}> (n)",
        )
    ),
    No(
        "(float[2,3,4] x) => (float[2,3,4] y) <float[3] k = {1, 2, 3}>"
        "{ y = BatchNormalization (x, k, k, k, k) }",
        "computed-parameters",
        M,
    ),
    No("(int32[4] x, int32[4] z) => (bool[4] y) { y = Less (x, z) }", "order-by-bits", M),
    No("(float[4] x) => (bool[4] y) <float z = {0.5}> { y = Less (x, z) }", "order-by-bits", M),
    No("(float[4] x) => (bool[4] y) <float[2] z = {1, 0}> { y = Less (x, z) }", "order-by-bits", M),
    No(
        "(float[4] x, float[4] z) => (bool[4] y) { a = Abs (x) y = Less (a, z) }",
        "order-by-bits",
        M,
    ),
    No(
        "(int32[6,1] x, int32[4] z) => (bool[6,4] y) { y = Less (x, z) }", "broadcast-comparison", M
    ),
    No(
        "(float[6,4] x, float[4] z) => (bool[6,4] y) { y = Less (x, z) }", "broadcast-comparison", M
    ),
    No(GRID + "{ y = GridSample (x, g) }", "grid-sample-modes", M),
    No(
        "(float[4] x, int64[1] k) => (float[a] v) { v, y = TopK (x, k) }",
        "order-of-equal-elements",
        M,
    ),
    No(
        SCATTER + '{ y = ScatterElements <axis = 1, reduction = "none"> (x, i, u) }',
        "scatter-axis-behind-reduction",
        M,
    ),
    No(
        "(bool[2] z) => (bool[2] y) <int64[2] x = {0, 1}> { b = Cast <to = 9> (x) y = And (b, z) }",
        "cast-to-bool",
        M,
    ),
    No(
        "(float[1,1,3,4] x) => (float[1,1,3,4] y) <int64[4] s = {1, 1, 3, 4}>"
        ' { y = Resize <mode = "cubic"> (x, , , s) }',
        "resize-cubic",
        M,
    ),
    No(
        SCALED.format('mode = "cubic", coordinate_transformation_mode = "asymmetric"'),
        "resize-cubic",
        M,
    ),
    No(
        "(int64[2] x, float[2] a) => (float[2] y) <int64[2] s = {2, 1}, int64[1] f = {-1}>"
        "{ b = Cast <to = 9> (x) r = Reshape (b, s) c = Reshape (r, f) y = Where (c, a, a) }",
        "cast-to-bool",
        M,
    ),
    No(
        "(int64[2] n, float[2,3] x) => (float[a,b] y)"
        "{ c = ConstantOfShape <value = float[1] {2}> (n) y = Neg (c) }",
        "single-number",
        M,
    ),
    No(POOL + "{ y = MaxPool <kernel_shape = [2, 2], strides = [1, 1]> (x) }", "no-strides", M),
    No("(float[2,3] x) => (float[2,3] y) { y = Softmax (x) }", "no-axis", M),
    *(
        No(CURVE + f"{{ {form} }}", "gelu-of-erf", M)
        for form in (
            "d = Div (x, r) e = Erf (d) a = Add (o, e) m = Mul (x, a) y = Mul (m, h)",
            "d = Div (x, r) e = Erf (d) a = Add (e, o) m = Mul (x, a) y = Mul (h, m)",
            "d = Div (x, r) e = Erf (d) a = Add (e, o) m = Mul (a, h) y = Mul (x, m)",
            "d = Div (x, two) e = Erf (d) a = Add (e, o) m = Mul (x, a) y = Mul (m, h)",
            "d = Div (x, r) e = Erf (d) a = Add (e, s) m = Mul (x, a) y = Mul (m, h)",
        )
    ),
    No(
        '(float[7] x) => (float[7] y) { y = Gelu <approximate = "tanh"> (x) }',
        "gelu-by-tanh",
        M,
        20,
    ),
    No(LOOPS.format("k"), "loop-named-as-its-outer", M),
    No(VOLUME + "{ y = ConvTranspose <dilations = [1, 2, 2]> (x, w) }", "dilated-in-depth", M),
    No(
        VOLUME.replace("2,2,2", "1,2,2") + "{ y = ConvTranspose <dilations = [2, 1, 1]> (x, w) }",
        "dilated-in-depth",
        M,
    ),
    No(
        IMAGE + "{ y = ConvTranspose <output_shape = [5, 5]> (x, w) }",
        "shape-of-the-output",
        M,
    ),
    No(
        VOLUME + '{ y = ConvTranspose <auto_pad = "VALID"> (x, w) }',
        "automatic-padding",
        M,
    ),
    No(LINE + "{ z = Conv (x, w) y = Neg (z) }", "convolved-line-as-output", M),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule} {case.feature}")
def test_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.rule)
def test_cannot_judge(case: Unknown) -> None:
    assert_unknown(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: case.rule)
def test_no(case: No) -> None:
    assert_no(case)


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
