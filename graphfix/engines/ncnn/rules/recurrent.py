"""ncnn: the layers that pnnx makes of recurrences, which it knows by the node after them."""

from __future__ import annotations

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import origin_through
from graphfix.engines.ncnn.rules import FACTS
from graphfix.engines.ncnn.rules.batches import COUNTED, FAR, KEEPING, axes_of
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import REDUCTIONS

_ACTIVATIONS = {
    "GRU": ("Sigmoid", "Tanh"),
    "LSTM": ("Sigmoid", "Tanh", "Tanh"),
    "RNN": ("Tanh",),
}
_STATES = (5, 6)  # the inputs initial_h and initial_c
_BIAS, _LENGTHS = 3, 4  # the inputs B and sequence_lens
_STEPS_FIRST = [0, 2, 1, 3]
_BATCH = 1  # the axis of the sequence
# Of what is in front of the last node that turns or counts axes, these alone leave it known
# which axis is the batch.
_LAID_OUT = frozenset({"Reshape", "Squeeze", "Transpose"})
_PASSED = frozenset({"Relu"})
_ALONG = frozenset({"Expand", "Slice"})  # what they read has the axes that they give


@rule(
    ("GRU", "LSTM", "RNN"),
    feature="op:{op}",
    severity=REJECT,
    text="ncnn does not load what pnnx wrote",
    source=FACTS,
)
def recurrence_in_a_form(node: NodeView, target: Target) -> Answer:
    """pnnx supports {op} with constant weights and a Transpose and Reshape that join directions."""
    if not _is_known(node) or not _is_joined(node.output(0)):
        return True
    crossed = _crossed(node.need(0))
    if "Concat" in crossed:
        return True
    wrong = _computes_differently(node) or not _has_known_batch(node.input(0))
    states = [_is_read(output) for output in node.outputs[1:]]
    if crossed:
        said = f"{', '.join(sorted(crossed))} in front changes what it takes for the batch"
        return Yes(
            message=f"pnnx does not keep the batch of {node.op} apart: {said}", severity=WRONG
        )
    if not any(states):
        return wrong and Yes(severity=WRONG)
    if _are_given(node) and all(states) and len(states) == _count(node):
        x = node.need(0)  # the states of one sequence alone are in their places
        return (wrong or x.dim(1) != 1) and Yes(severity=WRONG)
    return True if node.op == "LSTM" or node.input(_BIAS) is None else Yes(severity=WRONG)


def _is_known(node: NodeView) -> bool:
    """Say whether pnnx reads the attributes and the inputs."""
    names = [str(name) for name in node.attr("activations", ())]
    usual = list(_ACTIVATIONS[node.op]) * _directions(node)
    stored = [value for value in node.inputs[1:4] if value is not None]
    return (
        (node.op == "RNN" or names in ([], usual))
        and node.attr("direction", "forward") != "reverse"
        and not node.attr("layout", 0)
        and node.input(_LENGTHS) is None
        and all(value.is_constant for value in stored)
    )


def _directions(node: NodeView) -> int:
    return 2 if node.attr("direction", "forward") == "bidirectional" else 1


def _count(node: NodeView) -> int:
    return 2 if node.op == "LSTM" else 1


def _are_given(node: NodeView) -> bool:
    return all(node.input(place) is not None for place in _STATES[: _count(node)])


def _is_read(value: Value | None) -> bool:
    return value is not None and (bool(value.consumers) or value.is_graph_output)


def _is_joined(sequence: Value | None) -> bool:
    """Say whether the axis of directions is taken away by the one node that reads the sequence."""
    reader = _reader(sequence)
    if sequence is None or reader is None:
        return False
    if reader.op == "Squeeze":
        return sequence.dim(1) == 1
    turned = reader.op == "Transpose" and list(reader.attr("perm", ())) == _STEPS_FIRST
    after = _reader(reader.output(0)) if turned else None
    return after is not None and after.op == "Reshape"


def _reader(value: Value | None) -> NodeView | None:
    """Return the one node that reads the values of a tensor, not its sizes."""
    if value is None or value.is_graph_output:
        return None
    readers = [user for user in value.consumers if user.op != "Shape"]
    return readers[0] if len(readers) == 1 else None


def _computes_differently(node: NodeView) -> bool:
    """Say whether it is taken for a layer that computes other values."""
    if node.has("clip") or node.attr("input_forget", 0):
        return True
    if _directions(node) > 1 and any(node.input(place) is not None for place in _STATES):
        return True
    if node.op == "RNN":
        return any(str(name) != "Tanh" for name in node.attr("activations", ()))
    return node.op == "GRU" and not node.attr("linear_before_reset", 0)


def _crossed(x: Value) -> set[str]:
    """Return the operators across the axis that pnnx takes for the batch of a recurrence.

    solve_batch_index.cpp follows the second axis of the sequence back. A reduction, a Slice or a
    Concat along it is left out or not loaded, and so is a reduction after which the axis has
    another number: that number is taken for it in front, too.
    """
    found: set[str] = set()
    pending = [(x, _BATCH)]
    for _ in range(FAR):
        if not pending:
            break
        value, axis = pending.pop()
        crossed = _across(value, axis)
        found.add(crossed)
        maker = value.producer
        if not crossed or (maker is not None and maker.op in REDUCTIONS and _keeps(maker)):
            pending += _in_front(value, axis)
    return found - {""}


def _in_front(value: Value, axis: int) -> list[tuple[Value, int]]:
    """Return what makes a tensor, with the number of the axis there."""
    maker = value.producer
    if maker is None:
        return []
    if maker.op == "Transpose":
        perm = [int(each) for each in maker.attr("perm", ())]
        return [(maker.need(0), perm[axis])] if len(perm) > axis else []
    if maker.op in REDUCTIONS or maker.op in _ALONG:
        return [(maker.need(0), axis)]
    if maker.op in COUNTED:  # what stays in front is what is first
        x = maker.need(0)
        return [(x, 0)] if not axis and x.dim(0) == value.dim(0) else []
    if maker.op not in KEEPING:
        return []
    same = [v for v in maker.inputs if v is not None and v.rank == value.rank]
    return [(v, axis) for v in same if not known_with_sizes(v)]


def _across(value: Value, axis: int) -> str:
    maker = value.producer
    x = None if maker is None else maker.input(0)
    if maker is None or x is None or not x.rank:
        return ""
    if maker.op == "Concat":
        return maker.op if int(maker.attr("axis", 0)) % x.rank == axis else ""
    if x.dim(axis) == 1:
        return ""
    if maker.op in _ALONG:
        return maker.op if x.dim(axis) != value.dim(axis) else ""
    if maker.op not in REDUCTIONS:
        return ""
    axes = axes_of(maker)
    moved = not _keeps(maker) and any(each < axis for each in axes)
    return maker.op if moved or axis in axes else ""


def _keeps(reduction: NodeView) -> bool:
    return bool(reduction.attr("keepdims", 1))


def _has_known_batch(x: Value | None) -> bool:
    """Say whether what makes the sequence leaves the batch where it is: its second axis."""
    before = None if x is None else _after_passed(x).producer
    return before is None or before.op in _LAID_OUT or before.op in _PASSED


_after_passed = origin_through(lambda maker: maker.op in _PASSED)
