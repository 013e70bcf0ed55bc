"""Replace FeatureVectorizer by Concat.

What it does: Flattens each input to [rows, features] of float32 and joins them.
Why engines need it: TensorRT has no operator of ai.onnx.ml.
Before: y = ai.onnx.ml.FeatureVectorizer <inputdimensions = [1, 3]> (a, b)       a: [1], b: [2, 3]
After: y = Concat <axis = 1> (Reshape (a, {1, -1}), b)
When it refuses: The number of features of an input is unknown or not the one that is written, where
    onnxruntime cuts or fills with zeros.
Accuracy: Exact, as far as float32 holds the numbers.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_FeatureVectorizer.html;
    onnxruntime/core/providers/cpu/ml/feature_vectorizer.cc
"""

from math import prod

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("ai.onnx.ml::FeatureVectorizer", emits="Cast Concat Flatten Reshape")
def feature_vectorizer_to_concat(node: NodeView, build: Builder) -> Value:
    """Join features, see the module."""
    written = node.attr("inputdimensions", [])
    if len(written) != len(node.inputs):
        raise Refuse(
            f"there must be a number of features for each of {len(node.inputs)} inputs; there "
            f"are {len(written)}"
        )
    parts: list[Value] = []
    for place, count in enumerate(written):
        x = node.need(place)
        if not x.rank:
            raise Refuse(
                f"the rank of {x.name} must be at least 1; it is "
                f"{'unknown' if x.rank is None else x.rank}"
            )
        sizes = [x.dim(axis) for axis in range(1 if x.rank > 1 else 0, x.rank)]
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes) or prod(known) != count:
            raise Refuse(f"{x.name} must have {count} features for certain")
        data = x if x.elem_type == TensorProto.FLOAT else build.Cast(x, to=TensorProto.FLOAT)
        if x.rank == 1:
            data = build.Reshape(data, [1, count])
        elif x.rank > 2:
            data = build.Flatten(data, axis=1)
        parts.append(data)
    return build.Concat(*parts, axis=1)
