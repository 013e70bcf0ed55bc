"""Replace ArrayFeatureExtractor by Gather along the last axis.

What it does: Picks columns; a vector counts as one row.
Why engines need it: TensorRT has no operator of ai.onnx.ml.
Before: y = ai.onnx.ml.ArrayFeatureExtractor (x, columns)
After: y = Gather <axis = -1> (x, Reshape (columns, {-1}))
When it refuses: The rank of the data is unknown.
Accuracy: Exact: elements are moved.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_ArrayFeatureExtractor.html;
    onnxruntime/core/providers/cpu/ml/array_feature_extractor.cc
"""

from graphfix.authoring import Builder, NodeView, Value, need_rank, rewrite


@rewrite("ai.onnx.ml::ArrayFeatureExtractor", emits="Gather Reshape")
def array_feature_extractor_to_gather(node: NodeView, build: Builder) -> Value:
    """Pick columns, see the module."""
    x, columns = node.need(0), node.need(1)
    rank = need_rank(x, 1)
    known = build.const(columns)
    flat = build.Reshape(columns, [-1]) if known is None else build.constant(known.reshape(-1))
    data = build.Reshape(x, [1, -1]) if rank == 1 else x
    return build.Gather(data, flat, axis=max(rank, 2) - 1)
