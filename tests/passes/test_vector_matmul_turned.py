"""vector-matmul-turned: the transposed matrix by the vector."""

import graphfix
from graphfix.testing import parse
from tests.passes.lowering_models import written

AFTER = ["Transpose", "MatMul"]


def test_it_repairs_for_the_engine_that_takes_no_rows() -> None:
    text = written("@y = MatMul (v, w)", "float[3] v, float[3, 4] w", "float[4]")
    result = graphfix.run(parse(text), target="tflite1.29", trust_rules=True)
    assert result.exit_code == 0
    assert [node.op_type for node in result.model.to_proto().graph.node] == AFTER
