"""Compute NonMaxSuppression by steps of fixed sizes, with rows of filling and a count of them.

What it does:
    Takes the best box of each class that is left, removes what overlaps it, and does so as often
    as boxes may be taken: max_output_boxes_per_class times, or as many as there are boxes. The
    number of rows of the result depends on values, which older engines cannot express; so that
    the outputs get all rows there may be, those that count first and in their order, and a further
    output num_detections says how many these are. The rows after it are filling. Which outputs are
    filled is in the metadata of the file (graphfix_padded_outputs). It runs only with
    --allow-io-change, and the report names each change as old -> new.
Why engines need it: TensorRT before 8.0 has no NonMaxSuppression; from 8.0 to 8.4 it computes
    something else (its rows are filled with copies of the last one, classes share one limit, and
    nothing counts the rows). Results of a length that is computed come with 8.5.
Before:
    i = NonMaxSuppression (boxes, scores, 5, 0.5, 0.1)      # int64[n, 3], n from 0 to 5
    b = GatherND (boxes, i)                                 # float[n, 4]
After:
    score1, index1 = TopK (left, 1)
    over = Greater (Div (common, both), 0.5)
    left2 = Where (Or (over, Equal (numbers, index1)), -inf, left)
    ...
    i = Concat ([[0, 0], ...], Concat (index1, ..., index5))  # int64[5, 3]
    b = GatherND (boxes, i)                                   # float[5, 4]
    num_detections = Cast (ReduceSum (Cast (Greater (scores, -inf))))
When it refuses: Without --allow-io-change; sizes, max_output_boxes_per_class or a threshold that
    are not known when the file is written; more steps or rows than the options allow; in a body;
    where something after it mixes rows (TopK, ReduceMax over them), counts them, or is not known to
    treat each row alone. Without filling there is nothing to gain: every version that can give rows
    of a computed number (NonZero, from 8.5 on) has NonMaxSuppression as well.
Accuracy: Exact for finite numbers: the intersection over union is computed in onnxruntime's order,
    and of equal scores the first box is taken. The rows after num_detections say nothing.
References: onnxruntime/core/providers/cpu/object_detection/non_max_suppression.cc and
    non_max_suppression_helper.h of microsoft/onnxruntime; builtin_op_importers.cpp, NonZero and
    NonMaxSuppression, onnx-tensorrt 7.2 to 8.5; NVIDIA/TensorRT issues 523, 592, 795, 1220, 1379
"""

from graphfix.authoring import INTERFACE, Builder, Editor, Option, Refuse, Value, graph_pass

from . import _filling, _selecting
from ._reading import Suppression


@graph_pass(
    removes=_filling.REMOVES,
    emits=(_filling.EMITS, _selecting.EMITS),
    stage=INTERFACE,
    options={
        "most_steps": Option(int, 200, "Boxes to take one after the other, of all images."),
        "most_rows": Option(int, _filling.MOST_ROWS, "Rows of the result."),
    },
)
def nms_by_selection(editor: Editor) -> None:
    """Replace the nodes of the main graph, see the module."""
    most = int(editor.option("most_steps"))

    def select(build: Builder, what: Suppression) -> tuple[Value, Value]:
        steps = what.images * what.limit
        if steps > most:
            raise Refuse(
                f"there must be at most {most} steps (--option ...most_steps); there would be "
                f"{steps}"
            )
        return _selecting.select(build, what)

    _filling.fill_all(editor, select, int(editor.option("most_rows")))
