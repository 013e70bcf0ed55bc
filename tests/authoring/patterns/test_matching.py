"""What a pattern finds, what it leaves alone, and what it says of the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

from graphfix.authoring import (
    NAMED,
    Builder,
    Find,
    Match,
    PassBug,
    Sought,
    Value,
    rewrite,
)
from graphfix.authoring.declaring import Pass
from graphfix.testing import (
    assert_rewrite,
    assert_same,
    assert_unmatched,
    assert_untouched,
    outputs_of,
    run_pass,
)

HEAD = '<ir_version: 8, opset_import: ["" : 17, "custom" : 1]> g (float[N, 3] x, float[N, 3] z) => '
ONE = HEAD + "(float[N, 3] y) "
FEED = {
    "x": np.array([[1.0, -2.0, 3.0], [0.5, 0.25, -4.0]], np.float32),
    "z": np.array([[2.0, 5.0, 0.5], [-1.0, 8.0, 3.0]], np.float32),
}


def replaced(written: Callable[..., Any], make: Callable[..., Any], emits: str) -> Pass:
    """Return a pass that replaces what a pattern finds."""
    return rewrite(rewrite.pattern(written), emits=emits, stage=NAMED)(make)


def swish(find: Find, x: Sought) -> Sought:
    return x * find.Sigmoid(x)


def as_neg(match: Match, build: Builder) -> Value:
    return build.Neg(match["x"])


SWISH = replaced(swish, as_neg, "Neg")


@pytest.mark.parametrize("order", ["Mul (x, s)", "Mul (s, x)"])
def test_operands_that_commute_are_either_way(order: str) -> None:
    done = run_pass(SWISH, ONE + f"{{ s = Sigmoid (x) y = {order} }}")
    assert done.ops == ["Neg"]
    assert [node.input[0] for node in done.after.graph.node] == ["x"]


def test_one_name_is_one_value() -> None:
    assert_untouched(SWISH, ONE + "{ s = Sigmoid (z) y = Mul (x, s) }")
    assert_unmatched(
        SWISH,
        ONE + "{ s = Sigmoid (z) y = Mul (x, s) }",
        "must be 'z', which x is already; it is 'x'",
    )


def test_operands_that_do_not_commute_stay_in_their_order() -> None:
    def difference(find: Find, x: Sought, z: Sought) -> Sought:
        return find.Exp(x) - z

    found = replaced(difference, as_neg, "Neg")
    assert run_pass(found, ONE + "{ e = Exp (x) y = Sub (e, z) }").ops == ["Neg"]
    assert_unmatched(
        found,
        ONE + "{ e = Exp (x) y = Sub (z, e) }",
        "must be computed by Exp; it is 'z', an input",
    )


def test_inner_values_with_other_readers_are_left_alone() -> None:
    two = HEAD + "(float[N, 3] y, float[N, 3] o) "
    read = two + "{ s = Sigmoid (x) y = Mul (x, s) o = Neg (s) }"
    assert_untouched(SWISH, read)
    assert_unmatched(SWISH, read, "'s' inside of it is read by Neg 'o'")
    returned = HEAD + "(float[N, 3] y, float[N, 3] s) { s = Sigmoid (x) y = Mul (x, s) }"
    assert_unmatched(SWISH, returned, "'s' inside of it is an output")


def test_a_shared_value_stays_with_what_it_is_computed_from() -> None:
    def norm(find: Find, x: Sought) -> Sought:
        size = find.shared(find.Sqrt(find.Abs(x)))
        return x / size

    found = replaced(norm, as_neg, "Neg")
    two = HEAD + "(float[N, 3] y, float[N, 3] o) "
    done = run_pass(found, two + "{ a = Abs (x) r = Sqrt (a) y = Div (x, r) o = Exp (r) }")
    assert done.ops == ["Abs", "Sqrt", "Neg", "Exp"]
    assert run_pass(found, ONE + "{ a = Abs (x) r = Sqrt (a) y = Div (x, r) }").ops == ["Neg"]


def test_a_reader_in_a_body_counts() -> None:
    body = """{
        s = Sigmoid (x)
        y = Mul (x, s)
        c = ReduceSum <keepdims = 0> (x)
        t = Cast <to = 9> (c)
        o = If (t) <then_branch = a () => (float[N, 3] p) { p = Neg (s) },
                    else_branch = b () => (float[N, 3] q) { q = Exp (x) }>
    }"""
    assert_unmatched(SWISH, HEAD + "(float[N, 3] y, float[N, 3] o) " + body, "is read by Neg 'p'")


def test_subgraphs_and_functions_are_looked_at_and_borders_are_not_crossed() -> None:
    inside = """{
        c = ReduceSum <keepdims = 0> (x)
        t = Cast <to = 9> (c)
        y = If (t) <then_branch = a () => (float[N, 3] p) { s = Sigmoid (x) p = Mul (x, s) },
                    else_branch = b () => (float[N, 3] q) { q = Exp (x) }>
    }"""
    done = run_pass(SWISH, ONE + inside)
    assert [site.node.scope for o in done.outcomes for site in o.sites] == ["main/If.then_branch"]
    across = inside.replace("s = Sigmoid (x) p", "p").replace("{\n        c", "{ s = Sigmoid (x) c")
    assert_unmatched(SWISH, ONE + across, "Sigmoid 's' is outside of the body")
    function = (
        ONE
        + "{ y = custom.f (x) }"
        + (
            '<domain: "custom", opset_import: ["" : 17]> f (a) => (b) '
            "{ s = Sigmoid (a) b = Mul (s, a) }"
        )
    )
    done = run_pass(SWISH, function)
    assert [node.op_type for node in done.after.functions[0].node] == ["Neg"]


def test_the_larger_way_of_optional_nodes_wins() -> None:
    def scaled(find: Find, x: Sought, scale: Sought) -> Sought:
        gated = x * find.Sigmoid(find.optional("Neg", x))
        return find.either(find.Exp(gated) - find.constant(scale), find.Exp(gated))

    def make(match: Match, build: Builder) -> Value:
        scale = match.get("scale")
        return build.Abs(match["x"]) if scale is None else build.Add(match["x"], scale)

    found = replaced(scaled, make, "Abs Add")
    least = "{ s = Sigmoid (x) m = Mul (s, x) y = Exp (m) }"
    assert run_pass(found, ONE + least).ops == ["Abs"]
    most = """<float k = {2.0}>
        { n = Neg (x) s = Sigmoid (n) m = Mul (s, x) e = Exp (m) y = Sub (e, k) }"""
    assert run_pass(found, ONE + most).ops == ["Add"]


def test_numbers_are_those_of_the_dtype_and_give_no_dimensions() -> None:
    def scaled(find: Find, x: Sought) -> Sought:
        return find.Exp(x * 0.7978845608028654)

    found = replaced(scaled, as_neg, "Neg")
    text = "<float{} k = {{{}}}> {{ m = Mul (x, k) y = Exp (m) }}"
    assert run_pass(found, ONE + text.format("", "0.7978845")).ops == ["Neg"]
    assert run_pass(found, ONE + text.format("[1, 1]", "0.79788464")).ops == ["Neg"]
    assert_unmatched(found, ONE + text.format("", "0.79789"), "must be the number 0.797884560802")
    three = HEAD + "(float[1, N, 3] y) " + text.format("[1, 1, 1]", "0.7978845")
    assert_unmatched(found, three, "must be the number")


def test_a_number_that_the_dtype_holds_has_to_be_that_one() -> None:
    def square(find: Find, x: Sought) -> Sought:
        return find.Exp(x**2)

    found = replaced(square, as_neg, "Neg")
    text = "<float k = {{{}}}> {{ m = Pow (x, k) y = Exp (m) }}"
    assert run_pass(found, ONE + text.format("2.0")).ops == ["Neg"]
    assert_unmatched(found, ONE + text.format("2.0000002"), "it is 2.0000002384185")


def test_constants_have_conditions() -> None:
    def shifted(find: Find, x: Sought, eps: Sought, weights: Sought) -> Sought:
        small = find.number(eps, lambda number: 0 < number < 0.1, "a small number")
        return find.Sqrt(x + small) * find.constant(weights, lambda a: a.ndim == 1, "a row")

    def make(match: Match, build: Builder) -> Value:
        return build.Add(match["x"], np.float32(match.number("eps")) * match.array("weights"))

    found = replaced(shifted, make, "Add")
    text = """<float e = {{{}}}, float[{}] w = {{1.0, 2.0, 3.0}}>
        {{ a = Add (e, x) s = Sqrt (a) y = Mul (w, s) }}"""
    done = run_pass(found, ONE + text.format("0.01", "3"))
    assert done.ops == ["Add"]
    weights = [w for w in done.after.graph.initializer if w.name in done.after.graph.node[0].input]
    np.testing.assert_allclose(
        np.frombuffer(weights[0].raw_data, np.float32), [0.01, 0.02, 0.03], rtol=1e-6
    )
    assert_unmatched(found, ONE + text.format("0.5", "3"), "must be a small number; it is 0.5")
    assert_unmatched(found, ONE + text.format("0.01", "1, 3"), "must be a row; it is the constant")
    late = "<float e = {0.01}> { a = Add (e, x) s = Sqrt (a) y = Mul (z, s) }"
    assert_unmatched(found, ONE + late, "must be a constant; it is 'z', an input")


@pytest.mark.parametrize(
    ("opset", "mean"),
    [
        (17, "ReduceMean <axes = [1]> (x)"),
        (17, "ReduceMean <axes = [-1], keepdims = 1> (x)"),
        (18, "ReduceMean (x, last)"),
        (18, "ReduceMean <noop_with_empty_axes = 0> (x, last)"),
    ],
)
def test_attributes_are_found_in_each_form(opset: int, mean: str) -> None:
    def centred(find: Find, x: Sought) -> Sought:
        return x - find.ReduceMean(x, axes=[-1])

    found = replaced(centred, as_neg, "Neg")
    text = (
        ONE.replace("17", str(opset)) + f"<int64[1] last = {{1}}> {{ m = {mean} y = Sub (x, m) }}"
    )
    assert run_pass(found, text).ops == ["Neg"]


@pytest.mark.parametrize(
    ("mean", "reason"),
    [
        ("ReduceMean <axes = [0]> (x)", "axes of ReduceMean 'm' must be [-1]; it is [0]"),
        ("ReduceMean <axes = [0, 1]> (x)", "axes of ReduceMean 'm' must be [-1]; it is [0, 1]"),
        ("ReduceMean (x)", "axes of ReduceMean 'm' must be [-1]; it is not given"),
        (
            "ReduceMax <axes = [1]> (x)",
            "must be computed by ReduceMean; it is computed by ReduceMax",
        ),
    ],
)
def test_other_attributes_do_not_match(mean: str, reason: str) -> None:
    def centred(find: Find, x: Sought) -> Sought:
        return x - find.ReduceMean(x, axes=[-1])

    found = replaced(centred, as_neg, "Neg")
    assert_unmatched(found, ONE + f"{{ m = {mean} y = Sub (x, m) }}", reason)


def test_an_attribute_that_no_one_named_has_to_be_the_default() -> None:
    def flat(find: Find, x: Sought) -> Sought:
        return find.Exp(find.Softmax(x))

    found = replaced(flat, as_neg, "Neg")
    assert run_pass(found, ONE + "{ s = Softmax <axis = -1> (x) y = Exp (s) }").ops == ["Neg"]
    zero = ONE + "{ s = Softmax <axis = 0> (x) y = Exp (s) }"
    assert_unmatched(found, zero, "axis of Softmax 's' must be as ONNX fills it in")

    def any_axis(find: Find, x: Sought, axis: Sought) -> Sought:
        return find.Exp(find.Softmax(x, axis=axis))

    def make(match: Match, build: Builder) -> Value:
        return build.LogSoftmax(match["x"], axis=match.attribute("axis"))

    done = run_pass(replaced(any_axis, make, "LogSoftmax"), zero)
    assert [attribute.i for attribute in done.after.graph.node[0].attribute] == [0]

    def labelled(find: Find, x: Sought) -> Sought:
        return find.Exp(find.node("Softmax", x, label="soft", others=True))

    def make_labelled(match: Match, build: Builder) -> Value:
        return build.LogSoftmax(match["x"], axis=match.called("soft").attr("axis", -1))

    done = run_pass(replaced(labelled, make_labelled, "LogSoftmax"), zero)
    assert [attribute.i for attribute in done.after.graph.node[0].attribute] == [0]

    def is_one(axis: object) -> bool:
        return axis == 1

    def condition(find: Find, x: Sought) -> Sought:
        return find.Exp(find.Softmax(x, axis=is_one))

    assert_unmatched(
        replaced(condition, as_neg, "Neg"), zero, "must be as the pattern asks; it is 0"
    )


def test_inputs_that_may_be_left_out() -> None:
    def clipped(find: Find, x: Sought, low: Sought, high: Sought) -> Sought:
        return find.Neg(find.Clip(x, find.given(find.number(low)), find.given(find.number(high))))

    def make(match: Match, build: Builder) -> Value:
        ends = [match.get(name) for name in ("low", "high")]
        return build.Clip(match["x"], *ends)

    found = replaced(clipped, make, "Clip")
    text = ONE + "<float k = {{2.0}}> {{ c = Clip ({}) y = Neg (c) }}"
    for inputs, kept in (("x", ["x"]), ("x, k", ["x", "k"]), ("x, , k", ["x", "", "k"])):
        assert list(run_pass(found, text.format(inputs)).after.graph.node[0].input) == kept

    def plain(find: Find, x: Sought) -> Sought:
        return find.Neg(find.Clip(x))

    assert_unmatched(replaced(plain, as_neg, "Neg"), text.format("x, , k"), "must have no input 2")


def twice(find: Find, x: Sought, z: Sought) -> tuple[Sought, ...]:
    total = x + z
    return find.Exp(total), find.Neg(total)


def both(match: Match, build: Builder) -> tuple[Value, Value]:
    return build.Abs(build.Sub(match["x"], match["z"])), build.Sqrt(match["z"])


TWO = HEAD + "(float[N, 3] y, float[N, 3] o) "


@pytest.mark.parametrize(
    "nodes",
    [
        "t = Add (z, x) o = Neg (t) n = Abs (o) y = Exp (t)",
        "t = Add (x, z) y = Exp (t) o = Neg (t)",
    ],
)
def test_several_outputs_are_replaced_together(nodes: str) -> None:
    text = TWO if "n =" not in nodes else TWO.replace("o)", "o, float[N, 3] n)")
    done = run_pass(replaced(twice, both, "Abs Sub Sqrt"), text + f"{{ {nodes} }}")
    assert sorted(done.ops) == sorted(["Sub", "Abs", "Sqrt"] + ["Abs"] * ("n =" in nodes))
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]


def test_an_output_may_lie_inside() -> None:
    def summed(find: Find, x: Sought, z: Sought) -> tuple[Sought, ...]:
        total = x + z
        return find.Exp(total), total

    def make(match: Match, build: Builder) -> tuple[Value, Value]:
        total = build.Add(match["x"], match["z"])
        return build.Exp(total), total

    done = assert_same_twice(
        replaced(summed, make, "Add Exp"), TWO + "{ o = Add (x, z) y = Exp (o) }"
    )
    assert done == ["Add", "Exp"]


def assert_same_twice(found: Pass, text: str) -> list[str]:
    """Return the operators of a result that computes the same; it matches again for ever."""
    done = run_pass(found, text)
    assert_same(outputs_of(done.before, FEED), outputs_of(done.after, FEED), rtol=0, atol=0)
    return done.ops


def test_outputs_that_one_site_cannot_give_are_left_alone() -> None:
    """`z` is needed for one output alone, and comes from the other: one node would be a circle."""

    def pair(find: Find, x: Sought, z: Sought) -> tuple[Sought, ...]:
        inner = find.Neg(x)
        return inner * z, find.Exp(inner)

    found = replaced(pair, both, "Abs Sub Sqrt")
    circle = TWO + "{ n = Neg (x) o = Exp (n) k = Abs (o) y = Mul (n, k) }"
    assert_unmatched(found, circle, "'k' is needed for some of the outputs alone")


def test_a_node_of_several_outputs() -> None:
    def halves(find: Find, x: Sought) -> Sought:
        first, second = find.outputs(find.Split(x, axis=1, split=[1, 2]), 2)
        return find.Concat(second, first, axis=1)

    found = replaced(halves, as_neg, "Neg")
    text = (
        ONE
        + "<int64[2] k = {{1, 2}}> {{ a, b = Split <axis = 1> (x, k) y = Concat <axis = 1> ({}) }}"
    )
    assert run_pass(found, text.format("b, a")).ops == ["Neg"]
    assert_unmatched(found, text.format("a, b"), "must be output 1 of Split")


def test_operators_of_other_domains() -> None:
    def custom(find: Find, x: Sought) -> Sought:
        return find.node("custom::Twice", x, times=2) + x

    found = replaced(custom, as_neg, "Neg")
    text = ONE + "{{ t = custom.Twice <times = {}> (x) y = Add (x, t) }}"
    assert run_pass(found, text.format("2")).ops == ["Neg"]
    assert_unmatched(found, text.format("3"), "times of Twice 't' must be 2; it is 3")


def test_what_is_replaced_computes_the_same() -> None:
    def gated(find: Find, x: Sought) -> Sought:
        return x * find.Sigmoid(x)

    def make(match: Match, build: Builder) -> Value:
        x = match["x"]
        return build.Div(x, build.Add(build.Exp(build.Neg(x)), 1.0))

    found = replaced(gated, make, "Div Add Exp Neg")
    text = ONE + "{ s = Sigmoid (x) w = Mul (s, x) y = Sub (w, z) }"
    after = ["Neg", "Exp", "Add", "Div", "Sub"]
    assert_rewrite(found, text, feeds=[FEED], after=after, rtol=1e-6, atol=1e-6)


def no_operator(find: Find, x: Sought) -> Sought:
    return x


def of_texts(find: Find, x: Sought) -> Sought:
    return find.Neg("x")


def raising(find: Find, x: Sought) -> Sought:
    raise IndexError("of the author")


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (no_operator, "must return what operators of it give"),
        (of_texts, "a pattern is made of"),
        (raising, "raised IndexError"),
    ],
)
def test_a_pattern_that_is_none_is_a_fault_of_its_author(
    written: Callable[..., Any], reason: str
) -> None:
    with pytest.raises(PassBug, match=reason):
        replaced(written, as_neg, "Neg")
