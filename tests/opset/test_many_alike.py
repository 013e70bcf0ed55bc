"""Thousands of nodes of one kind: planned as one would be, and at little cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import onnx
import onnx.helper as oh
import pytest

import graphfix
from graphfix.authoring.declaring import Pass
from graphfix.authoring.drafting import draft_rewrite
from graphfix.authoring.registry import get_pass
from graphfix.authoring.workspace import Workspace
from graphfix.opset import planning, precedents
from graphfix.opset.stepping import StepBlocked, move_to
from graphfix.pipeline import repair_stages
from tests.opset.conversion import converted, loaded


def _chain(op: str, count: int) -> onnx.ModelProto:
    """Return a chain of one operator, fmod of floats with a constant of its own for each or not."""
    attributes: dict[str, Any] = {"fmod": 1} if op == "Mod" else {}
    names = ["x", *(f"y{i}" for i in range(count))]
    nodes = [
        oh.make_node(op, [a, f"c{i}"] if attributes else [a], [b], f"n{i}", **attributes)
        for i, (a, b) in enumerate(pairwise(names))
    ]
    constants = [oh.make_tensor(f"c{i}", 1, [1], [3.0]) for i in range(count if attributes else 0)]
    shown = [oh.make_tensor_value_info(name, 1, [2]) for name in (names[0], names[-1])]
    graph = oh.make_graph(nodes, op, shown[:1], shown[1:], constants)
    return oh.make_model(graph, opset_imports=[oh.make_opsetid("", 18)], ir_version=8)


def _counted(real: Callable[..., Any], note: Callable[..., None]) -> Callable[..., Any]:
    def call(*given: Any, **options: Any) -> Any:
        note(*given)
        return real(*given, **options)

    return call


@pytest.fixture
def drafts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what is drafted, by pass."""
    counted: Counter[str] = Counter()

    def note(declared: Pass, *_: object) -> None:
        counted[declared.id] += 1

    monkeypatch.setattr(planning, "draft_rewrite", _counted(draft_rewrite, note))
    return counted


def _moved(proto: onnx.ModelProto, version: int, passes: Sequence[Pass]) -> list[str]:
    model, _ = loaded(proto)
    move_to(model, Workspace(model, passes=passes), version)
    return [node.op for node in model.graph.nodes]


def test_what_no_pass_can_stand_in_for_is_drafted_a_few_times_and_named_each_time(
    drafts: Counter[str],
) -> None:
    count = precedents.ENOUGH + 40
    with pytest.raises(StepBlocked) as blocked:
        _moved(_chain("Mod", count), 9, [get_pass("mod-elimination")])
    assert [b.node.name for b in blocked.value.blockers] == [f"n{i}" for i in range(count)]
    assert {b.reason for b in blocked.value.blockers} == {"opset 9 has no Mod"}
    assert drafts == {"mod-elimination": precedents.ENOUGH}


def test_what_was_in_for_the_first_is_drafted_alone_for_the_next(drafts: Counter[str]) -> None:
    shorter = get_pass("round-to-floor")
    passes = [shorter, replace(shorter, id="round-to-the-same")]
    many = _moved(_chain("Round", 30), 10, passes)
    assert drafts == {"round-to-floor": 30, "round-to-the-same": 1}
    one = Counter(_moved(_chain("Round", 1), 10, passes))
    assert Counter(many) == {op: 30 * times for op, times in one.items()}


def test_nodes_of_another_kind_are_drafted_again(drafts: Counter[str]) -> None:
    proto = _chain("Mod", precedents.ENOUGH + 1)
    proto.graph.initializer[-1].float_data[:] = [2.0]
    with pytest.raises(StepBlocked):
        _moved(proto, 9, [get_pass("mod-elimination")])
    assert drafts == {"mod-elimination": precedents.ENOUGH + 1}


def test_a_function_is_not_written_out_for_operands_that_it_does_not_take() -> None:
    proto = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 20, "own" : 1]>
    g (float[1,2,3] x, float[4] size) => (float y) { t = own.Op(x) y = AffineGrid(t, size) }""")
    with pytest.raises(StepBlocked) as blocked:
        converted(proto, 19)
    (blocker,) = blocked.value.blockers
    assert blocker.reason == (
        "the dtype of t must be known; "
        "AffineGrid gets size (float32[4]) at opset 20, and takes int64 there"
    )


def test_an_output_without_type_has_that_of_what_shares_its_type_variable() -> None:
    text = """<ir_version: 8, opset_import: ["" : 13, "own" : 1]>
    g (float[2] x) => (float[2] y) { u = own.Op(x)  t = Mod<fmod = 1>(x, u)  y = own.Op(t) }"""
    proto = onnx.parser.parse_model(text)
    assert [n.op_type for n in converted(proto, 12).graph.node] == ["Op", "Mod", "Op"]
    narrow = onnx.parser.parse_model(text.replace("float[2] x", "bfloat16[2] x"))
    with pytest.raises(StepBlocked) as blocked:
        converted(narrow, 12)
    assert "bfloat16" in blocked.value.blockers[0].reason


@pytest.mark.parametrize(("folds", "times"), [(False, 1), (True, 2)])
def test_a_step_is_tried_again_only_where_folding_made_something(
    folds: bool,
    times: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[int] = []
    move = _counted(move_to, lambda *_: tried.append(1))
    monkeypatch.setattr(repair_stages, "move_to", move)
    proto = _chain("Mod", 1)
    if folds:
        proto.graph.node.insert(0, oh.make_node("Add", ["c0", "c0"], ["two"], "sum"))
        proto.graph.node[1].input[1] = "two"
    result = graphfix.run(proto, opset=9, verify="off")
    assert len(tried) == times
    assert [node.op for node in result.model.graph.nodes].count("Mod") == 1
