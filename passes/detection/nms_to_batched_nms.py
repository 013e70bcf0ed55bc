"""Give NonMaxSuppression to TensorRT's plugin BatchedNMSDynamic_TRT, or BatchedNMS_TRT.

What it does: Replaces the node by the plugin, one for each class, and finds out which boxes it gave
    back: those with the same values. It runs only when it is named, and with --allow-io-change:
    outputs get all rows there may be, those that count first and in the order of onnxruntime, and a
    further output num_detections says how many these are. Which outputs are filled is in the
    metadata of the file (graphfix_padded_outputs). The engine needs libnvinfer_plugin, which
    trtexec loads. Boxes are given as corners, whatever they are in the file, without clipping and
    without the added ones of Caffe (isNormalized is 1, clipBoxes is 0); topK is the number of
    boxes, keepTopK max_output_boxes_per_class.
Why engines need it: TensorRT before 8.0 has no NonMaxSuppression, and from 8.0 to 8.4 it computes
    something else. BatchedNMSDynamic_TRT comes with 7.2; with 7.1 BatchedNMS_TRT (--option
    nms-to-batched-nms.dynamic=false), for files whose sizes are all fixed. Both are gone in 11.
Before: i = NonMaxSuppression (boxes, scores, 5, 0.5, 0.1)      # int64[n, 3], n from 0 to 5
After:
    num, b, s, c = TRT.BatchedNMSDynamic_TRT <shareLocation = 1, numClasses = 1, topK = 9,
        keepTopK = 5, scoreThreshold = 0.1, iouThreshold = 0.5, ...> (boxes4, Transpose (scores))
    alike = Mul (ReduceMin (Cast (Equal (b, boxes))), Cast (Equal (s, scores)))
    i = Concat ([[0, 0], ...], Cast (Sub (9, TopK (Mul (alike, [9, 8, ...])))))   # int64[5, 3]
When it refuses: When not named, or without --allow-io-change; sizes or limits that are not known
    when the file is written; more boxes than the plugin takes (4096); more classes than the option
    allows: one plugin for all of them would order rows by score and share one limit; no
    score_threshold, or one below zero, for what the plugin drops gets a score of zero; in a body;
    where something after it mixes rows or counts them.
Accuracy: approximate: the same boxes in the same order as onnxruntime in the numpy model of the
    plugin, bit for bit. A device may choose otherwise where an overlap is within rounding of the
    threshold.
References: NVIDIA/TensorRT v8.6.1 and 7.1.3 plugin/batchedNMSPlugin: README.md,
    batchedNMSPlugin.cpp, gatherNMSOutputs.cu; plugin/common/kernels: allClassNMS.cu,
    sortScoresPerClass.cu, sortScoresPerImage.cu; NVIDIA/TensorRT issues 523, 592, 795
"""

import numpy as np

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
from ._plugin_models import BATCHED, BATCHED_DYNAMIC, KNOWN
from ._reading import Suppression

_NOTE = "as the plugin's sources say; a device may round overlaps otherwise"


@graph_pass(
    removes=REMOVES,
    emits=(_plugins.EMITS, BATCHED, BATCHED_DYNAMIC),
    accuracy=APPROXIMATE,
    stage=NAMED,
    options={
        "most_calls": Option(int, 16, "Plugin nodes: one for each class."),
        "dynamic": Option(bool, True, "BatchedNMSDynamic_TRT, which TensorRT 7.1 lacks."),
    },
    changes_io=True,
    knows={BATCHED: KNOWN[BATCHED], BATCHED_DYNAMIC: KNOWN[BATCHED_DYNAMIC]},
)
def nms_to_batched_nms(editor: Editor) -> None:
    """Replace the nodes of the main graph, see the module."""
    most = int(editor.option("most_calls"))
    op = "BatchedNMSDynamic_TRT" if editor.option("dynamic") else "BatchedNMS_TRT"

    def select(build: Builder, what: Suppression) -> tuple[Value, Value]:
        _plugins.check_sizes(what, what.classes, most)
        if what.score is None or what.score < 0:
            raise Refuse(
                "the score_threshold must be known and not negative: the plugin gives what it "
                "drops the score 0"
            )
        build.declare(APPROXIMATE, _NOTE)
        boxes = _plugins.corners(build, what)
        shared = build.Unsqueeze(boxes, axes=[2])
        lowest = what.score

        def ask(scores: Value) -> _plugins.Asked:
            _, near, best, _ = _plugins.emit(
                build,
                op,
                4,
                shared,
                build.Transpose(scores, perm=[0, 2, 1]),
                shareLocation=1,
                backgroundLabelId=-1,
                numClasses=1,
                topK=what.count,
                keepTopK=what.limit,
                scoreThreshold=lowest,
                iouThreshold=what.overlap,
                isNormalized=1,
                clipBoxes=0,
                caffeSemantics=0,
            )
            return near, best, build.Greater(best, np.float32(lowest))

        return _plugins.by_class(build, what, boxes, ask)

    fill_all(editor, select)
