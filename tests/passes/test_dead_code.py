"""dead-code: nodes whose results nothing uses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, assert_untouched
from tests.passes.shape_models import in_branch, text

PASS = "dead-code"
X = np.array([-1, 2], np.float32)


@pytest.mark.parametrize("opset", [7, 13, 21])
def test_a_dead_chain_goes_and_inputs_and_initializers_stay(opset: int) -> None:
    model = text(
        "g (float[2] x, float[2] unused) => (float[2] y) <float[2] w = {1, 2}, "
        "float[2] v = {3, 4}> "
        "{ a = Neg (x) b = Abs (a) c = Add (b, w) y = Relu (x) }",
        opset,
    )
    feed = {"x": X, "unused": X}
    done = assert_rewrite(PASS, model, feeds=[feed], after=["Relu"])
    assert [i.name for i in done.after.graph.input] == ["x", "unused"]
    assert [t.name for t in done.after.graph.initializer] == ["v"]


def test_in_a_branch() -> None:
    model = in_branch("LOCALq = Abs (x) LOCALr = Neg (x)", "float[2]", "float[2]")
    done = assert_rewrite(PASS, model, feeds=[{"x": X, "c": np.array(False)}])
    for attribute in done.after.graph.node[0].attribute:
        assert [n.op_type for n in attribute.g.node] == ["Neg", "Identity"]


@given(used=st.lists(st.booleans(), min_size=1, max_size=6))
def test_only_what_is_used_stays(used: list[bool]) -> None:
    lines: list[str] = []
    last = "x"
    for index, wanted in enumerate(used):
        lines.append(f"v{index} = Neg ({last})")
        last = f"v{index}" if wanted else last
    model = text(f"g (float[2] x) => (float[2] y) {{ {' '.join(lines)} y = Abs ({last}) }}")
    if all(used):
        assert_untouched(PASS, model)
        return
    after = ["Neg"] * used.count(True) + ["Abs"]
    assert_rewrite(PASS, model, feeds=[{"x": X}], after=after)
