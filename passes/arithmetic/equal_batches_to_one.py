"""Store one batch of a constant operand whose batches are all the same.

What it does: Where all parts of a constant along its first axis hold the same values, and the
    other operand has as many there, one part is stored, which is broadcast.
Why engines need it: ncnn leaves the batch out of tensors where an operator tells it which axis that
    is, and not out of constants: "shape [2, 5, 16] -> [2, 5, 16, 16]". Exporters store position
    embeddings and masks once for each batch where sizes are fixed.
Before: y = Add (x, k)                  # x: [2, 5, 16]; k: [2, 5, 16], twice the same
After: y = Add (x, l)                  # l: [1, 5, 16]
When it refuses: No operand is a constant of several batches, their numbers differ, or the other
    operand is not known to have as many.
Accuracy: Exact: the same values.
References: measured on ncnn 1.0.20261020 and pnnx 20261020;
    https://github.com/onnx/onnx/blob/main/docs/Broadcasting.md
"""

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

_PAIRS = ("Add", "Div", "Max", "Min", "Mul", "Pow", "Sub")


@rewrite(
    _PAIRS,
    removes=tuple(f"form:{op}.constant" for op in _PAIRS),
    emits=_PAIRS,
    since=7,
    claims="nan inf",
)
def equal_batches_to_one(node: NodeView, build: Builder) -> Value:
    """Store one of the batches, see the module."""
    if len(node.inputs) != len(("first", "second")):
        raise Refuse(f"there must be two operands; there are {len(node.inputs)}")
    for place in (0, 1):
        batch = _one_of_equal(node.need(place), node.need(1 - place), build)
        if batch is not None:
            operands = [node.need(0), node.need(1)]
            operands[place] = build.constant(batch)
            return build.multi(node.op, *operands, outputs=1)[0]
    raise Refuse("one operand must be a constant of several batches; none is")


def _one_of_equal(value: Value, other: Value, build: Builder) -> Array | None:
    """Return one batch of a constant; None where it is no constant of several."""
    stored = build.const(value)
    if stored is None or not stored.ndim or stored.shape[0] < len(("one", "another")):
        return None
    if other.rank != stored.ndim or other.dim(0) != stored.shape[0]:
        raise Refuse(f"{other.name} must be known to have as many batches as {value.name}")
    batch = stored[:1]
    same = batch.tobytes()
    if any(stored[i : i + 1].tobytes() != same for i in range(1, stored.shape[0])):
        raise Refuse(f"the batches of {value.name} must be the same; they differ")
    return batch
