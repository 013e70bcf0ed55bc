"""identity-elimination: operators that do nothing where they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.shape_models import in_branch, text

PASS = "identity-elimination"
X = np.array([[-1, 2], [3, -4]], np.float32)


@pytest.mark.parametrize("opset", [7, 11, 13, 17, 21])
def test_identities_go(opset: int) -> None:
    model = text(
        "g (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1, 2, 3, 4}> "
        "{ a = Identity (x) b = Identity (a) c = Identity (w) y = Add (b, c) }",
        opset,
    )
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=["Add"])
    assert list(done.after.graph.node[0].input) == ["x", "w"]


def test_what_a_branch_outputs_stays() -> None:
    model = in_branch("LOCALq = Identity (x) LOCALr = Neg (LOCALq)", "float[2,2]", "float[2,2]")
    done = assert_rewrite(PASS, model, feeds=[{"x": X, "c": np.array(True)}])
    branch = done.after.graph.node[0].attribute[0].g
    assert [n.op_type for n in branch.node] == ["Neg", "Identity"]


@given(places=st.lists(st.booleans(), min_size=1, max_size=6).filter(any))
def test_chains(places: list[bool]) -> None:
    lines: list[str] = []
    last = "x"
    for index, idle in enumerate(places):
        lines.append(f"v{index} = {'Identity' if idle else 'Neg'} ({last})")
        last = f"v{index}"
    model = text(f"g (float[2,2] x) => (float[2,2] y) {{ {' '.join(lines)} y = Abs ({last}) }}")
    after = ["Neg"] * places.count(False) + ["Abs"]
    assert_rewrite(PASS, model, feeds=[{"x": X}], after=after)
