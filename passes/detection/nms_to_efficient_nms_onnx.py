"""Give NonMaxSuppression to TensorRT's plugin EfficientNMS_ONNX_TRT.

What it does:
    Replaces the node by the plugin, one for each image and class, which gives the values of the
    boxes, filled up with the last one (-1 where there is none); rows count up to the first that is
    repeated. It runs only when it is named, and with --allow-io-change: outputs get all rows there
    may be, those that count first and in the order of onnxruntime, and a further output
    num_detections says how many these are. Which outputs are filled is in the metadata of the
    file (graphfix_padded_outputs). The engine needs libnvinfer_plugin, which trtexec loads.
    What is changed so that the plugin does what onnxruntime does:
    - corners are put in order before, for the plugin would round while it does so; boxes given by
      middle and size are given as corners, and a size below zero as zero (center_point_box is 0);
    - iou_threshold and score_threshold are the next larger float32, because the plugin drops a box
      that overlaps by just the threshold and takes one that scores just that;
    - rows that score no more than score_threshold are not counted, which the plugin gives too where
      its threshold is below 0.007.
Why engines need it: The parser of TensorRT 8.0 to 8.4 makes this plugin of NonMaxSuppression, one
    for all images and classes: their rows come in no fixed order, by falling score over all
    classes, cut off at one limit for all classes, and nothing says how many count. The plugin comes
    with 8.0 and is gone in 11. Where boxes are few nms-by-selection needs no plugin.
Before: i = NonMaxSuppression (boxes, scores, 5, 0.5, 0.1)      # int64[n, 3], n from 0 to 5
After:
    p = TRT.EfficientNMS_ONNX_TRT <max_output_boxes_per_class = 5, iou_threshold = 0.50000006,
        score_threshold = 0.10000001, center_point_box = 0> (boxes4, Transpose (scores))
    i = Concat ([[0, 0], ...], Cast (Max (Cast (Slice (p, 2, 3)), 0)))             # int64[5, 3]
When it refuses: When not named, or without --allow-io-change; sizes or limits that are not known
    when the file is written; more boxes than the plugin looks at (4096); more images and classes
    than the option allows; in a body; where something after it mixes rows or counts them.
Accuracy: approximate: the same boxes in the same order as onnxruntime in the numpy model of the
    plugin, bit for bit. A device may choose otherwise among equal scores above a threshold of 0.007
    (it collects them in no fixed order), where an overlap is within rounding of the threshold, and
    beyond 2000 boxes on Jetson TX1 and TX2.
References: NVIDIA/TensorRT v8.6.1 plugin/efficientNMSPlugin: README.md (Limitations),
    efficientNMSPlugin.cpp, efficientNMSInference.cu (WriteONNXResult, PadONNXResult);
    onnx/onnx-tensorrt 8.0 builtin_op_importers.cpp, NonMaxSuppression
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, NAMED, Builder, Editor, Option, Value, graph_pass

from . import _plugins
from ._filling import REMOVES, fill_all
from ._plugin_models import EFFICIENT_ONNX, KNOWN
from ._reading import Suppression

_NOTE = "as the plugin's sources say; a device may choose otherwise among equal scores"
_LOWEST = float(np.finfo(np.float32).min)


@graph_pass(
    removes=REMOVES,
    emits=(_plugins.EMITS, EFFICIENT_ONNX),
    accuracy=APPROXIMATE,
    stage=NAMED,
    options={"most_calls": Option(int, 16, "Plugin nodes: one for each image and class.")},
    changes_io=True,
    knows={EFFICIENT_ONNX: KNOWN[EFFICIENT_ONNX]},
)
def nms_to_efficient_nms_onnx(editor: Editor) -> None:
    """Replace the nodes of the main graph, see the module."""
    most = int(editor.option("most_calls"))

    def select(build: Builder, what: Suppression) -> tuple[Value, Value]:
        _plugins.check_sizes(what, what.images * what.classes, most)
        build.declare(APPROXIMATE, _NOTE)
        boxes = _plugins.corners(build, what)
        indices: list[Value] = []
        valid: list[Value] = []
        for image in range(what.images):
            for label in range(what.classes):
                index, counted = _of_one(build, what, boxes, image, label)
                indices.append(build.Reshape(index, [1, what.limit]))
                valid.append(build.Reshape(counted, [1, what.limit]))
        return build.Concat(*indices, axis=0), build.Concat(*valid, axis=0)

    fill_all(editor, select)


def _of_one(
    build: Builder, what: Suppression, boxes: Value, image: int, label: int
) -> tuple[Value, Value]:
    """Return int64[limit] boxes of an image and a class, and which of them count."""
    scores = _plugins.of_class(build, what, label)
    if what.images > 1:
        boxes = build.Slice(boxes, [image], [image + 1], [0])
        scores = build.Slice(scores, [image], [image + 1], [0])
    (rows,) = _plugins.emit(
        build,
        "EfficientNMS_ONNX_TRT",
        1,
        boxes,
        build.Transpose(scores, perm=[0, 2, 1]),
        score_threshold=_LOWEST if what.score is None else _plugins.above(what.score),
        iou_threshold=_plugins.above(what.overlap),
        max_output_boxes_per_class=what.limit,
        center_point_box=0,
    )
    column = build.Cast(build.Slice(rows, [2], [3], [1]), to=TensorProto.FLOAT)
    numbers = build.Reshape(column, [what.limit])
    first = build.Slice(numbers, [0], [1], [0])
    counted = build.Greater(first, np.float32(-1))
    if what.limit > 1:
        later = build.Slice(numbers, [1], [what.limit], [0])
        before = build.Slice(numbers, [0], [what.limit - 1], [0])
        again = build.Cast(build.Equal(later, before), to=TensorProto.FLOAT)
        news = build.Less(again, np.float32(0.5))
        counted = build.Concat(_float(build, counted), _float(build, news), axis=0)
        counted = build.Greater(counted, np.float32(0.5))
    index = build.Cast(build.Max(numbers, np.float32(0)), to=TensorProto.INT64)
    if what.score is not None:
        flat = build.Reshape(scores, [what.count])
        high = build.Greater(build.Gather(flat, index, axis=0), np.float32(what.score))
        counted = build.And(counted, high)
    return index, counted


def _float(build: Builder, truth: Value) -> Value:
    return build.Cast(truth, to=TensorProto.FLOAT)
