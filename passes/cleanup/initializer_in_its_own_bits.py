"""Store the values of an initializer as bytes of their own type, where 32 bits are for each.

What it does: Writes ``raw_data`` in place of ``int32_data``, of which ONNX allows both. Names and
    types stay.
Why engines need it: MNN reads other values of bools and int8, and dies of 16 bits; OpenCV 5 dies
    of bools.
Before: k = bool[2], int32_data {0, 1}                # initializer
After: k = bool[2], raw_data of 2 bytes              # initializer
When it refuses: Never. Constants that are nodes are left alone: they are initializers by then.
Accuracy: Exact: the same values.
References: https://onnx.ai/onnx/repo-docs/IR.html; TensorProto in onnx/onnx.proto; measured on MNN
    3.6.1 and OpenCV 5.0.0
"""

from onnx import TensorProto

from graphfix.authoring import Editor, NodeRef, graph_pass

_WIDE = frozenset({TensorProto.INT32})


@graph_pass(removes="io:numbers-in-32-bits")
def initializer_in_its_own_bits(editor: Editor) -> None:
    """Look at every scope."""
    for graph in editor.graphs():
        for stored in graph.initializers:
            held = stored.weights.proto
            if not isinstance(held, TensorProto) or not len(held.int32_data):
                continue
            if held.data_type in _WIDE:
                continue
            stored.values = stored.values
            where = NodeRef(outputs=(stored.name,), scope=graph.scope)
            editor.record_number(where, f"{stored.name} is stored as bytes of its type")
