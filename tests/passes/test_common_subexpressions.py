"""common-subexpressions: what is computed twice from the same values is computed once."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.fusing import assert_proved

PASS = "common-subexpressions"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x, float[N] z) => '
ONE = HEAD + "(float[N] y) "
FEED = {"x": np.array([1.0, -2.0, 0.5], np.float32), "z": np.array([3.0, 0.0, -1.0], np.float32)}


@pytest.mark.parametrize(
    ("nodes", "left"),
    [
        ("a = Exp (x) b = Exp (x) y = Add (a, b)", ["Exp", "Add"]),
        ("a = Exp (x) b = Exp (x) c = Neg (a) d = Neg (b) y = Add (c, d)", ["Exp", "Neg", "Add"]),
        (
            "a = Exp (x) b = Exp (x) c = Exp (x) d = Sub (a, b) y = Add (c, d)",
            ["Exp", "Sub", "Add"],
        ),
        (
            "a = Clip (x, k, l) b = Clip (x, l2, k) c = Clip (x, k2, l2) d = Sub (a, b)"
            " y = Add (c, d)",
            ["Clip", "Clip", "Sub", "Add"],
        ),
    ],
)
def test_equal_nodes_become_one(nodes: str, left: list[str]) -> None:
    constants = "<float k = {0.5}, float k2 = {0.5}, float l = {2.0}, float l2 = {2.0}> "
    model = ONE + constants + f"{{ {nodes} }}"
    assert_rewrite(PASS, model, feeds=[FEED], after=left)
    assert assert_proved(PASS, model) == left


def test_outputs_of_the_model_keep_their_names() -> None:
    model = HEAD + "(float[N] y, float[N] o) { y = Exp (x) o = Exp (x) }"
    done = assert_rewrite(PASS, model, feeds=[FEED], after=["Exp", "Identity"])
    assert [output.name for output in done.after.graph.output] == ["y", "o"]


def test_subgraphs_and_functions_have_their_own() -> None:
    model = (
        ONE.replace("g (", "g (bool t, ")
        + """{
        a = Exp (x)
        y = If (t) <then_branch = l () => (float[N] p)
              { b = Exp (x) c = Exp (x) s = Add (b, c) p = Mul (a, s) },
            else_branch = r () => (float[N] q) { q = Exp (z) }>
    }"""
    )
    done = assert_rewrite(PASS, model, feeds=[{**FEED, "t": np.array(True)}])
    inner = done.after.graph.node[1].attribute[0].g
    assert [node.op_type for node in inner.node] == ["Exp", "Add", "Mul"]
    function = ONE.replace('"" : 17', '"" : 17, "local" : 1') + (
        "{ y = local.f (x) }"
        '<domain: "local", opset_import: ["" : 17]> f (i) => (o)'
        " { a = Exp (i) b = Exp (i) o = Sub (a, b) }"
    )
    done = assert_rewrite(PASS, function, feeds=[FEED])
    assert [node.op_type for node in done.after.functions[0].node] == ["Exp", "Sub"]


OPS = ("Neg", "Exp", "Add", "Mul", "Sub")
STEPS = st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2))


@given(st.lists(STEPS, min_size=6, max_size=16))
def test_any_graph_computes_the_same(choices: list[tuple[int, int, int]]) -> None:
    names, nodes = ["x", "z"], list[str]()
    for place, (op, one, two) in enumerate([*choices, *choices]):
        inputs = [names[one % len(names)], names[two % len(names)]]
        given_inputs = ", ".join(inputs[: 1 if op < 2 else 2])
        nodes.append(f"v{place} = {OPS[op]} ({given_inputs})")
        names.append(f"v{place}")
    text = ONE + "{ " + " ".join(nodes) + f" y = Max ({', '.join(names[2:])}) }}"
    done = assert_rewrite(PASS, text, feeds=[{"x": FEED["x"] / 4, "z": FEED["z"] / 4}])
    written = [(n.op_type, tuple(n.input)) for n in done.after.graph.node]
    assert len(set(written)) == len(written)
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
