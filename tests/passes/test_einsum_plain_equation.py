"""einsum-plain-equation: lower-case letters, no ellipsis, the result written out."""

from typing import Any

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import assert_rewrite, parse
from tests.passes.lowering_models import PLACES, written

PASS = "einsum-plain-equation"
RNG = np.random.default_rng(8)


def einsum(equation: str, names: str) -> str:
    return f'@y = Einsum <equation = "{equation}"> ({names})'


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("iJ, Jk -> ik", "ab,bc->ac"),
        ("kJ,Ji", "ab,bc->ca"),
        ("Ab,bC->AC", "ab,bc->ac"),
        ("...j,jk->...k", "ab,bc->ac"),
    ],
)
def test_two_matrices(given: str, plain: str, place: str) -> None:
    inputs = "float[2, 3] x, float[3, 4] z"
    text = written(einsum(given, "x, z"), inputs, "float[p, q]", place=place)
    feed: dict[str, Any] = {
        "x": np.array([[1, np.nan, 2], [np.inf, 0, -3]], np.float32),
        "z": RNG.normal(size=(3, 4)).astype(np.float32),
    }
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    graph = done.after.functions[0] if place == "function" else done.after.graph
    node = graph.node[0]
    if place == "branch":
        node = node.attribute[0].g.node[0]
    assert [onnx.helper.get_attribute_value(a).decode() for a in node.attribute] == [plain]


@pytest.mark.parametrize(
    ("given", "shapes", "types", "output"),
    [
        ("...ij,...jk->...ik", [(2, 5, 3, 4), (2, 5, 4, 2)], ["b,h,3,4", "b,h,4,2"], "b,h,3,2"),
        ("...ij,...jk", [(2, 3, 4), (2, 4, 2)], ["2,3,4", "2,4,2"], "2,3,2"),
        ("b...i,bi->b...", [(2, 3, 5, 4), (2, 4)], ["b,p,q,4", "b,4"], "b,p,q"),
        ("...->...", [(2, 3)], ["p,q"], "p,q"),
    ],
)
def test_batches(given: str, shapes: list[tuple[int, ...]], types: list[str], output: str) -> None:
    names = ["x", "z"][: len(shapes)]
    inputs = ", ".join(f"float[{kind}] {name}" for kind, name in zip(types, names, strict=True))
    text = written(einsum(given, ", ".join(names)), inputs, f"float[{output}]")
    feed = {n: RNG.normal(size=s).astype(np.float32) for n, s in zip(names, shapes, strict=True)}
    assert_rewrite(PASS, text, feeds=[feed], after=["Einsum"])


@pytest.mark.parametrize("equation", ["...ij,...jk->...ik", "NIJ,NJK->NIK"])
def test_the_operator_stays_for_targets_that_have_it(equation: str) -> None:
    text = written(einsum(equation, "x, z"), "float[n,2,3] x, float[n,3,4] z", "float[n,2,4]")
    result = graphfix.run(parse(text), "trt8.6", verify="full")
    assert result.exit_code == 0
    assert [node.op_type for node in result.model.to_proto().graph.node] == ["Einsum"]
