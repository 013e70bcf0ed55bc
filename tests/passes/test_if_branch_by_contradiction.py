"""if-branch-by-contradiction: the branch that the rest of the model can continue with."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.report import Status, Verdict
from graphfix.testing import assert_rewrite, assert_untouched, outputs_of, parse, run_pass

PASS = "if-branch-by-contradiction"
# What PyTorch writes for x.squeeze(-1) before something that takes matrices only.
SQUEEZE = (
    "s = Shape (x) n = Gather (s, two) c = Equal (n, one) "
    "h = If (c) <then_branch = t () => (float[A, B] a) { a = Squeeze (x, last) }, "
    "else_branch = e () => (float[A, B, C] b) { b = Identity (x) }>"
)


def model(following: str, output: str, opset: int = 17, inputs: str = "") -> onnx.ModelProto:
    return parse(
        f'<ir_version: 8, opset_import: ["" : {opset}]> '
        f"g (float[2, 3, T] x, float[3, 4] w{inputs}) => ({output} y) "
        f"<int64 two = {{2}}, int64 one = {{1}}, int64[1] last = {{-1}}> "
        f"{{ {SQUEEZE} {following} }}"
    )


def feed(seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "x": rng.standard_normal((2, 3, 1)).astype(np.float32),
        "w": rng.standard_normal((3, 4)).astype(np.float32),
    }


@pytest.mark.parametrize("opset", [13, 17, 21])
def test_only_one_rank_fits(opset: int) -> None:
    done = assert_rewrite(PASS, model("y = Gemm (h, w)", "float[2, 4]", opset), feeds=[feed()])
    assert "If" not in done.ops
    assert done.ops[-2:] == ["Squeeze", "Gemm"]


def test_it_follows_conditions_that_become_known() -> None:
    following = (
        "r = Shape (h) k = Size (r) d = Equal (k, two) "
        "m = If (d) <then_branch = p () => (float[A, B] i) { i = Identity (h) }, "
        "else_branch = q () => (float[A, B, C] j) "
        "{ z = Constant <value_ints = [-1]> () j = Unsqueeze (h, z) }> "
        "y = Gemm (m, w)"
    )
    done = run_pass(PASS, model(following, "float[2, 4]"))
    assert done.ops.count("If") == 1  # the condition of the other one is known now
    wanted = outputs_of(done.before, feed())["y"]
    np.testing.assert_array_equal(outputs_of(done.after, feed())["y"], wanted)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 99))
def test_any_numbers(seed: int) -> None:
    assert_rewrite(PASS, model("y = Gemm (h, w)", "float[2, 4]"), feeds=[feed(seed)])


def test_the_site_is_not_proved_by_itself() -> None:
    from graphfix.api import run

    result = run(model("y = Gemm (h, w)", "float[2, 4]"), "trt8.6", inputs=feed())
    assert result.exit_code == 0
    assert result.report.verification.status is Verdict.EQUAL
    (site,) = [
        site
        for outcome in result.report.outcomes
        if outcome.pass_id == PASS and outcome.status is Status.APPLIED
        for site in outcome.sites
    ]
    assert site.certificate is not None
    assert site.certificate.status is Verdict.INCONCLUSIVE


def test_leaves_branches_of_one_rank_alone() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x, bool c) => (float[2] y) '
        "{ y = If (c) <then_branch = t () => (float[2] a) { a = Relu (x) }, "
        "else_branch = e () => (float[2] b) { b = Neg (x) }> }"
    )
    assert_untouched(PASS, text)
    assert run_pass(PASS, text).ops == ["If"]
