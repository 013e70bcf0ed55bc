"""Where a model is cut before all that is left."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphfix
from graphfix.analysis.front import front_of
from graphfix.analysis.inference import infer_model
from graphfix.edits.options.cutting import split
from graphfix.ir.graph import Node
from graphfix.ir.model import Model
from graphfix.rendering.short_lines import next_steps
from graphfix.report import NodeRef
from graphfix.testing import parse

INPUT = "float[1, 3, 8, 8] x"
CONV = "c = Conv <pads = [1, 1, 1, 1]> (x, w, b)  "
# The scores that pass a threshold, by their places.
CHOICE = (
    "s = Sigmoid (c)  r = Reshape (s, flat)  k = Greater (r, t)  i = NonZero (k)  "
    "j = Transpose <perm = [1, 0]> (i)  y = GatherND (r, j)  "
)


def text(body: str, outputs: str = "float[n] y", inputs: str = INPUT) -> str:
    weights = ", ".join(str(k % 7 / 7) for k in range(54))
    return (
        f'<ir_version: 8, opset_import: ["" : 17]> g ({inputs}) => ({outputs}) '
        f"<float[2, 3, 3, 3] w = {{{weights}}}, float[2] b = {{0.5, -1}}, "
        f"int64[1] flat = {{-1}}, float t = {{0.25}}> {{ {body} }}"
    )


def cut(body: str, *ops: str, outputs: str = "float[n] y", inputs: str = INPUT) -> object:
    model = Model(parse(text(body, outputs, inputs)))
    infer_model(model)
    graph = model.graph
    nodes: list[Node] = [n for each in graph.walk() for n in each.nodes if n.op in ops]
    left = [NodeRef(n.name, -1, n.op, "", tuple(t.name for t in n.outputs)) for n in nodes]
    names = {t.name for node in graph.nodes for t in node.outputs}
    return front_of(graph, left, names, {constant.name for constant in graph.initializers})


def test_the_last_tensor_before_a_choice() -> None:
    assert cut(CONV + CHOICE, "NonZero", "GatherND") == ("r",)
    assert cut(CONV + CHOICE, "GatherND") == ("r",)
    assert cut(CONV + CHOICE, "Greater") == ("r",)
    assert cut(CONV + CHOICE, "Sigmoid") == ("c",)


def test_outputs_that_do_not_depend_on_it_stay_in_front() -> None:
    more = CONV + CHOICE + "m = Relu (c)  "
    assert cut(more, "NonZero", outputs="float[n] y, float[1, 2, 8, 8] m") == ("r", "m")


def test_what_is_after_a_cut_reads_nothing_else_of_the_front() -> None:
    """Boxes are gathered by the places of the best scores: both are computed of one tensor."""
    body = CONV + "s = Sigmoid (c)  r = Reshape (s, flat)  v, i = TopK (r, one)  a = Neg (c)  "
    body += "e = Reshape (a, flat)  y = Gather (e, i)  "
    body = body.replace("(r, one)", "(r, k)").replace("s = Sig", "k = Shape (flat)  s = Sig")
    assert cut(body, "TopK") == ("c",)


def test_a_cut_is_at_floats() -> None:
    """The places are integers that one way leads to, and what they were found in are bools."""
    body = CONV + "s = Sigmoid (c)  r = Reshape (s, flat)  k = Greater (r, t)  y = NonZero (k)  "
    assert cut(body, "NonZero", outputs="int64[1, n] y") == ("r",)


def test_a_node_in_a_body() -> None:
    body = CONV + "s = Neg (c)  m = ReduceMax (c)  k = Greater (m, t)  o = Squeeze (k)  y = If (o) "
    body += "<then_branch = a () => (float[p, q] e) { i = NonZero (c)  e = Cast <to = 1> (i) }, "
    body += "else_branch = l () => (float[p, q] f) { j = NonZero (s)  f = Cast <to = 1> (j) }>"
    assert cut(body, "NonZero", outputs="float[p, q] y") == ("c",)


def test_nothing_is_cut_at_an_input() -> None:
    assert cut("i = NonZero (x)  j = Cast <to = 1> (i)  y = Reshape (j, flat)", "NonZero") is None


def test_weights_after_a_choice() -> None:
    body = CONV + "i = NonZero (c)  d = Cast <to = 1> (i)  m = ReduceMean (d)  e = Mul (x, m)  "
    body += "f = Conv <pads = [1, 1, 1, 1]> (e, w, b)  y = Reshape (f, flat)"
    assert cut(body, "NonZero") is None


def test_two_inputs_have_no_tensor_in_common() -> None:
    body = CONV + "o = Conv <pads = [1, 1, 1, 1]> (z, w, b)  k = Less (c, o)  y = NonZero (k)"
    assert cut(body, "Less", outputs="int64[4, n] y", inputs=f"{INPUT}, {INPUT[:-1]}z") is None


def test_the_report_names_a_cut_that_works(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cut")
    model = parse(text(CONV + CHOICE))
    result = graphfix.run(model, "rknn")
    assert result.exit_code == 1
    assert result.report.front == ("r",)
    front = folder / "front.onnx"
    parts = split(model, result.report.front, front, folder / "back.onnx").parts
    assert graphfix.run(parts[front].to_proto(), "rknn").exit_code == 0


def test_a_cut_of_what_is_written_where_all_floats_are_widened(tmp_path: Path) -> None:
    """An engine without float16 is given another name for each tensor."""
    casts = "".join(f"{name}2 = Cast <to = 10> ({name})  " for name in "xwbt")
    half = CONV.replace("(x, w, b)", "(x2, w2, b2)") + CHOICE.replace("(r, t)", "(r, t2)")
    wide = text(f"{casts} {half} z = Cast <to = 1> (y)", outputs="float[n] z")
    path = tmp_path / "a.onnx"
    path.write_bytes(parse(wide).SerializeToString())
    result = graphfix.run(path, "ncnn", trust_rules=True)
    assert result.exit_code == 1
    (name,) = result.report.front
    assert f"edit MODEL --split {name}=" in " ".join(next_steps(result.report, 1))
    assert name not in {n for node in parse(wide).graph.node for n in node.output}
    front = tmp_path / "front.onnx"
    parts = split(result.model.to_proto(), (name,), front, tmp_path / "back.onnx").parts
    assert graphfix.run(parts[front].to_proto(), "ncnn", trust_rules=True).exit_code == 0


def test_what_passes_compute_is_no_weight() -> None:
    """A table that is computed of constants may be larger than the weights."""
    body = CONV + "n = ConstantOfShape <value = float[1] {1}> (long)  s = Sigmoid (c)  "
    body += (
        "r = Reshape (s, flat)  q = Concat <axis = 0> (r, n)  k = Greater (q, t)  y = NonZero (k)"
    )
    weights = "int64[1] long = {999}, float t ="
    model = parse(text(body, "int64[1, m] y").replace("float t =", weights))
    result = graphfix.run(model, "rknn", verify="off")
    assert result.exit_code == 1
    assert result.report.front == ("q",)
    alike = body.replace("n = ConstantOfShape <value = float[1] {1}> (long)  ", "")
    stored = f"float[999] n = {{{', '.join(['1'] * 999)}}}, float t ="
    model = parse(text(alike, "int64[1, m] y").replace("float t =", stored))
    assert graphfix.run(model, "rknn", verify="off").report.front == ("q",)
