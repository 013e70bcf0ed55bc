"""ncnn: the one type of numbers that it has."""

from __future__ import annotations

from graphfix.authoring.views import NodeView
from graphfix.engines.common_rules import stated_types
from graphfix.engines.ncnn.rules import MEASURED
from graphfix.engines.ncnn.rules.embedding import is_of_indices
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule


@rule(
    feature="dtype:int64",
    versions="ncnn",
    severity=REJECT,
    source=f"{MEASURED}: integers that reach one of its layers are read as floats, but for the"
    " indices of a table",
)
def other_numbers_than_float32(node: NodeView, target: Target) -> Answer:
    """{op} computes with other numbers than float32."""
    found: Answer = stated_types.check(node, target)
    if not isinstance(found, Yes):
        return found
    if is_of_indices(node.output(0)):
        return False
    name = found.feature.rpartition(".")[2]
    # Of bools it counts what is done with them; of all others the type alone has to go.
    return found if name == "bool" else Yes(feature=f"dtype:{name}", message=found.message)
