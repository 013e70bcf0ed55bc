"""inline-functions: calls of local functions become their subgraphs."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import Status
from graphfix.testing import assert_rewrite

PASS = "inline-functions"
X = np.array([-1, 2], np.float32)
HEAD = '<ir_version: 9, opset_import: ["" : {}, "f" : 1]>\n'
FUNCTIONS = (
    '<domain: "f", opset_import: ["" : {0}]>\ninner (v) => (w) {{ t = Relu (v) w = Neg (t) }}\n'
    '<domain: "f", opset_import: ["" : {0}, "f" : 1]>\n'
    "outer (v) => (w) {{ t = f.inner (v) w = f.inner (t) }}\n"
)


def calling(graph: str, opset: int = 17) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD.format(opset) + graph + "\n" + FUNCTIONS.format(opset))


@pytest.mark.parametrize("opset", [8, 13, 17, 21])
def test_nested_calls(opset: int) -> None:
    model = calling("g (float[2] x) => (float[2] y) { y = f.outer (x) }", opset)
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=["Relu", "Neg", "Relu", "Neg"])
    assert not done.after.functions
    assert done.after.graph.node[-1].output[0] == "y"


def test_attributes_are_bound() -> None:
    model = onnx.parser.parse_model(
        HEAD.format(17) + "g (float[2] x) => (float[2] y) { y = f.leaky <a = 0.5> (x) }\n"
        '<domain: "f", opset_import: ["" : 17]>\n'
        "leaky <a> (v) => (w) { w = LeakyRelu <alpha: float = @a> (v) }"
    )
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=["LeakyRelu"])
    assert onnx.helper.get_attribute_value(done.after.graph.node[0].attribute[0]) == 0.5


def test_in_a_branch() -> None:
    model = calling(
        "g (float[2] x, bool c) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] p) "
        "{ p = f.inner (x) }, else_branch = e () => (float[2] q) { q = Abs (x) }> }"
    )
    feeds = [{"x": X, "c": np.array(flag)} for flag in (True, False)]
    done = assert_rewrite(PASS, model, feeds=feeds, after=["If"])
    sites = done.with_status(Status.APPLIED)[0].sites
    assert "main/If.then_branch" in {site.node.scope for site in sites}


@given(calls=st.lists(st.sampled_from(["f.inner", "f.outer", "Neg"]), min_size=1, max_size=4))
def test_chains(calls: list[str]) -> None:
    lines: list[str] = []
    last = "x"
    for index, call in enumerate(calls):
        lines.append(f"v{index} = {call} ({last})")
        last = f"v{index}"
    model = calling(f"g (float[2] x) => (float[2] y) {{ {' '.join(lines)} y = Abs ({last}) }}")
    if all(call == "Neg" for call in calls):
        lengths = 0
    else:
        lengths = sum({"f.inner": 2, "f.outer": 4, "Neg": 1}[call] for call in calls)
    done = assert_rewrite(PASS, model, feeds=[{"x": X}])
    assert not lengths or len(done.ops) == lengths + 1


OLDER = (
    '<ir_version: 10, opset_import: ["" : {}, "f" : 1]>\n'
    "g (float[2] x) => (float[2] y) {{ y = f.outer (x) }}\n"
    '<domain: "f", opset_import: ["" : {}]>\nouter (v) => (w) {{ {} }}'
)


@pytest.mark.parametrize(
    ("opset", "inner", "body", "after"),
    [
        (22, 21, "w = Elu (v)", ["Elu"]),  # from 22 on it takes bfloat16, too
        (20, 21, "t = Abs (v) w = Neg (t)", ["Abs", "Neg"]),
    ],
)
def test_a_function_of_another_opset(opset: int, inner: int, body: str, after: list[str]) -> None:
    model = onnx.parser.parse_model(OLDER.format(opset, inner, body))
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=after)
    assert [entry.version for entry in done.after.opset_import if not entry.domain] == [opset]
