"""loops-named-apart: no inner Loop gives what is called as what an outer one gives."""

import numpy as np
import onnx
import pytest
from onnx import parser

from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass

PASS = "loops-named-apart"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (int64 t, bool c, float[n] x) => (float[n] y) '
ENDS = "(int64 i{0}, bool c{0}, float[n] x{0}) => (bool d{0}, float[n] y{0})"


def nested(names: str, depth: int = 1) -> str:
    """Return Loops in each other whose results have these names, the outermost first."""
    before = "" if depth == 1 else str(depth - 1)
    if not names:
        return f"y{before} = Mul (x{before}, k)"
    inner = nested(names[1:], depth + 1)
    body = f"b{depth} {ENDS.format(depth)} {{ d{depth} = Identity (c{depth}) {inner} }}"
    loop = f"{names[0]} = Loop (t, c{before}, x{before}) <body = {body}>"
    return f"{loop} y{before} = Neg ({names[0]})"


def text(names: str) -> str:
    return HEAD + "<float k = {3.0}> { " + nested(names) + " }"


def names_of(model: onnx.ModelProto) -> list[str]:
    """Return what the Loops of a model give, the outermost first."""
    found: list[str] = []
    graph: onnx.GraphProto | None = model.graph
    while graph is not None:
        loops = [node for node in graph.node if node.op_type == "Loop"]
        found += [node.output[0] for node in loops]
        graph = next((node.attribute[0].g for node in loops), None)
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("mm", ["m", "m.inner"]),
        ("mnm", ["m", "n", "m.inner"]),
        ("mmnn", ["m", "m.inner", "n", "n.inner"]),
    ],
)
def test_the_inner_one_is_renamed(before: str, after: list[str]) -> None:
    model = parser.parse_model(text(before))
    done = run_pass(PASS, model)
    assert names_of(done.after) == after
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)
    for shape in ((3,), (0,)):
        feed = {"t": np.array(2), "c": np.array(True), "x": np.linspace(-1, 1, *shape).astype("f")}
        expected = outputs_of(parser.parse_model(text("mnop"[: len(before)])), feed)["y"]
        np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], expected)


def test_each_gets_a_name_of_its_own() -> None:
    names = names_of(run_pass(PASS, text("mmm")).after)
    assert names[0] == "m"
    assert len(set(names)) == 3
