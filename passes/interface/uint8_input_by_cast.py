"""Give a uint8 input the type that the model casts it to.

What it does: Changes the declared type of a uint8 input whose every use is a Cast: to the type of
    the Casts where they agree and it holds all of 0 to 255, and then they go; else to int32. It
    runs only with --allow-io-change, and the report names each change as old -> new.
Why engines need it: TensorRT before 8.5 and most converters take no uint8 inputs ("Unsupported ONNX
    data type: UINT8 (2)"); images from TensorFlow models come as uint8.
Before:
    x: uint8[1,3,224,224]
    f = Cast <to = float> (x)
After: x: float[1,3,224,224]
When it refuses: Without --allow-io-change. An input that is an output too, or that something else
    than a Cast uses, is left alone.
Accuracy: Exact for the values that a uint8 can have, which the caller has to keep feeding.
References: onnx/onnx-tensorrt 8.0 onnx2trt_utils.cpp, convertDtype NVIDIA/TensorRT issues 1022,
    2592, 2644
"""

from onnx import TensorProto

from graphfix.authoring import INTERFACE, Editor, NodeView, Value, Variable, graph_pass

# float16 holds every integer up to 2048, bfloat16 up to 256.
HOLDING = frozenset(
    {
        TensorProto.FLOAT,
        TensorProto.FLOAT16,
        TensorProto.BFLOAT16,
        TensorProto.DOUBLE,
        TensorProto.INT16,
        TensorProto.UINT16,
        TensorProto.INT32,
        TensorProto.UINT32,
        TensorProto.INT64,
        TensorProto.UINT64,
    }
)


@graph_pass(removes="io:uint8-input", emits="Cast", stage=INTERFACE)
def uint8_input_by_cast(editor: Editor) -> None:
    """Look at every input of the main graph."""
    for tensor in editor.model.graph.inputs:
        if isinstance(tensor, Variable) and tensor.elem_type == TensorProto.UINT8:
            _retype(editor, tensor)


def _retype(editor: Editor, tensor: Variable) -> None:
    uses = Value(tensor).consumers
    if not uses or tensor.output_count:
        return
    if any(use.op != "Cast" or use.domain for use in uses):
        return  # what computes on bytes is for uint8-ends-to-int32
    wanted = {int(use.attr("to", 0)) for use in uses}
    chosen = wanted.pop() if len(wanted) == 1 else 0
    chosen = chosen if chosen in HOLDING else int(TensorProto.INT32)
    editor.change_type(tensor, chosen)
    for use in uses:
        if int(use.attr("to", 0)) == chosen and not _gives_output(use):
            editor.replace(use, lambda build: Value(tensor))


def _gives_output(use: NodeView) -> bool:
    output = use.output(0)
    return output is not None and output.is_graph_output
