"""Moving to another opset as a pass does it: what blocks a step is refused, the rest recorded."""

from graphfix.authoring import Editor, Recorded, Refused
from graphfix.opset.stepping import StepBlocked, move_to


def moved_to(editor: Editor, wanted: int) -> None:
    """Move the model to an opset, or refuse at the nodes that block a step and leave it."""
    try:
        moved = move_to(editor.model, editor.workspace, wanted)
    except StepBlocked as blocked:
        editor.refused.extend(Refused(b.node, b.reason) for b in blocked.blockers)
        return
    editor.recorded.extend(
        Recorded(each.site, evidence=each.evidence, computes=each.computes) for each in moved
    )
