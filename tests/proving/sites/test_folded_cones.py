"""Constants that stand for long computations from sizes: proved with all that they came from."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import graphfix
from graphfix.report import Certificate, Status, Verdict


def chain(length: int) -> onnx.ModelProto:
    """Return x times the sine and the cosine of f(size of x), with f a chain of nodes."""
    nodes = [
        helper.make_node("Shape", ["x"], ["n"]),
        helper.make_node("Cast", ["n"], ["t0"], to=TensorProto.FLOAT),
        *(
            helper.make_node("Sin" if step % 2 else "Exp", [f"t{step}"], [f"t{step + 1}"])
            for step in range(length)
        ),
        helper.make_node("Sin", [f"t{length}"], ["s"]),
        helper.make_node("Cos", [f"t{length}"], ["c"]),
        helper.make_node("Mul", ["x", "s"], ["y"]),
        helper.make_node("Mul", ["x", "c"], ["z"]),
    ]
    x, *results = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in "xyz")
    graph = helper.make_graph(nodes, "chain", [x], results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def certificates(model: onnx.ModelProto) -> list[Certificate]:
    result: Any = graphfix.run(model, passes=["fold-constants"], verify="sites")
    done = [o for o in result.report.outcomes if o.status is not Status.NOT_NEEDED]
    assert [outcome.status for outcome in done] == [Status.APPLIED]
    return [site.certificate for outcome in done for site in outcome.sites if site.certificate]


@pytest.mark.parametrize("length", [10, 100, 300])
def test_equal_where_all_of_it_is_taken(length: int) -> None:
    proofs = certificates(chain(length))
    assert proofs
    assert {proof.status for proof in proofs} == {Verdict.EQUAL}


def test_what_is_longer_is_not_called_wrong() -> None:
    proofs = certificates(chain(1200))
    # The last site takes the chain with it; the first one has it before it.
    assert [proof.status for proof in proofs] == [Verdict.INCONCLUSIVE, Verdict.EQUAL]
    assert "more nodes come before it" in proofs[0].reason
