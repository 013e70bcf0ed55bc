"""attention-fusion: scores scaled where exporters scale them, with a mask and without."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import Rewritten, assert_refused, assert_rewrite, assert_unmatched
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved, drawn

PASS = "attention-fusion"
EMPTY = "onnxruntime 1.32 has no Attention of an empty batch"
TURNED = "t = Transpose <perm = [0, 1, 3, 2]> (k) "
END = " p = Softmax <axis = -1> (s) y = MatMul (p, v)"
FORMS = {
    "divided": (TURNED + "m = MatMul (q, t) s = Div (m, two)" + END, 0.5),
    "multiplied": (TURNED + "m = MatMul (q, t) s = Mul (part, m)" + END, 0.25),
    "plain": (TURNED + "s = MatMul (q, t)" + END, 1.0),
    "both operands": (TURNED + "a = Mul (q, root) b = Mul (t, root) s = MatMul (a, b)" + END, 0.5),
    "the queries": (TURNED + "a = Mul (part, q) s = MatMul (a, t)" + END, 0.25),
    "masked": (TURNED + "m = MatMul (q, t) d = Div (m, two) s = Add (d, mask)" + END, 0.5),
    "mask first": (
        TURNED + "a = Mul (q, root) b = Mul (t, root) m = MatMul (a, b) s = Add (mask, m)" + END,
        0.5,
    ),
}


def text(form: str, opset: int = 23, *, batch: str = "N", mask: str = "N, 1, 5, 6") -> str:
    return f"""<ir_version: 10, opset_import: ["" : {opset}]>
    g (float[{batch}, 2, 5, 4] q, float[N, 2, 6, 4] k, float[N, 2, 6, 3] v, float[{mask}] mask) =>
      (float[N, 2, 5, 3] y)
    <float two = {{2.0}}, float part = {{0.25}}, float[1] root = {{0.7071067690849304}}>
    {{ {form} }}"""


def feed(mask: tuple[int, ...] = (2, 1, 5, 6)) -> dict[str, Any]:
    shapes = {"q": (2, 2, 5, 4), "k": (2, 2, 6, 4), "v": (2, 2, 6, 3), "mask": mask}
    return {name: drawn(shape, seed=seed) for seed, (name, shape) in enumerate(shapes.items())}


def fused(model: str, given: dict[str, Any], after: list[str] | None = None) -> Rewritten:
    """Assert that a model computes the same afterwards, but for an empty batch."""
    return assert_rewrite(
        PASS, model, feeds=[given], after=after, rtol=1e-4, atol=1e-5, no_small_sides=EMPTY
    )


@pytest.mark.parametrize("name", FORMS)
def test_each_form(name: str) -> None:
    form, scale = FORMS[name]
    done = fused(text(form), feed(), after=["Attention"])
    (node,) = done.after.graph.node
    assert list(node.input) == ["q", "k", "v"] + ["mask"] * ("mask" in name)
    assert [a.f for a in node.attribute] == [pytest.approx(scale, rel=1e-6)]
    assert assert_proved(PASS, text(form)) == ["Attention"]


@pytest.mark.parametrize("mask", ["5, 6", "1, 1, 1, 6", "2, 5, 6"])
def test_masks_of_fewer_dimensions(mask: str) -> None:
    given = feed(tuple(map(int, mask.split(", "))))
    model = text(FORMS["masked"][0], mask=mask)
    wide = ["Expand"] if "1, 6" in mask else []
    fused(model, given, after=[*wide, "Attention"])


def test_the_rows_of_a_mask_for_free_lengths() -> None:
    model = text(FORMS["masked"][0], mask="N, 1, 1, 6").replace("2, 5, ", "2, S, ")
    done = fused(model, feed((2, 1, 1, 6)))
    assert done.ops == ["Shape", "Slice", "Concat", "Expand", "Attention"]


def test_keys_that_come_with_their_axes_in_another_order() -> None:
    turned = FORMS["divided"][0].replace("<perm = [0, 1, 3, 2]> (k)", "<perm = [0, 2, 3, 1]> (r)")
    model = text(turned).replace("float[N, 2, 6, 4] k", "float[N, 6, 2, 4] r")
    given = {**feed(), "r": drawn((2, 6, 2, 4))}
    del given["k"]
    after = ["Transpose", "Attention"]
    done = fused(model, given, after=after)
    assert list(done.after.graph.node[0].attribute[0].ints) == [0, 2, 1, 3]
    plain = text("m = MatMul (q, t) s = Div (m, two)" + END)
    plain = plain.replace("float[N, 2, 6, 4] k", "float[N, 2, 4, 6] t")
    given = {**feed(), "t": drawn((2, 2, 4, 6))}
    del given["k"]
    fused(plain, given, after=after)


def test_keys_flattened_for_their_transpose_as_the_newer_exporter_does_it() -> None:
    flat = "f = Reshape (k, three) u = Transpose <perm = [0, 2, 1]> (f) t = Reshape (u, four) "
    sizes = "int64[3] three = {-1, 6, 4}, int64[4] four = {2, 2, 4, 6}, float two"
    model = text(FORMS["divided"][0].replace(TURNED, flat)).replace("float two", sizes)
    model = model.replace("[N, ", "[2, ")
    done = fused(model, feed(), after=["Attention"])
    assert list(done.after.graph.node[0].input) == ["q", "k", "v"]
    mixed = model.replace("{-1, 6, 4}", "{-1, 3, 8}").replace("{2, 2, 4, 6}", "{2, 2, 4, 6}")
    done = fused(mixed, feed())
    assert done.ops == ["Reshape", "Transpose", "Reshape", "Transpose", "Attention"]


def test_below_opset_23_where_asked_for() -> None:
    model = text(FORMS["masked"][0], 17).replace("6, 3] v", "6, 4] v").replace("5, 3] y", "5, 4] y")
    assert_refused(PASS, model, "Attention needs opset 23 or the option contrib; this is opset 17")
    done = assert_proved(PASS, model, {"contrib": True})
    assert done == ["Transpose", "Reshape", "MultiHeadAttention", "Reshape", "Transpose"]


def test_wherever_it_is_and_in_float16() -> None:
    body = """@t = Transpose <perm = [0, 1, 3, 2]> (x) @m = MatMul (x, @t)
        @p = Softmax <axis = -1> (@m) @y = MatMul (@p, x)"""
    for dtype in ("float", "float16"):
        assert_fused(PASS, body, (2, 2, 5, 4), ["Attention"], opset=23, dtypes=(dtype,))


def test_in_a_branch() -> None:
    form = FORMS["divided"][0].replace(" y = ", " o = ")
    out = "float[N, 2, 5, 3]"
    inner = f"y = If (c) <then_branch = a () => ({out} o) {{ {form} }},"
    inner += f" else_branch = b () => ({out} z) {{ z = Exp (v) }}>"
    body = text(inner).replace("g (", "g (bool c, ").replace("N, 2, 6, ", "N, 2, 5, ")
    given = {**feed(), "c": np.array(True), "k": drawn((2, 2, 5, 4)), "v": drawn((2, 2, 5, 3))}
    done = fused(body, given, after=["If"])
    branch = done.after.graph.node[0].attribute[0].g
    assert [node.op_type for node in branch.node] == ["Attention"]


def test_others_are_left_alone() -> None:
    assert_left_alone_with_a_reader(PASS, text(FORMS["plain"][0]), "p")
    other = FORMS["plain"][0].replace("axis = -1", "axis = 2")
    assert_unmatched(PASS, text(other), "axis of Softmax 'p' must be -1; it is 2")


@given(st.floats(0.125, 8, width=32), st.integers(1, 3), st.integers(1, 5))
def test_any_sizes_and_scales(scale: float, batch: int, length: int) -> None:
    form = FORMS["masked"][0]
    model = text(form, mask="1, 1, 1, T").replace("2.0", f"{scale:.6f}").replace("6,", "T,")
    given = {
        "q": drawn((batch, 2, 5, 4)),
        "k": drawn((batch, 2, length, 4)),
        "v": drawn((batch, 2, length, 3)),
        "mask": drawn((1, 1, 1, length)),
    }
    fused(model, given, after=["Expand", "Attention"])
