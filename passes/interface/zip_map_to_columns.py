"""Give a column for each class where the model gives a map for each row, by consent.

What it does: Outputs the scores that ZipMap reads, a row of numbers for each row, instead of a
    sequence of maps from labels to scores. Which label each column stands for is in the report, and
    in the metadata of the file (graphfix_labels). It runs only with --allow-io-change.
Why engines need it: TensorRT has no maps and no ai.onnx.ml; classifiers of skl2onnx and onnxmltools
    end in a ZipMap unless they are told otherwise (zipmap=False).
Before:
    y = ai.onnx.ml.ZipMap <classlabels_strings = ["cat", "dog"]> (scores)   # seq(map(string,float))
After: y = Identity (scores)                                                   # float[N, 2]
When it refuses: Without --allow-io-change. Where something reads the maps, the scores are no matrix
    of float32 with a column for each label, or a label is there twice.
Accuracy: Exact: the same values in the same order.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_ZipMap.html;
    onnxruntime/core/providers/cpu/ml/zipmap.cc
"""

from functools import partial

from onnx import TensorProto, helper

from graphfix.authoring import (
    INTERFACE,
    Builder,
    Editor,
    NodeView,
    Value,
    Variable,
    accounted,
    graph_pass,
    label_output,
)


@graph_pass(removes="io:sequence-output op:ai.onnx.ml::ZipMap dtype:sequence", stage=INTERFACE)
def zip_map_to_columns(editor: Editor) -> None:
    """Look at every ZipMap that gives an output of the main graph."""
    for output in list(editor.model.graph.outputs):
        maker = Value(output).producer
        if (
            isinstance(output, Variable)
            and maker is not None
            and (maker.domain, maker.op) == ("ai.onnx.ml", "ZipMap")
            and maker.graph is editor.model.graph
            and not editor.is_blocked(maker)
        ):
            _give_columns(editor, output, accounted(maker))


def _give_columns(editor: Editor, output: Variable, node: NodeView) -> None:
    x = node.need(0)
    labels = list(node.attr("classlabels_int64s", []) or node.attr("classlabels_strings", []))
    if output.outputs or output.output_count > 1:
        editor.refuse(node, f"nothing must read the maps {output.name}; something does")
    elif x.rank != 2 or x.elem_type != TensorProto.FLOAT or x.dim(1) not in (None, len(labels)):
        editor.refuse(
            node,
            f"{x.name} must be float32 of rank 2 with {len(labels)} columns; it is {x.type_name} "
            f"of shape {x.shape}",
        )
    elif not labels or len(set(labels)) < len(labels):
        editor.refuse(node, "each label must be there once; one is there twice, or there is none")
    elif editor.can_replace(node, partial(_scores, x)):
        sizes = [size if isinstance(size, int | str) else None for size in x.shape or ()]
        kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [sizes[0], len(labels)])
        label_output(editor, output, kind, labels, columns=True)
        editor.replace(node, partial(_scores, x), unproved=True)


def _scores(x: Value, build: Builder) -> Value:
    return build.Identity(x)
