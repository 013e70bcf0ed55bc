"""Declare the shape of an output that is declared without one.

What it does: Gives an output of the model the shape that inference finds; sizes that are known at
    run time alone stay open. The report names each change as old -> new.
Why engines need it: OpenCV: "tensor.has_shape() in function 'parseValueInfo'".
Before:
    y: float
    y = Relu (x)                 with x: float[N,3]
After: y: float[N,3]
When it refuses: Inference does not know even the rank. Inputs are left alone: --shape says what
    they are.
Accuracy: Exact: nothing that is computed changes.
References: https://onnx.ai/onnx/repo-docs/ShapeInference.html; opencv/opencv
    modules/dnn/src/onnx/onnx_importer2.cpp:745 (5.0.0)
"""

from graphfix.authoring import Editor, Variable, graph_pass


@graph_pass(removes="io:no-shape")
def output_shape_declared(editor: Editor) -> None:
    """Look at the outputs of the main graph."""
    for tensor in editor.model.graph.outputs:
        if not isinstance(tensor, Variable) or tensor.info is None or tensor.shape is None:
            continue
        declared = tensor.info.type
        if declared.HasField("tensor_type") and not declared.tensor_type.HasField("shape"):
            editor.correct_shape(tensor, tensor.shape)
