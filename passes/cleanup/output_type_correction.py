"""Declare an output of the model with the type that its nodes give.

What it does:
    Infers all types anew from inputs, weights and nodes alone. An output that is declared with
    another element type, rank or size is declared as what it is. It runs only with
    --allow-io-change, and the report names each change as old -> new.

Why engines need it:
    onnxruntime refuses the file ("Type (tensor(int64)) of output arg (y) of node () does not match
    expected type (tensor(float))"). Where the size alone is wrong, it warns and goes on.

Before:
    y: int64[2,3]
    y = Relu (x)                 with x: float[2,3]

After:
    y: float[2,3]

When it refuses:
    Without --allow-io-change. It leaves alone what inference does not know or does not contradict.
    In a file with SplitToSequence no sizes are compared: ONNX infers them wrongly.

Accuracy:
    Exact: nothing that is computed changes.

References:
    https://onnx.ai/onnx/repo-docs/ShapeInference.html;
    microsoft/onnxruntime onnxruntime/core/graph/graph.cc (InferAndVerifyTypeMatch)
"""

from __future__ import annotations

from graphfix.authoring import PREPARE, Editor, contradicts, graph_pass
from graphfix.passes.cleanup._undeclared import shapes_count, undeclared_types


@graph_pass(
    stage=PREPARE,
    removes="model:output-type-declared model:output-shape-declared",
    changes_io=True,
)
def output_type_correction(editor: Editor) -> None:
    """Look at the outputs of the main graph."""
    main = editor.model.graph
    shapes = shapes_count(editor.model)
    for graph, tensor, found in undeclared_types(editor.model):
        declared = tensor.info
        if graph is not main or not tensor.output_count or declared is None:
            continue
        given_out = any(tensor is output for output in main.outputs)
        if given_out and contradicts(declared.type, found, shapes=shapes):
            editor.correct_type(graph, tensor, found)
