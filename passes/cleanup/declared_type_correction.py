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
    those), local functions, and branches and states of two types (`mixed-types-read` is for those).
    In a file with SplitToSequence, or with a Resize by scales, no sizes are compared: ONNX infers
    them wrongly.
Accuracy: Exact: nothing that is computed changes.
References: https://onnx.ai/onnx/repo-docs/ShapeInference.html; microsoft/onnxruntime
    onnxruntime/core/graph/graph.cc (InferAndVerifyTypeMatch)
"""

from collections.abc import Mapping

from graphfix.authoring import PREPARE, Editor, Graph, NodeRef, Tensor, graph_pass
from graphfix.validity.declarations import contradicts, repeated_declarations

from ._undeclared import shapes_count, undeclared_types

_COUNTERS = 2  # what a Loop and its body have before the states


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
    every = list(undeclared_types(editor.model))
    known = {id(tensor): found.tensor_type.elem_type for _, tensor, found in every}
    for graph, tensor, found in every:
        declared = tensor.info
        if declared is None or not contradicts(declared.type, found, shapes=shapes):
            continue
        if not _goes_together(graph, tensor, known):
            continue
        if graph.parent is not None or not tensor.output_count:
            editor.correct_type(graph, tensor, found)


def _goes_together(graph: Graph, tensor: Tensor, known: Mapping[int, int]) -> bool:
    """Say whether an output of a body has the element type of the tensors that it is one with.

    Those are the same output of the other branch, and the state that a body begins with. Where they
    differ, the file is mixed, and `mixed-types-read` is for it.
    """
    node = graph.parent
    place = next((n for n, end in enumerate(graph.outputs) if end is tensor), None)
    if node is None or place is None or node.op not in ("If", "Loop", "Scan"):
        return True
    if node.op == "If":
        ends = [body.outputs[place : place + 1] for _, body in node.graphs()]
        tensors = [each for end in ends for each in end]
    else:
        before = _COUNTERS if node.op == "Loop" else 0
        states = place - (1 if node.op == "Loop" else 0)
        scanned = node.attrs.get("num_scan_inputs", 0)
        count = len(node.inputs) - before - (scanned if isinstance(scanned, int) else 0)
        at = before + states
        if not 0 <= states < count:
            return True
        tensors = [tensor, *node.inputs[at : at + 1], *graph.inputs[at : at + 1]]
    types = {known.get(id(each)) or each.elem_type for each in tensors}
    return len(types - {0}) == 1


def _drop_repeated(editor: Editor, graph: Graph) -> None:
    for name, kept in repeated_declarations(graph).items():
        graph.redeclared[name] = kept
        what = "one value_info entry stays" if kept is not None else "its value_info is dropped"
        where = NodeRef(outputs=(name,), scope=graph.scope)
        editor.record_number(where, f"{name} is declared more than once; {what}")
