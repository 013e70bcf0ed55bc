"""Give the number of the class where the model gives its label as a text, by consent.

What it does: Lets a classifier or LabelEncoder of ai.onnx.ml, or a lookup in constant texts, give
    the place of the label in their list, as int64, and moves that on to the output as the text was
    moved. Which label each number stands for is in the report, and in the metadata of the file
    (graphfix_labels). It runs only with --allow-io-change.
Why engines need it: No engine but onnxruntime has texts; scikit-learn's classifiers give the labels
    that they were trained with.
Before: label, y = ai.onnx.ml.TreeEnsembleClassifier <classlabels_strings = ["cat", "dog"], ...> (x)
After: label, y = ai.onnx.ml.TreeEnsembleClassifier <classlabels_int64s = [0, 1], ...> (x)
When it refuses: Without --allow-io-change. Where the texts are made or read in another way than by
    Identity, Reshape, Squeeze, Unsqueeze, Flatten, Transpose and Cast to a text.
Accuracy: Exact: the list of labels and the number tell the text.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleClassifier.html,
    onnx_aionnxml_ArrayFeatureExtractor.html, onnx_aionnxml_LabelEncoder.html
"""

from functools import partial

import numpy as np
from onnx import TensorProto, helper

from graphfix.authoring import (
    INTERFACE,
    Builder,
    Editor,
    NodeView,
    Refuse,
    Value,
    Variable,
    accounted,
    graph_pass,
    label_output,
    respell,
)

_MOVES = ("Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
_UNUSED = "_Unused"  # what LabelEncoder gives for a key that it does not have
_CLASSIFIERS = {
    "TreeEnsembleClassifier": "classlabels_int64s",
    "LinearClassifier": "classlabels_ints",
    "SVMClassifier": "classlabels_ints",
}


@graph_pass(removes="io:string-output dtype:string", emits="*::*", stage=INTERFACE)
def texts_to_class_numbers(editor: Editor) -> None:
    """Look at every output of texts of the main graph."""
    for output in list(editor.model.graph.outputs):
        if not isinstance(output, Variable) or output.elem_type != TensorProto.STRING:
            continue
        maker = Value(output).producer
        if maker is None or maker.graph is not editor.model.graph:
            continue
        try:
            path = _path(Value(output), maker)
            labels = _labels(path[-1])
        except Refuse as refusal:
            editor.refuse(maker, refusal.reason)
            continue
        if any(editor.is_blocked(view) for view in path):
            continue
        if editor.can_replace(path[-1], partial(_numbered, path[-1], labels)):
            _give_numbers(editor, output, path, labels)


def _path(value: Value, maker: NodeView) -> list[NodeView]:
    """Return what moved the texts, from the output up to what made them.

    Raises:
        Refuse: Something else reads them, or they come in through an input.
    """
    path = [maker]
    while not maker.domain and maker.op in _MOVES:
        value = maker.need(0)
        source = value.producer
        if value.elem_type != TensorProto.STRING or source is None:
            raise Refuse(f"the texts must be labels of classes; {value.name} is none")
        if len(value.consumers) > 1 or value.is_graph_output or source.graph is not maker.graph:
            raise Refuse(f"nothing else must read the labels {value.name}; something does")
        maker = source
        path.append(maker)
    path[-1] = accounted(maker)
    return path


def _labels(node: NodeView) -> list[str]:
    """Return the texts that a node chooses from.

    Raises:
        Refuse: It chooses from none that are known.
    """
    texts: list[str] = []
    if node.domain == "ai.onnx.ml" and node.op in _CLASSIFIERS:
        texts = [str(text) for text in node.attr("classlabels_strings", [])]
    elif _encodes(node):
        given = [*node.attr("values_strings", []), node.attr("default_string", _UNUSED)]
        texts = [*dict.fromkeys(str(text) for text in given)]
    elif _is_lookup(node) and node.need(0).array() is not None:
        given = np.asarray(node.need(0).array()).reshape(-1).tolist()
        texts = [one.decode() if isinstance(one, bytes) else str(one) for one in given]
    if not texts or len(set(texts)) < len(texts):
        raise Refuse(f"the labels must be written in the file, each once; {node.op} gives others")
    return texts


def _encodes(node: NodeView) -> bool:
    return (node.domain, node.op) == ("ai.onnx.ml", "LabelEncoder") and node.has("values_strings")


def _is_lookup(node: NodeView) -> bool:
    return (node.domain, node.op) in (("ai.onnx.ml", "ArrayFeatureExtractor"), ("", "Gather"))


def _give_numbers(
    editor: Editor, output: Variable, path: list[NodeView], labels: list[str]
) -> None:
    for view in path[1:]:
        moved = view.node.outputs[0]
        assert isinstance(moved, Variable)
        sizes = helper.make_tensor_type_proto(TensorProto.INT64, moved.shape)
        editor.correct_type(view.graph, moved, sizes)
    kind = helper.make_tensor_type_proto(TensorProto.INT64, output.shape)
    label_output(editor, output, kind, labels, columns=False)
    for view in reversed(path):
        if view.domain or view.op not in _MOVES:
            editor.replace(view, partial(_numbered, view, labels), unproved=True)
        elif view.op == "Cast":
            editor.replace(view, partial(_as_it_is, view), unproved=True)


def _as_it_is(view: NodeView, build: Builder) -> Value:
    return build.Identity(view.need(0))


def _numbered(node: NodeView, labels: list[str], build: Builder) -> tuple[Value | None, ...]:
    """Write what makes the labels with numbers instead."""
    count = len(labels)
    if _encodes(node):
        numbers = [labels.index(str(text)) for text in node.attr("values_strings")]
        other = labels.index(str(node.attr("default_string", _UNUSED)))
        texts = ("values_strings", "default_string")
        return respell(node, build, drop=texts, values_int64s=numbers, default_int64=other)
    if _is_lookup(node):
        shape = np.asarray(node.need(0).array()).shape
        places = build.constant(np.arange(count, dtype=np.int64).reshape(shape))
        attributes = {name: node.attr(name) for name in node.attributes}
        return build.multi(
            node.op, places, node.need(1), outputs=1, domain=node.domain, **attributes
        )
    changed = {_CLASSIFIERS[node.op]: list(range(count))}
    return respell(node, build, drop=("classlabels_strings",), **changed)
