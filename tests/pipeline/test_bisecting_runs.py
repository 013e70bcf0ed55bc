"""Bisecting a run: the first site that breaks the outputs, with pass files that are wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import onnx
import pytest
from onnx import ModelProto

import graphfix
from graphfix.authoring.building import Builder
from graphfix.bisection.bisecting import RunBisection
from graphfix.ir.views import NodeView
from graphfix.opset import adapting, planning
from graphfix.report import LOSSY, Verdict

NAMES = "abcdefghijkl"


def chain(op: str = "Neg") -> ModelProto:
    """Return twelve nodes in a row, named like their outputs."""
    nodes = "".join(
        f"[{name}] {name} = {op if i % 2 else 'Abs'} ({'x' if not i else NAMES[i - 1]}) "
        for i, name in enumerate(NAMES)
    )
    return onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> '
        f"g (float[3, 4] x) => (float[3, 4] {NAMES[-1]}) {{ {nodes} }}"
    )


HEAD = "from graphfix import EXACT, LOSSY, Refuse, rewrite\n\n\n"
# Neg becomes a subtraction from zero; at some places it is wrong.
SOMEWHERE = (
    HEAD
    + '@rewrite("Neg", removes="op:Neg", emits=("Mul",), accuracy=EXACT)\n'
    + "def somewhere(node, build):\n"
    + '    """Replace Neg by a product with -1."""\n'
    + "    factor = -1.02 if node.outputs[0].name in WRONG else -1.0\n"
    + "    return build.Mul(node.inputs[0], factor)\n"
)


def bisected(tmp_path: Path, wrong: str, source: str = SOMEWHERE, **more: object) -> RunBisection:
    file = tmp_path / "somewhere.py"
    file.write_text(source + f"\n\nWRONG = {tuple(wrong)!r}\n", encoding="utf-8")
    return graphfix.bisect_run(chain(), passes=["somewhere"], pass_files=[file], **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["b", "l"])
def test_the_wrong_site_of_six_is_found(tmp_path: Path, wrong: str) -> None:
    found = bisected(tmp_path, wrong)
    assert found.status is Verdict.MISMATCH
    assert found.exit_code == 1
    assert found.sites == 6
    assert found.first is not None
    assert found.first.passes == ("somewhere",)
    assert (found.first.site.node.name, found.first.site.node.op) == (wrong, "Neg")
    assert found.place == NAMES.index(wrong) // 2 + 1
    assert found.together == ()
    assert found.right is not None
    assert found.wrong is not None
    assert found.right.status is Verdict.EQUAL
    assert found.wrong.outputs[0].max_rel == pytest.approx(0.02, rel=0.05)
    proof = found.first.site.certificate
    assert proof is not None
    assert proof.status is Verdict.MISMATCH
    assert found.comparisons <= 5


def test_the_first_of_two_wrong_sites_is_found(tmp_path: Path) -> None:
    found = bisected(tmp_path, "dj")
    assert found.first is not None
    assert (found.first.site.node.name, found.place) == ("d", 2)


def test_nothing_is_wrong(tmp_path: Path) -> None:
    found = bisected(tmp_path, "")
    assert (found.status, found.exit_code, found.first) == (Verdict.EQUAL, 0, None)
    assert (found.sites, found.comparisons) == (6, 1)


def test_nothing_is_done() -> None:
    found = graphfix.bisect_run(chain("Abs"), passes=["mod-elimination"])
    assert (found.sites, found.comparisons, found.exit_code) == (0, 0, 0)
    assert found.status is Verdict.EQUAL


def test_a_lossy_site_is_named_with_its_label(tmp_path: Path) -> None:
    source = SOMEWHERE.replace("accuracy=EXACT", "accuracy=LOSSY")
    found = bisected(tmp_path, "f", source, allow_lossy=True)
    assert found.first is not None
    assert (found.first.site.node.name, found.first.site.accuracy) == ("f", LOSSY)


def test_a_site_of_one_step_of_the_opset_is_reported_from_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = dict(adapting.adapters())
    adapter = known["ReduceSum", 13, 12]

    def wrong(node: NodeView, build: Builder) -> object:
        results = cast("tuple[Any, ...]", adapter.function(node, build))
        return build.Mul(results[0], 1.01) if node.ref().name == "b" else results

    known["ReduceSum", 13, 12] = replace(adapter, function=cast("Any", wrong))
    monkeypatch.setattr(planning, "adapters", lambda: known)
    model = onnx.parser.parse_model(
        '<ir_version: 7, opset_import: ["" : 13]> '
        "g (float[2, 3] x) => (float[2, 1] y) <int64[1] axes = {1}> "
        "{ [a] a = ReduceSum <keepdims = 1> (x, axes) [s] s = Add (x, a) "
        "[b] b = ReduceSum <keepdims = 1> (s, axes) [y] y = ReduceSum <keepdims = 1> (b, axes) }"
    )
    found = graphfix.bisect_run(model, opset=12)
    assert found.status is Verdict.MISMATCH
    assert found.first is not None
    assert found.first.passes == ("opset",)
    assert found.first.site.node.name == "b"
    others = {blamed.site.node.name for blamed in found.together}
    assert others == {"a", "y", ""}, "the number of the opset is a site of the step, too"
    proof = found.first.site.certificate
    assert proof is not None
    assert proof.status is Verdict.MISMATCH


def test_a_shipped_repair_for_a_target_is_right() -> None:
    path = Path(__file__).parents[2] / "fixtures" / "slice_assign_ts17.onnx"
    found = graphfix.bisect_run(path, target="trt7")
    assert (found.target, found.status, found.exit_code) == ("trt7.2", Verdict.EQUAL, 0)
    assert found.sites > 0
    assert found.first is None
