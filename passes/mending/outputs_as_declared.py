"""Give an output of the model in the type that it is declared with.

What it does: Where the nodes give an output of the model in another type of the same kind (floats,
    integers) than the file declares, a Cast at the end gives it as it is declared: callers go by
    that. With --allow-io-change `output-type-correction` declares what the nodes give instead.
Why engines need it: onnxruntime refuses the file ("Type (tensor(float)) of output arg (y) of node
    () does not match expected type (tensor(float16))"). Converters to float16 leave such outputs
    with keep_io_types, and where a node is on their block list.
Before:
    y: float16[2,3]
    y = Relu (x)                 with x: float[2,3]
After:
    y: float16[2,3]
    y_as_float32 = Relu (x)
    y = Cast <to = 10> (y_as_float32)
When it refuses: Integers are declared where floats are given, or the reverse: the values may be
    meant, or the declaration.
Accuracy: Mended: the file has no meaning to compare with, see `mixed-types-read`. Exit code 0 needs
    --allow-mended.
References: https://onnx.ai/onnx/repo-docs/ShapeInference.html; microsoft/onnxruntime
    onnxruntime/core/graph/graph.cc (InferAndVerifyTypeMatch)
"""

from graphfix.authoring import MENDED, PREPARE, Editor, graph_pass
from graphfix.validity.mending.whole_files import mended_outputs


@graph_pass(stage=PREPARE, removes="model:output-type-declared", emits="Cast", accuracy=MENDED)
def outputs_as_declared(editor: Editor) -> None:
    """Look at the outputs of the main graph, see the module."""
    read = mended_outputs(editor.model)
    for node, reason in read.unclear:
        editor.refuse(node, reason)
    if read.places:
        editor.reload(read.proto)
    for place in read.places:
        editor.record(place.node, place.said)
