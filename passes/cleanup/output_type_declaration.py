"""Declare the element type of an output that is declared without one.

What it does: Writes the type that inference knows, from inputs, weights and nodes, into the
    declaration of the output. What that says of the shape stays; where it says nothing, the shape
    is written too.
Why engines need it: TensorRT's parser and OpenCV 5 read the type of each output from the file and
    stop where there is none; onnxruntime takes what it infers.
Before:
    y
    y = Relu (x)                 with x: float[2,3]
After:
    y: float[2,3]
    y = Relu (x)
When it refuses: Inference does not know type or rank. Of sequences and maps the whole type has to
    be missing.
Accuracy: Exact: nothing that is computed changes, nor what the model gives.
References: onnx/onnx-tensorrt ModelImporter.cpp:582 (8.6.1); tensorrt-rtx 1.7.1
"""

from graphfix.authoring import Editor, Value, Variable, graph_pass, shape_of_type


@graph_pass(removes="io:undeclared-output")
def output_type_declaration(editor: Editor) -> None:
    """Look at the outputs of the main graph."""
    for tensor in editor.model.graph.outputs:
        if not isinstance(tensor, Variable) or tensor.info is None:
            continue
        kind = tensor.info.type.WhichOneof("value")
        known = tensor.opaque
        if known is not None:
            if kind is None:
                tensor.opaque = None  # as the file has it
                editor.correct_type(editor.model.graph, tensor, known)
            continue
        if kind not in (None, "tensor_type") or tensor.info.type.tensor_type.elem_type:
            continue
        if not tensor.elem_type or tensor.shape is None:
            maker = Value(tensor).producer
            if maker is not None:
                reason = f"type and rank of {tensor.name} must be known; nothing says them"
                editor.refuse(maker, reason)
            continue
        _, declared = shape_of_type(tensor.info.type)
        editor.correct_shape(tensor, tensor.shape if declared is None else declared)
