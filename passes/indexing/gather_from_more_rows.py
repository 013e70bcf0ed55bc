"""Lengthen the table of a Gather, whose indices are computed, to eight rows.

What it does: Puts rows of zeros in the middle of the table: no index from either end reads them.
Why engines need it: pnnx runs a network with 7 as each of its integers to learn its sizes, and ends
    at a table that has no row 7, as that of the two kinds of tokens of BERT.
Before: y = Gather (table, i)                   # table [2, 32]
After: y = Gather (longer, i)                   # longer [8, 32]: row 0, six of zeros, row 1
When it refuses: The table is not a constant matrix, has no row or eight already, or is of texts.
Accuracy: Exact. An index beyond the table, which is an error in ONNX, is not found any more.
References: Tencent/ncnn tools/pnnx/src/pass_onnx/shape_inference.cpp; measured on pnnx 20261020
    https://onnx.ai/onnx/operators/onnx__Gather.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_ROWS = 8
_MATRIX = 2


@rewrite("Gather", removes="shape:Gather.rows", emits="Gather", claims="nan inf")
def gather_from_more_rows(node: NodeView, build: Builder) -> Value:
    """Put rows in the middle, see the module."""
    table = build.need_const(node.need(0), "the table")
    rows = len(table) if table.ndim == _MATRIX else 0
    if not 0 < rows < _ROWS or int(node.attr("axis", 0)) or table.dtype.kind not in "fiub":
        raise Refuse(f"the table must be a matrix of 1 to {_ROWS - 1} rows; it is {table.shape}")
    longer = np.zeros((max(_ROWS, 2 * rows), table.shape[1]), table.dtype)
    longer[:rows] = longer[-rows:] = table
    written = {name: value for name, value in node.written().items() if name == "axis"}
    return build.Gather(longer, node.need(1), **written)
