"""Declare an output of the model with the element type that its nodes give.

What it does: Infers all types again from inputs, weights and nodes alone. An output that is
    declared with another element type is declared with that; what the file says of its shape stays.
    It runs only with --allow-io-change, and the report names each change as old -> new.
Why engines need it: onnxruntime refuses the file ("Type (tensor(int64)) of output arg (y) of node
    () does not match expected type (tensor(float))").
Before:
    y: int64[2,3]
    y = Relu (x)                 with x: float[2,3]
After: y: float[2,3]
When it refuses: Without --allow-io-change. It leaves alone what inference does not know or does not
    contradict, outputs that are no tensors, and shapes, of which engines take what they infer
    themselves.
Accuracy: Exact: nothing that is computed changes.
References: https://onnx.ai/onnx/repo-docs/ShapeInference.html; microsoft/onnxruntime
    onnxruntime/core/graph/graph.cc (InferAndVerifyTypeMatch)
"""

from onnx import TypeProto

from graphfix.authoring import PREPARE, Editor, graph_pass
from graphfix.validity.declarations import contradicts

from ._undeclared import undeclared_types


@graph_pass(stage=PREPARE, removes="model:output-type-declared", changes_io=True)
def output_type_correction(editor: Editor) -> None:
    """Look at the outputs of the main graph."""
    main = editor.model.graph
    for graph, tensor, found in undeclared_types(editor.model):
        declared = tensor.info
        if declared is None or all(tensor is not output for output in main.outputs):
            continue
        both = declared.type.HasField("tensor_type") and found.HasField("tensor_type")
        if both and contradicts(declared.type, found, shapes=False):
            known = TypeProto()
            known.CopyFrom(declared.type)
            known.tensor_type.elem_type = found.tensor_type.elem_type
            editor.correct_type(graph, tensor, known)
