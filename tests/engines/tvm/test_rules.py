"""The rules of TVM: sizes that are no tensors, Resize, Scatter and what is silently wrong."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

T = "tvm0.27"
FOUND = (
    "(float[6] x) => (float[a,b] y) "
    "<int64[2] h = {{-1, 1}}, int64[2] k = {{1, 3}}, int64[1] u = {{1}}>"
    "{{ n = NonZero (x) t = Transpose <perm = [1, 0]> (n) g = GatherND (x, t) {} }}"
)
PLACED = (
    "(float[6] x, float[N] v) => (float[6] y) "
    "{{ n = NonZero (x) t = Transpose <perm = [1, 0]> (n) {} }}"
)
SELECTED = (
    "(float[1,4,4] b, float[1,1,4] s, int64[1] k, float[1] i, float[1] t, float[4,2] f) => "
    "(float[a,b] y) <int64 z = {{2}}, int64[2] h = {{-1, 2}}> "
    "{{ n = NonMaxSuppression (b, s, k, i, t) g = Gather <axis = 1> (n, z) v = Gather (f, g) {} }}"
)
LINE = (
    "(float[N,4] x, float[N] v) => (float[N] y) "
    "<int64 zero = {0}, int64 one = {1}, int64[1] at = {1}> "
)
SUM = " y = ReduceSum <keepdims = 0> (h, at) }"
LIMIT = "const:Range.limit"
NUMBERED = "number-of-another-type"
NUMBER = (
    "(float[2,3,4] x) => (float[2,3,4] y) <int64 z = {0}, int64[1] at = {1}, int64[1] m = {-1},"
    " float half = {-0.5}, float[3] w = {1, 2, 3}> "
    "{ s = Shape (x) n = Gather <axis = 0> (s, z) c = Cast <to = 1> (n) "
)
COUNT = "{ s = Shape <start = 0, end = 1> (x) n = Squeeze (s) r = Range (zero, n, one) "

UNPOOLED = (
    "(float[1,1,2,2] x, int64[1,1,2,2] i) => (float[A,B,C,D] y) <int64[4] o = {{1,1,4,4}}> "
    "{{ y = MaxUnpool <kernel_shape = [2,2], strides = [2,2]{}> ({}) }}"
)


def reject(graph: str, rule: str, feature: str, text: str = "", opset: int = 17) -> Yes:
    return Yes(graph, rule, feature, "reject", text, T, opset)


YES = [
    reject(
        PLACED.format("y = ScatterND (x, t, v)"),
        "updates-counted-elsewhere",
        "op:ScatterND",
        "requires the updates tensor",
    ),
    Yes(
        SELECTED.format("y = Reshape (v, h)"),
        "reshaped-selection",
        "shape:Reshape.behind-nms",
        "wrong",
        "",
        T,
    ),
    reject(
        FOUND.format("r = Unsqueeze (g, u) y = Expand (r, k)"),
        "expanded-selection",
        "shape:Expand.counted",
    ),
    reject(
        "(float[N,4] x) => (int64[2] y) <int64[2] d = {1, 1}> { s = Shape (x) y = Sub (s, d) }",
        "reads-no-sizes",
        "shape:Sub",
        "cannot handle ShapeExpr inputs",
    ),
    reject(
        "(float[N,4] x) => (float[a,b] y) <int64[3] z = {0, 0, 0}>"
        "{ s = Shape <end = 1> (x) p = Concat <axis = 0> (z, s) y = Pad (x, p) }",
        "reads-no-sizes",
        "shape:Pad",
    ),
    reject(
        "(float[N,4] x) => (float[a,4] y) <int64 z = {0}, int64[1] a = {0}, int64[1] b = {1}>"
        "{ s = Shape (x) g = Gather (s, z) n = Unsqueeze (g, a) r = Concat <axis = 0> (n, b)"
        " y = Tile (x, r) }",
        "reads-no-sizes",
        "shape:Tile",
    ),
    reject(
        "(float[2,4] x, int64[2] s) => (float[a,b] y) { y = Reshape (x, s) }",
        "shape-in-a-tensor",
        "const:Reshape.shape",
        "the given one is relax.TensorType",
    ),
    reject(LINE + COUNT + "c = Cast <to = 1> (r) y = Add (c, v) }", "computed-range", LIMIT),
    reject(
        LINE + COUNT + "c = Cast <to = 1> (r) u = Unsqueeze (c, at) m = Mul (u, x)"
        " y = ReduceSum <keepdims = 0> (m, at) }",
        "computed-range",
        LIMIT,
    ),
    reject(
        LINE + COUNT + 'c = Cast <to = 1> (r) h = Einsum <equation = "i,ik->ik"> (c, x)'
        " k = Mul (h, x) y = ReduceSum <keepdims = 0> (k, at) }",
        "computed-range",
        LIMIT,
    ),
    reject(LINE + COUNT + "g = Gather (x, r) h = Add (g, x)" + SUM, "computed-range", LIMIT),
    reject(
        LINE + COUNT + "c = Cast <to = 1> (r) t = Shape <start = 0, end = 1> (v)"
        " e = Unsqueeze (c, at) p = Expand (e, t) h = Mul (p, x)" + SUM,
        "computed-range",
        LIMIT,
    ),
    reject(
        NUMBER + "q = Pow (c, half) y = Mul (x, q) }",
        "number-of-another-type",
        "dtype:Mul.float32",
        "must have the same datatype",
    ),
    reject(NUMBER + "q = Sqrt (c) y = Mul (x, q) }", "reads-no-number", "shape:Sqrt"),
    reject(
        NUMBER + "q = Add (c, w) e = Unsqueeze (q, at) y = Mul (x, e) }",
        "number-with-a-vector",
        "rank:Add.1",
        "array of size 1",
    ),
    Yes(
        NUMBER.replace("float[2,3,4] y", "int64[1] y") + "y = Add (n, at) }",
        "number-with-a-vector",
        "rank:Add.1",
        "wrong",
        "",
        T,
    ),
    reject(
        "(float[2,4] x) => (float[2,4] y) <int64[0] e = {}>"
        "{ o = ConstantOfShape <value = float[1] {2}> (e) y = Mul (x, o) }",
        "scalar-of-a-shape",
        "shape:ConstantOfShape.0",
        "ndim 0",
    ),
    reject(
        NUMBER.replace("float[2,3,4] y", "float[a,b] y") + "p = Gather (s, at)"
        " q = Concat <axis = 0> (p, m) y = Reshape (x, q) }",
        "shape-in-a-tensor",
        "const:Reshape.shape",
    ),
    reject(
        "(float[1,2,4,4] x, double[1,3,3,2] g, float[3,3] w) => (float[1,2,3,3] y) "
        "{ p = GridSample (x, g) y = Mul (p, w) }",
        "sampled-at-other-floats",
        "dtype:GridSample.float64",
    ),
    reject(
        "(float[2] x) => (float[2] y) { y = Neg (h) h = Abs (x) }",
        "unsorted-nodes",
        "model:unsorted",
    ),
    Yes(
        UNPOOLED.format(", pads = [0,0,1,1]", "x, i"),
        "pads-of-unpooled",
        "op:MaxUnpool",
        "wrong",
        "",
        T,
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: case.feature)
def test_yes(case: Yes) -> None:
    assert_yes(case)


NO = [
    *(
        No(UNPOOLED.format(pads, "x, i"), rule, T, opset)
        for rule in ("shape-of-unpooled", "pads-of-unpooled", "stated-form")
        for pads in ("", ", pads = [1,1,1,1]")
        for opset in (9, 17)
    ),
    No(
        PLACED.format("g = GatherND (x, t) y = ScatterND (x, t, g)"),
        "updates-counted-elsewhere",
        T,
    ),
    No(FOUND.format("y = Reshape (g, h)"), "reshaped-selection", T),
    No(
        "(float[N,1] x, float[M,3] z) => (float[M,3] y) { s = Shape (z) y = Expand (x, s) }",
        "expanded-selection",
        T,
    ),
    No(
        FOUND.format("r = Unsqueeze (g, u) s = Shape (r) y = Expand (r, s)"),
        "expanded-selection",
        T,
    ),
    No(
        "(float[N,4] x) => (float[a] y) <int64[1] m = {-1}, int64[1] z = {0}>"
        "{ s = Shape (x) p = Slice (s, z, m) q = Concat <axis = 0> (p, m) y = Reshape (x, q) }",
        "reads-no-sizes",
        T,
    ),
    No(
        "(float[N,4] x) => (float y) <int64 z = {0}, int64 w = {3}>"
        "{ s = Shape (x) n = Gather (s, z) m = Mul (n, w) y = Cast <to = 1> (m) }",
        "reads-no-sizes",
        T,
    ),
    No(
        "(float[N,4] x, float[K,2] z) => (float[a,b] y) { s = Shape (z) y = Reshape (x, s) }",
        "sizes-known-late",
        T,
    ),
    No(LINE.replace("float[N] y", "int64[N] r") + COUNT + "}", "computed-range", T),
    No(LINE + COUNT + "y = Cast <to = 1> (r) }", "computed-range", T),
    No(
        LINE.replace("float[N] y", "bool[N,N] y")
        + COUNT
        + "u = Unsqueeze (r, at) y = Less (r, u) }",
        "computed-range",
        T,
    ),
    No(NUMBER + "q = Pow (c, half) r = Cast <to = 1> (q) y = Mul (x, r) }", NUMBERED, T),
    No(NUMBER + "y = Mul (x, c) }", NUMBERED, T),
    No(NUMBER + "q = Neg (c) y = Mul (x, q) }", "reads-no-number", T),
    No(
        NUMBER.replace("float[2,3,4] y", "float[a,b] y") + "p = Slice (s, at, m)"
        " q = Concat <axis = 0> (p, m) y = Reshape (x, q) }",
        "shape-in-a-tensor",
        T,
    ),
    No(
        "(float[2,4] x) => (float[2,4] y) <int64[0] e = {}>"
        "{ o = ConstantOfShape (e) y = Mul (x, o) }",
        "scalar-of-a-shape",
        T,
    ),
    No("(float[2] x) => (float[2] y) { h = Abs (x) y = Neg (h) }", "unsorted-nodes", T),
]


@pytest.mark.parametrize("case", NO, ids=lambda case: case.rule)
def test_no(case: No) -> None:
    assert_no(case)
