"""Give NonMaxSuppression to TensorRT's plugin EfficientNMS_TRT.

What it does:
    Replaces the node by the plugin, one for each class, and finds out which boxes it gave back:
    those with the same values. It runs only when it is named, and with --allow-io-change: outputs
    get all rows there may be, those that count first and in the order of onnxruntime, and a further
    output num_detections says how many these are. Which outputs are filled is in the metadata
    of the file (graphfix_padded_outputs). The engine needs libnvinfer_plugin, which trtexec loads.
    What is changed so that the plugin does what onnxruntime does:
    - corners are put in order before, for the plugin would round while it does so; boxes given by
      middle and size are given as corners, and a size below zero as zero (box_coding is 0);
    - iou_threshold and score_threshold are the next larger float32, because the plugin drops a box
      that overlaps by just the threshold and takes one that scores just that;
    - rows that score no more than score_threshold are not counted, which the plugin gives too where
      its threshold is below 0.007.
Why engines need it: TensorRT before 8.0 has no NonMaxSuppression, and from 8.0 to 8.4 it computes
    something else. The plugin comes with 8.0; before, see nms-to-batched-nms. Where boxes are few
    nms-by-selection needs no plugin.
Before: i = NonMaxSuppression (boxes, scores, 5, 0.5, 0.1)      # int64[n, 3], n from 0 to 5
After:
    num, b, s, c = TRT.EfficientNMS_TRT <max_output_boxes = 5, iou_threshold = 0.50000006,
        score_threshold = 0.10000001, box_coding = 0, ...> (Concat (Min, Max), Transpose (scores))
    alike = Mul (ReduceMin (Cast (Equal (b, boxes))), Cast (Equal (s, scores)))
    i = Concat ([[0, 0], ...], Cast (Sub (9, TopK (Mul (alike, [9, 8, ...])))))   # int64[5, 3]
When it refuses: When not named, or without --allow-io-change; sizes or limits that are not known
    when the file is written; more boxes than the plugin looks at (4096); more classes than the
    option allows: one plugin for all of them would order rows by score and share one limit; no
    score_threshold, or one below zero, where scores may be negative, which the plugin does not
    take; in a body; where something after it mixes rows or counts them.
Accuracy: approximate: the same boxes in the same order as onnxruntime in the numpy model of the
    plugin, bit for bit. A device may choose otherwise among equal scores above a threshold of 0.007
    (it collects them in no fixed order), where an overlap is within rounding of the threshold, and
    beyond 2000 boxes on Jetson TX1 and TX2.
References: NVIDIA/TensorRT v8.6.1 plugin/efficientNMSPlugin: README.md, efficientNMSPlugin.cpp,
    efficientNMSInference.cu and .cuh; onnxruntime/core/providers/cpu/object_detection/
    non_max_suppression.cc of microsoft/onnxruntime; NVIDIA/TensorRT issues 795, 1220, 1379
"""

import numpy as np

from graphfix.analysis.folding.lower_bounds import not_negative
from graphfix.authoring import (
    APPROXIMATE,
    NAMED,
    Builder,
    Editor,
    Option,
    Refuse,
    Value,
    graph_pass,
)

from . import _plugins
from ._filling import REMOVES, fill_all
from ._plugin_models import EFFICIENT, KNOWN
from ._reading import Suppression

_NOTE = "as the plugin's sources say; a device may choose otherwise among equal scores"


@graph_pass(
    removes=REMOVES,
    emits=(_plugins.EMITS, EFFICIENT),
    accuracy=APPROXIMATE,
    stage=NAMED,
    options={"most_calls": Option(int, 16, "Plugin nodes: one for each class.")},
    changes_io=True,
    knows={EFFICIENT: KNOWN[EFFICIENT]},
)
def nms_to_efficient_nms(editor: Editor) -> None:
    """Replace the nodes of the main graph, see the module."""
    most = int(editor.option("most_calls"))

    def select(build: Builder, what: Suppression) -> tuple[Value, Value]:
        _plugins.check_sizes(what, what.classes, most)
        threshold = what.score
        if (threshold is None or threshold < 0) and not not_negative(what.scores):
            raise Refuse(
                f"score_threshold must be at least 0 or scores be known to be; it is {threshold}"
            )
        build.declare(APPROXIMATE, _NOTE)
        boxes = _plugins.corners(build, what)

        def ask(scores: Value) -> _plugins.Asked:
            count, near, best, _ = _plugins.emit(
                build,
                "EfficientNMS_TRT",
                4,
                boxes,
                build.Transpose(scores, perm=[0, 2, 1]),
                score_threshold=0.0 if threshold is None else max(0.0, _plugins.above(threshold)),
                iou_threshold=_plugins.above(what.overlap),
                max_output_boxes=what.limit,
                background_class=-1,
                score_activation=0,
                box_coding=0,
            )
            counted = build.Less(np.arange(what.limit, dtype=np.int32), count)
            if threshold is not None:
                counted = build.And(counted, build.Greater(best, np.float32(threshold)))
            return near, best, counted

        return _plugins.by_class(build, what, boxes, ask)

    fill_all(editor, select)
