"""Correct what a file says of tensors inside it where its nodes prove another type.

What it does: Infers all types again from inputs, weights and nodes alone. A `value_info` entry with
    another element type, rank or size than a node gives is dropped. Of entries of one name the last
    one stays; entries that give an input, an initializer or an output a second type go. The output
    of a body of If, Loop or Scan is declared as what it is.
Why engines need it: onnxruntime refuses the file ("Type (tensor(int64)) of output arg (t) of node
    () does not match expected type (tensor(float))"), and whatever reads sizes from the file reads
    wrong ones. TensorRT does not read `value_info`. Such entries stay where a tool edits nodes
    alone.
Before:
    value_info: t: int64[2,3]
    t = Relu (x)                 with x: float[2,3]
After: t = Relu (x)
When it refuses: It leaves alone what inference does not know or does not contradict, the declared
    inputs of the model, on which the proof rests, its outputs (`output-type-correction` is for
    those), and local functions. In a file with SplitToSequence, or with a Resize by scales, no
    sizes are compared: ONNX infers them wrongly.
Accuracy: Exact: nothing that is computed changes.
References: https://onnx.ai/onnx/repo-docs/ShapeInference.html; microsoft/onnxruntime
    onnxruntime/core/graph/graph.cc (InferAndVerifyTypeMatch)
"""

from graphfix.authoring import PREPARE, Editor, Graph, NodeRef, graph_pass
from graphfix.validity.declarations import contradicts, repeated_declarations

from ._undeclared import shapes_count, undeclared_types


@graph_pass(
    stage=PREPARE, removes="model:type-declared model:shape-declared model:repeated-declaration"
)
def declared_type_correction(editor: Editor) -> None:
    """Look at every scope but functions."""
    graphs = list(editor.model.graph.walk())
    for graph in graphs:
        _drop_repeated(editor, graph)
    if len(graphs) == 1 and (graphs[0].proto is None or not graphs[0].proto.value_info):
        return
    shapes = shapes_count(editor.model)
    for graph, tensor, found in undeclared_types(editor.model):
        declared = tensor.info
        if declared is None or not contradicts(declared.type, found, shapes=shapes):
            continue
        if graph.parent is not None or not tensor.output_count:
            editor.correct_type(graph, tensor, found)


def _drop_repeated(editor: Editor, graph: Graph) -> None:
    for name, kept in repeated_declarations(graph).items():
        graph.redeclared[name] = kept
        what = "one value_info entry stays" if kept is not None else "its value_info is dropped"
        where = NodeRef(outputs=(name,), scope=graph.scope)
        editor.record_number(where, f"{name} is declared more than once; {what}")
