"""tree-ensemble-to-gather: trees in the form of ai.onnx.ml 5."""

import numpy as np
from onnx import numpy_helper

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.tree_models import ROUNDED, newer

PASS = "tree-ensemble-to-gather"


def test_the_form_of_ai_onnx_ml_5() -> None:
    data = np.array([[a, b] for a in (0.4, 0.5, 0.6) for b in (0, 1, 2, 3, 4)], np.float32)
    done = assert_rewrite(PASS, newer(), feeds=[{"x": data}], **ROUNDED)
    assert not [node for node in done.after.graph.node if node.domain]
    assert_refused(PASS, newer(tree_roots=[0, 0]), "must have nodes of their own")
    assert_refused(PASS, newer(nodes_truenodeids=[1, 0, 4]), "one leads to none")
    cycle = newer(nodes_trueleafs=[0, 0, 1], nodes_truenodeids=[1, 0, 3])
    assert_refused(PASS, cycle, "they form a cycle or deeper ones")
    empty = numpy_helper.from_array(np.zeros(0, np.float32))
    assert_refused(PASS, newer(membership_values=empty), "0 sets for 1 branches")
