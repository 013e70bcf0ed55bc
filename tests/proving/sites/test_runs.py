"""Certificates of whole runs: shipped passes, opset steps, weights too big to read, reports."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import onnx.inliner
import pytest

import graphfix
from graphfix import EXACT, graph_pass
from graphfix.authoring.building import Builder
from graphfix.authoring.editing import Editor
from graphfix.ir.views import NodeView, Value
from graphfix.opset import adapting, planning
from graphfix.pipeline.results import Result
from graphfix.proving.sites.identical import BYTES, STANDING
from graphfix.rendering.as_json import report_json
from graphfix.report import (
    Certificate,
    NodeRef,
    Report,
    Status,
    Verdict,
    every_site_equal,
)

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"


def _proofs(report: Report) -> list[Certificate]:
    return [
        site.certificate
        for outcome in report.outcomes
        if outcome.status is Status.APPLIED
        for site in outcome.sites
        if site.certificate is not None
    ]


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.onnx")), ids=lambda path: path.stem)
def test_every_site_of_the_fixtures_is_equal(path: Path) -> None:
    result = graphfix.run(path, target="trt7", verify="sites")
    proofs = _proofs(result.report)
    reasons = [proof.reason for proof in proofs if proof.status is not Verdict.EQUAL]
    assert not reasons
    assert {proof.reason for proof in proofs} <= {"", *STANDING}
    assert all((proof.samples > 0) == (proof.reason not in STANDING) for proof in proofs)
    assert not [o for o in result.report.outcomes if o.status is Status.FAILED]
    if any(f.blocks for f in result.report.findings_before):
        assert proofs or result.exit_code == 1


def _huge(folder: Path, sites: int) -> Path:
    """Write a model with 40 GB of weights (a file of holes), of which `sites` nodes read each."""
    width, rows = 100_000, 100_000 // sites
    weights = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[width, width])
    weights.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("length", str(4 * width * width))):
        weights.external_data.add(key=key, value=value)
    with (folder / "w.bin").open("wb") as stream:
        stream.truncate(4 * width * width)
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "w"], ["all"]),
        onnx.helper.make_node("Split", ["all"], [f"p{n}" for n in range(sites)], axis=1),
    ]
    for n in range(sites):
        nodes.append(onnx.helper.make_node("HardSwish", [f"p{n}"], [f"y{n}"]))
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes,
        "huge",
        [info("x", 1, ["N", width])],
        [info(f"y{n}", 1, ["N", rows]) for n in range(sites)],
        [weights],
    )
    imports = [onnx.helper.make_opsetid("", 14)]
    path = folder / "huge.onnx"
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def test_a_model_that_is_too_big_to_run_is_proved_site_by_site(tmp_path: Path) -> None:
    path = _huge(tmp_path, 10)
    result = graphfix.run(path, opset=13)
    assert result.report.verification.status in (Verdict.SKIPPED, Verdict.INCONCLUSIVE)
    proofs = _proofs(result.report)
    assert [proof.status for proof in proofs] == [Verdict.EQUAL] * len(proofs)
    assert len(proofs) >= 10
    assert result.exit_code == 0, "each site is equal, though the whole cannot be compared"


def test_weights_that_cannot_be_read_are_made_smaller(tmp_path: Path) -> None:
    path = _huge(tmp_path, 1)
    source = tmp_path / "twice.py"
    source.write_text(
        "from graphfix import EXACT, rewrite\n\n\n"
        '@rewrite("MatMul", emits=("Transpose", "MatMul"), accuracy=EXACT)\n'
        "def turned(node, build):\n"
        "    x, w = node.inputs\n"
        "    w, x = build.Transpose(w, perm=[1, 0]), build.Transpose(x, perm=[1, 0])\n"
        "    both = build.MatMul(w, x)\n"
        "    return build.Transpose(both, perm=[1, 0])\n",
        encoding="utf-8",
    )
    result = graphfix.run(path, passes=["turned"], pass_files=[source], verify="sites")
    assert [proof.status for proof in _proofs(result.report)] == [Verdict.EQUAL]
    text = source.read_text(encoding="utf-8").replace('"MatMul"),', '"MatMul", "Mul"),')
    text = text.replace("build.Transpose(both", "build.Transpose(build.Mul(both, 1.01)")
    source.write_text(text, encoding="utf-8")
    result = graphfix.run(path, passes=["turned"], pass_files=[source], verify="sites")
    proofs = _proofs(result.report)
    assert [proof.status for proof in proofs] == [Verdict.INCONCLUSIVE]
    assert "too many to make" in proofs[0].reason
    assert result.exit_code == 1


SUM = """
    <ir_version: 7, opset_import: ["" : 13]>
    g (float[2, 3] x) => (float[2, 1] y, float[2, 3] z) <int64[1] axes = {1}>
    { y = ReduceSum <keepdims = 1> (x, axes)  z = Softmax <axis = 1> (x) }
"""


def test_a_wrong_step_of_the_opset_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(adapting.adapters())
    right = graphfix.run(onnx.parser.parse_model(SUM), opset=12)
    assert right.exit_code == 0
    assert right.model.opset == 12
    assert every_site_equal(right.report.outcomes)
    adapter = known["ReduceSum", 13, 12]

    def wrong(node: NodeView, build: Builder) -> object:
        results = adapter.function(node, build)
        assert isinstance(results, tuple)
        return build.Mul(results[0], 1.01)

    known["ReduceSum", 13, 12] = replace(adapter, function=cast("Any", wrong))
    monkeypatch.setattr(planning, "adapters", lambda: known)
    result = graphfix.run(onnx.parser.parse_model(SUM), opset=12)
    assert result.model.opset == 13
    assert result.exit_code == 1
    failed = [o for o in result.report.outcomes if o.status is Status.FAILED]
    assert [(o.pass_id, o.sites[0].node.op) for o in failed] == [("opset", "ReduceSum")]


def test_an_attribute_that_only_the_older_form_has_may_be_an_empty_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = """
        <ir_version: 7, opset_import: ["" : 13]>
        g (float[2, 3] x) => (float[2, 3] y) <int64[1] axis = {0}>
        { row = Unsqueeze (x, axis)  y = Squeeze (row, axis) }
    """
    known = dict(adapting.adapters())

    def longer(node: NodeView, build: Builder) -> object:
        return build.Unsqueeze(build.Unsqueeze(node.need(0), axes=[0]), axes=[])

    known["Unsqueeze", 13, 12] = replace(known["Unsqueeze", 13, 12], function=cast("Any", longer))
    monkeypatch.setattr(planning, "adapters", lambda: known)
    result = graphfix.run(onnx.parser.parse_model(text), opset=12, verify="sites")
    assert result.model.opset == 12
    assert every_site_equal(result.report.outcomes)


def test_the_json_carries_the_certificates() -> None:
    proofs: list[dict[str, Any]] = []
    for target in ("trt7", "trt8"):
        result = graphfix.run(FIXTURES / "mod_int_ts11.onnx", target=target)
        found = json.loads(json.dumps(report_json(result.report)))
        proofs += [s["certificate"] for o in found["outcomes"] for s in o["sites"]]
    for proof in proofs:
        assert list(proof)[-4:] == ["own", "sizes", "shorter", "reason"]
        assert proof["status"] == "equal"
        assert proof["reason"] in ("", *STANDING)
        assert (proof["samples"] > 0) == (proof["reason"] == "")
    assert {proof["reason"] for proof in proofs} == {"", BYTES}


def _sites_only(model: onnx.ModelProto, name: str) -> Result:
    return graphfix.run(model, passes=[name], verify="sites")


def test_unreachable_nodes_need_no_certificate() -> None:
    model = onnx.parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x) => (float[2] y) { dead = Relu (x)  y = Neg (x) }
        """
    )
    result = _sites_only(model, "dead-code")
    sites = [s for o in result.report.outcomes if o.status is Status.APPLIED for s in o.sites]
    assert [site.certificate for site in sites] == [None]
    assert not every_site_equal(result.report.outcomes)


@graph_pass(emits="", accuracy=EXACT)
def without_the_first_identity(editor: Editor) -> None:
    """Put back what Identity copies, the first time in a way that is not proved."""
    unproved = True
    for graph in editor.graphs():
        for view in editor.nodes(graph, "Identity"):
            editor.replace(view, partial(_copied, view), unproved=unproved)
            unproved = False


def _copied(view: NodeView, _: Builder) -> Value:
    return view.need(0)


def test_a_place_that_was_not_proved_counts_where_nothing_came_instead() -> None:
    model = onnx.parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x) => (bool[2] y) {
          a = Identity (x)  b = Abs (a)  c = Identity (b)  s = Sqrt (c)  d = Less (s, s)
          y = Not (d)
        }
        """
    )
    result = graphfix.run(model, passes=[without_the_first_identity])
    proofs = _proofs(result.report)
    assert [proof.status for proof in proofs] == [Verdict.INCONCLUSIVE, Verdict.EQUAL]
    assert result.report.verification.status is Verdict.INCONCLUSIVE
    assert result.exit_code == 1


LOCAL = """
    <ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[2] x, bool c) => (float[2] y, float[2] z)
    {
        y = local.twice <alpha = 0.5> (x)
        z = If (c) <
            then_branch = t () => (float[2] a) { a = local.twice <alpha = 2.0> (y) },
            else_branch = e () => (float[2] b) { b = Neg (y) }
        >
    }
    <domain: "local", opset_import: ["" : 17, "local" : 1]>
    twice <alpha> (p) => (q) { r = LeakyRelu <alpha: float = @alpha> (p)  q = local.sum (r) }
    <domain: "local", opset_import: ["" : 17, "local" : 1]>
    sum (p) => (q) { q = Add (p, p) }
"""


def test_inlined_calls_are_proved_one_by_one() -> None:
    result = _sites_only(onnx.parser.parse_model(LOCAL), "inline-functions")
    sites = [s for o in result.report.outcomes if o.status is Status.APPLIED for s in o.sites]
    assert [(s.node.op, s.node.scope) for s in sites] == [
        ("twice", "main"),
        ("twice", "main/If.then_branch"),
    ]
    assert [proof.status for proof in _proofs(result.report)] == [Verdict.EQUAL] * 2
    assert result.exit_code == 0


def test_a_wrong_inlining_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    inline = onnx.inliner.inline_local_functions

    def wrong(model: onnx.ModelProto) -> onnx.ModelProto:
        inlined = inline(model)
        for node in inlined.graph.node:
            if node.op_type == "Add":
                node.op_type = "Mul"
        return inlined

    monkeypatch.setattr(onnx.inliner, "inline_local_functions", wrong)
    result = _sites_only(onnx.parser.parse_model(LOCAL), "inline-functions")
    failed = [o for o in result.report.outcomes if o.status is Status.FAILED]
    assert [(o.pass_id, [s.node.op for s in o.sites]) for o in failed] == [
        ("inline-functions", ["twice"])
    ]
    assert len(result.model.functions) == 2


def test_an_input_of_another_type_is_proved_with_what_reads_it() -> None:
    model = onnx.parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (uint8[2, 3] x) => (float[2, 3] y, float16[2, 3] z)
        { a = Cast <to = 1> (x)  y = Relu (a)  z = Cast <to = 10> (x) }
        """
    )
    result = graphfix.run(model, target="trt7", allow_io_change=True, verify="sites")
    assert [change.new for change in result.report.io_changes] == ["int32"]
    assert [proof.status for proof in _proofs(result.report)] == [Verdict.EQUAL]


@graphfix.graph_pass(emits="*::*")
def another_file(editor: Editor) -> None:
    """Put Add for Sum, and say of no node that it is another one."""
    proto = editor.model.to_proto()
    proto.graph.node[0].op_type = "Add"
    editor.reload(proto)
    editor.record(NodeRef())


def test_a_change_of_the_whole_file_is_not_proved_by_sites() -> None:
    model = onnx.parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x) => (float[2] y) { y = Sum (x, x) }
        """
    )
    result = graphfix.run(model, passes=[another_file], verify="sites")
    proofs = _proofs(result.report)
    assert [proof.status for proof in proofs] == [Verdict.INCONCLUSIVE]
    assert result.exit_code == 1
    whole = graphfix.run(model, passes=[another_file])
    assert whole.report.verification.status is Verdict.EQUAL
    assert whole.exit_code == 0


def test_proofs_are_the_same_each_time() -> None:
    found = [
        _proofs(graphfix.run(FIXTURES / "mod_float_ts13.onnx", target="trt8").report)
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert np.isfinite([proof.max_abs or 0.0 for proof in found[0]]).all()
