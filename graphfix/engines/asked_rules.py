"""What the engine itself said of a node when it was asked, as a rule like those that are known."""

from __future__ import annotations

from graphfix.engines.node_forms import is_of
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView


@rule(
    feature="asked:{op}",
    severity=REJECT,
    source="the engine itself, asked on this machine",
    needs="answers",
)
def engine_says(node: NodeView, target: Target) -> Answer:
    """The engine was asked on this machine, and refuses {op} or computes it differently."""
    for said in target.answers:
        if said.op != node.op or not is_of(said, node):
            continue
        if said.refusal:
            message = f"{said.engine}, asked here, does not take {node.op} as it is here"
            return Yes(message=message, text=said.refusal)
        message = f"{said.engine}, asked here, computes {node.op} differently than onnxruntime:"
        return Yes(message=f"{message} {said.difference}", severity=WRONG)
    return None
