"""Store an initializer as a whole tensor where the file names its few numbers and their places.

What it does: Writes the zeros between the numbers out. Names, types and what may be fed instead
    stay.
Why engines need it: MNN, ncnn, OpenCV, OpenVINO, RKNN, tract, TVM and onnx2tf read no sparse
    initializers: they miss the tensor, or take it for an input. TensorRT's parser ignores them.
Before: k: 1.0 at [0, 0] of float[2,2]          # sparse_initializer
After: k = float[2,2] {1, 0, 0, 0}             # initializer
When it refuses: Never. Constants that are nodes are left alone.
Accuracy: Exact: what the file does not name is 0.
References: https://onnx.ai/onnx/repo-docs/IR.html, SparseTensorProto;
    onnxruntime/test/testdata/sparse_initializer_handling.onnx
"""

from onnx import SparseTensorProto

from graphfix.authoring import Editor, NodeRef, graph_pass


@graph_pass(removes="io:sparse-initializer")
def sparse_initializer_to_dense(editor: Editor) -> None:
    """Look at every scope."""
    for graph in editor.graphs():
        for stored in graph.initializers:
            if not isinstance(stored.weights.proto, SparseTensorProto):
                continue
            stored.values = stored.values
            where = NodeRef(outputs=(stored.name,), scope=graph.scope)
            editor.record_number(where, f"the zeros of {stored.name} are written out")
