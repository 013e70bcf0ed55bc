"""ncnn: the one type of numbers that it has."""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import stated_types
from graphfix.engines.ncnn.rules import MEASURED
from graphfix.engines.ncnn.rules.embedding import is_of_indices
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.ir.views import NodeView


@rule(
    feature="dtype:int64",
    severity=REJECT,
    source=f"{MEASURED}: integers that reach one of its layers are read as floats, but for the"
    " indices of a table",
)
def other_numbers_than_float32(node: NodeView, target: Target) -> Answer:
    """{op}: ncnn supports float32 only."""
    found: Answer = stated_types.check(node, target)
    if isinstance(found, Unknown) and _is_unread_mask(node):
        return False
    if not isinstance(found, Yes):
        return found
    output = node.output(0)
    if output is not None and is_of_indices(output):
        return False
    name = found.feature.rpartition(".")[2]
    # Of bools it counts what is done with them; of all others the type alone has to go.
    return found if name == "bool" else Yes(feature=f"dtype:{name}", message=found.message)


def _is_unread_mask(node: NodeView) -> bool:
    """Say whether all that may be of another type is the mask of a Dropout that nothing reads."""
    if node.op != "Dropout" or len(node.outputs) < len(("output", "mask")):
        return False
    y, mask = node.outputs
    read = mask is not None and (bool(mask.consumers) or mask.is_graph_output)
    return not read and y is not None and y.elem_type == TensorProto.FLOAT
