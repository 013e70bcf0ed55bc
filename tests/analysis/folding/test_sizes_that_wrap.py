"""Sizes that casts and narrow arithmetic change: no result differs from its model at any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, parser

import graphfix
from tests.sessions import session_of

# Past the end of uint8, int16 and uint16, and next to what float16 and bfloat16 hold exactly.
SIZES = (0, 1, 5, 127, 128, 255, 256, 257, 300, 2049, 32768, 65536, 65537)
HEAD = '<ir_version: 8, opset_import: ["" : 18, "f" : 1]>\n'
CONSTS = (
    "<int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] minus = {-1}, "
    "int64[1] most = {300}, int64[2] pair = {1, -1}, int32[1] small = {7}, float[1] half = {0.5}, "
    "int64 start = {0}, int64 step = {1}, float[1] each = {1.5}>"
)
FUNCTION = (
    '\n<domain: "f", opset_import: ["" : 18]>\nnarrow (v) => (w) '
    "{ s = Shape (v) a = Cast <to = 2> (s) w = Cast <to = 7> (a) }"
)


def model_of(body: str, inputs: str = "float[N] x") -> ModelProto:
    text = f"{HEAD}g ({inputs}) => (double[A] y, float[N] z) {CONSTS} {{ {body} z = Neg (x) }}"
    return parser.parse_model(text + (FUNCTION if "f.narrow" in body else ""))


def assert_same(model: ModelProto, target: str = "ort", sizes: tuple[int, ...] = SIZES) -> None:
    """Run graphfix without proof: what it folds is the same in onnxruntime."""
    result = graphfix.run(graphfix.load(model), target=target, verify="off")
    assert result.model is not None
    before, after = session_of(model), session_of(result.model.to_proto())
    for size in sizes:
        feed = {"x": np.ones(size, np.float32)}
        for one, other in zip(before.run(None, feed), after.run(None, feed), strict=True):
            assert one.shape == other.shape, size
            assert np.array_equal(one, other), size


def casts(to: int) -> str:
    return f"s = Shape (x) a = Cast <to = {to}> (s) b = Cast <to = 7> (a) "


EQUAL = "e = Equal (b, s) y = Cast <to = 11> (e)"
VALUES = {
    **{f"equal after {to}": casts(to) + EQUAL for to in (1, 2, 3, 4, 5, 6, 9, 10, 12, 13)},
    **{
        f"difference after {to}": casts(to) + "d = Sub (s, b) y = Cast <to = 11> (d)"
        for to in (2, 5, 10)
    },
    "twice": "s = Shape (x) a = Cast <to = 4> (s) c = Cast <to = 3> (a) b = Cast <to = 7> (c) "
    + EQUAL,
    "of a row": "s = Shape (x) t = Concat <axis = 0> (s, one, minus) a = Cast <to = 2> (t) "
    "b = Cast <to = 7> (a) g = Gather (b, zero) e = Equal (g, s) y = Cast <to = 11> (e)",
    "divided by itself": casts(2) + "m = Max (b, one) d = Div (s, m) y = Cast <to = 11> (d)",
    "chosen": casts(3) + "e = Equal (b, s) w = Where (e, one, two) y = Cast <to = 11> (w)",
    "less": casts(5) + "e = Less (b, s) y = Cast <to = 11> (e)",
    "sum in int8": "s = Shape (x) a = Cast <to = 6> (s) b = Add (a, small) c = Cast <to = 3> (b) "
    "d = Cast <to = 6> (c) g = Sub (d, small) e = Equal (g, a) y = Cast <to = 11> (e)",
    "halved as a float": "s = Shape (x) a = Cast <to = 10> (s) c = Cast <to = 1> (a) "
    "h = Mul (c, half) k = Add (h, h) b = Cast <to = 7> (k) " + EQUAL,
    "in a function": "s = Shape (x) b = f.narrow (x) " + EQUAL,
    "in both branches": casts(2) + "q = Equal (s, most) p = Squeeze (q) r = If (p) <"
    "then_branch = t () => (int64[1] u) { u = Sub (s, b) }, "
    "else_branch = k () => (int64[1] v) { v = Sub (b, s) }> y = Cast <to = 11> (r)",
}
# The size of what a wrapped size makes, which onnx's own inference follows through every Cast.
MADE = {
    "filled": "f = ConstantOfShape (b) ",
    "expanded": "f = Expand (each, b) ",
    "tiled": "f = Tile (each, b) ",
    "counted": "l = Squeeze (b) f = Range (start, l, step) ",
    "cut": "f = Slice (x, zero, b) ",
}


@pytest.mark.parametrize("body", VALUES.values(), ids=list(VALUES))
def test_a_size_after_casts(body: str) -> None:
    assert_same(model_of(body))


@pytest.mark.parametrize("to", [2, 4, 10])
@pytest.mark.parametrize("made", MADE.values(), ids=list(MADE))
def test_the_size_of_what_a_wrapped_size_makes(made: str, to: int) -> None:
    body = casts(to) + made + "t = Shape (f) e = Equal (t, s) y = Cast <to = 11> (e)"
    sizes = tuple(size for size in SIZES if to != 10 or size < 60000)
    assert_same(model_of(body), sizes=sizes)


@pytest.mark.parametrize("target", ["trt8", "trt7.0"])
def test_the_same_for_engines_without_narrow_integers(target: str) -> None:
    for to in (2, 5):
        assert_same(model_of(casts(to) + EQUAL), target)


def test_in_the_body_of_a_loop() -> None:
    body = (
        "s = Shape (x) c = Constant <value = bool {1}> () k = Constant <value_int = 2> () "
        "y = Loop (k, c, half0) <body = l (int64 i, bool q, double[1] v) => (bool p, double[1] w) "
        "{ p = Identity (q) a = Cast <to = 2> (s) b = Cast <to = 7> (a) e = Equal (b, s) "
        "d = Cast <to = 11> (e) w = Add (v, d) }>"
    )
    assert_same(model_of("half0 = Cast <to = 11> (half) " + body))


@pytest.mark.parametrize("size", [300, 40000, 70000])
def test_static_sizes_wrap_as_they_do_at_run_time(size: int) -> None:
    for to in (2, 3, 5, 10):
        if to == 10 and size > 65504:
            continue
        body = casts(to) + "m = Abs (b) f = Expand (each, m) t = Shape (f) y = Cast <to = 11> (t)"
        model = model_of(body.replace("z = Neg", "z = Neg"), f"float[{size}] x")
        assert_same(model, sizes=(size,))


TYPES = (2, 3, 4, 5, 6, 7, 10, 12, 13)
STEPS = ("Add", "Mul", "Sub", "Mod", "Div", "Max", "Min", "Equal", "ReduceProd", "ReduceSum",
         "Concat", "Cast")  # fmt: skip


def chained(steps: list[tuple[str, int, int]]) -> ModelProto:
    """Return a model that computes with a size, casting each result to a type and back."""
    lines, last = ["s0 = Shape (x)"], "s0"
    for number, (op, constant, to) in enumerate(steps):
        lines.append(f"k{number} = Constant <value_ints = [{constant}]> ()")
        if op in ("Cast", "Equal"):
            lines.append(f"r{number} = Cast <to = {to}> ({last})")
        elif op.startswith("Reduce"):
            lines.append(f"r{number} = {op} ({last})")
        else:
            attributes = "<axis = 0> " if op == "Concat" else ""
            lines.append(f"r{number} = {op} {attributes}({last}, k{number})")
        lines.append(f"c{number} = Cast <to = {to}> (r{number})")
        lines.append(f"s{number + 1} = Cast <to = 7> (c{number})")
        if op == "Equal":
            lines.append(f"e{number} = Equal (s{number + 1}, {last})")
            lines.append(f"w{number} = Where (e{number}, {last}, k{number})")
            last = f"w{number}"
        else:
            last = f"s{number + 1}"
    return model_of(" ".join([*lines, f"y = Cast <to = 11> ({last}) "]))


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(STEPS),
            st.sampled_from((1, 3, 255, 256, 32768)),
            st.sampled_from(TYPES),
        ),
        min_size=2,
        max_size=5,
    )
)
def test_chains_of_casts_and_arithmetic(steps: list[tuple[str, int, int]]) -> None:
    assert_same(chained(steps))


@pytest.mark.parametrize("to", [2, 3, 5])
@pytest.mark.parametrize("height", ["300", "H"])
def test_sizes_of_a_resize_after_casts(to: int, height: str) -> None:
    model = parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 18]> g (float[1, 1, {height}, 4] x) => (float[A] y) '
        f"<int64[4] two = {{1, 1, 2, 2}}, int64[1] flat = {{-1}}> {{ s = Shape (x) "
        f"a = Cast <to = {to}> (s) b = Cast <to = 7> (a) q = Mul (b, two) "
        'r = Resize <mode = "nearest"> (x, , , q) y = Reshape (r, flat) }'
    )
    passes = ["resize-sizes-to-scales", "fold-constants"]
    result = graphfix.run(graphfix.load(model), passes=passes, verify="off")
    before, after = session_of(model), session_of(result.model.to_proto())
    for size in (300,) if height == "300" else (3, 100, 257, 300):
        feed = {"x": np.arange(size * 4, dtype=np.float32).reshape(1, 1, size, 4)}
        try:
            wanted = before.run(None, feed)[0]
        except Exception:  # a size that came round to less than nothing
            continue
        assert np.array_equal(after.run(None, feed)[0], wanted), size
