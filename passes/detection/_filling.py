"""Replacing NonMaxSuppression by what gives a fixed number of rows, and a count of those."""

from collections.abc import Callable

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Editor, NodeView, Refuse, Value, fill_outputs

from ._following import outputs_of_rows
from ._reading import Suppression, read

EMITS = "Add Cast Concat Gather Mul ReduceSum Reshape Slice TopK"
COUNT = "num_detections"

REMOVES = (
    "op:NonMaxSuppression",
    "rank:NonMaxSuppression.filled",
    "const:NonMaxSuppression.max_output_boxes_per_class",
)
MOST_ROWS = 3840  # TensorRT sorts no more

# Gives, for int64[images * classes, limit] boxes, whether each is one, as bool or float32.
Select = Callable[[Builder, Suppression], tuple[Value, Value]]


def fill_all(editor: Editor, select: Select, most_rows: int = MOST_ROWS) -> None:
    """Replace every NonMaxSuppression that can be, see `fill`."""
    for graph in editor.graphs():
        for node in editor.nodes(graph):
            if node.op == "NonMaxSuppression" and not node.domain:
                fill(editor, node, select, most_rows)


def fill(editor: Editor, node: NodeView, select: Select, most_rows: int) -> None:
    """Replace a node by what `select` builds, where nothing after it minds rows of filling.

    First by the same rows as before, cut off at their count: that is proved like any other site.
    Then the cut goes, which is proved by the whole model alone, and the count becomes an output.

    Args:
        editor: The editor of the pass.
        node: NonMaxSuppression.
        select: Builds the selection.
        most_rows: More rows than these are refused.
    """
    try:
        what = read(node)
        if what.rows > most_rows:
            raise Refuse(f"there must be at most {most_rows} rows; there may be {what.rows}")
        outputs = outputs_of_rows(node)
    except Refuse as refusal:
        editor.refuse(node, refusal.reason)
        return
    made: list[Value] = []

    def cut(build: Builder) -> Value:
        rows, count = _gathered(build, what, *select(build, what))
        made[:] = rows, count
        zero = build.constant(np.zeros(1, np.int32))
        return build.Slice(rows, zero, count, zero)

    result = node.output(0)
    if result is None or not editor.replace(node, cut):
        return
    rows, count = made
    fill_outputs(editor, outputs, what.rows, count, COUNT)
    slicing = result.producer
    assert slicing is not None, "it was just put there"
    editor.replace(slicing, lambda _: rows, unproved=True, note=f"{what.rows} rows, none cut off")


def _gathered(build: Builder, what: Suppression, boxes: Value, valid: Value) -> tuple[Value, Value]:
    """Return int64[rows, 3], those that count first and in their order, and int32[1] how many."""
    groups = [(i, c) for i in range(what.images) for c in range(what.classes)]
    named = np.repeat(np.array(groups, np.int64), what.limit, axis=0)
    rows = build.Concat(named, build.Reshape(boxes, [what.rows, 1]), axis=1)
    ones = build.Cast(build.Reshape(valid, [what.rows]), to=TensorProto.FLOAT)
    count = build.Cast(build.ReduceSum(ones, axes=[0], keepdims=1), to=TensorProto.INT32)
    if len(groups) > 1:
        # Integers up to 2^24 are exact: no two of these are the same.
        falling = np.arange(what.rows, 0, -1, dtype=np.float32)
        keys = build.Add(build.Mul(ones, np.float32(what.rows)), falling)
        _, order = build.multi("TopK", keys, np.array([what.rows]), outputs=2, axis=0)
        rows = build.Gather(rows, order, axis=0)
    return rows, count
