"""glow-notes-removal: what Glow notes on nodes for itself."""

import numpy as np

from graphfix.api import run
from graphfix.testing import outputs_of, parse

MODEL = (
    '<ir_version: 7, opset_import: ["": 9]> g (float[3] a) => (float[3] y) '
    "{ r = Relu <%s> (a) y = LeakyRelu <alpha = 0.5> (r) }"
)


def test_notes_go_and_attributes_stay() -> None:
    text = MODEL % 'partitionName = "p", NodeOpt_NNPI_numParallelChunks = ["2"]'
    result = run(parse(text.replace("alpha = 0.5", 'alpha = 0.5, partitionName = "q"')), "trt8.6")
    assert result.exit_code == 0
    relu, leaky = result.model.to_proto().graph.node
    assert not relu.attribute
    assert [attribute.name for attribute in leaky.attribute] == ["alpha"]
    given = outputs_of(result.model.to_proto(), {"a": np.array([-1, 0, 2], np.float32)})["y"]
    assert given.tolist() == [0, 0, 2]
