from __future__ import annotations

import pytest

from tests.engines.cases import check, model_of

CHOICE = (
    "(float[2] x) => (float[2] y) %s { y = If (c) "
    "<then_branch = t () => (float[2] a) { a = Relu (x) }, "
    "else_branch = e () => (float[2] b) <int16 w = {1}> { b = Det (x) }> }"
)


@pytest.mark.parametrize("target", ["trt8.6", "trt10.1"])
def test_the_branch_that_a_known_condition_excludes_is_not_judged(target: str) -> None:
    def found(condition: str) -> set[str]:
        model = model_of(CHOICE % condition)
        return {f.feature for f in check(model, target) if f.blocks}

    assert found("<bool c = {1}>") == set()
    assert found("<bool c = {0}>") == {"op:Det", "dtype:int16"}


def test_onnxruntime_reads_both_branches() -> None:
    model = model_of(CHOICE.replace("Det", "my.domain.Op") % "<bool c = {1}>")
    found = [(f.feature, f.node.op) for f in check(model, "ort-1.17") if f.blocks]
    assert found == [("op:my.domain::Op", "Op")]
