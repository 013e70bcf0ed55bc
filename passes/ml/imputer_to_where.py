"""Replace Imputer by a choice between the value and its substitute.

What it does: Takes the number that is imputed, one for all columns or one for each, wherever the
    number that stands for nothing is found; NaN is found too where it is that number.
Why engines need it: TensorRT has no operator of ai.onnx.ml.
Before: y = ai.onnx.ml.Imputer <imputed_value_floats = [1, 2], replaced_value_float = nan> (x)
After: y = Where (IsNaN (x), {1, 2}, x)
When it refuses: Numbers are imputed that are none, of another type than the rows, or not as many as
    columns.
Accuracy: Exact: numbers are compared and moved.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_Imputer.html;
    onnxruntime/core/providers/cpu/ml/imputer.cc
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_NAMES: dict[int, tuple[str, str, Any]] = {
    TensorProto.FLOAT: ("imputed_value_floats", "replaced_value_float", np.float32),
    TensorProto.INT64: ("imputed_value_int64s", "replaced_value_int64", np.int64),
}


@rewrite("ai.onnx.ml::Imputer", emits="Equal IsNaN Where")
def imputer_to_where(node: NodeView, build: Builder) -> Value:
    """Choose, see the module."""
    x = node.need(0)
    if x.elem_type not in _NAMES or x.rank not in (1, 2):
        raise Refuse(f"{x.name} must be a vector or matrix of float32 or int64; it is not")
    imputed, replaced, kind = _NAMES[x.elem_type]
    values = np.array(node.attr(imputed, []), kind)
    if not values.size or not node.has(replaced):
        raise Refuse(f"there must be {imputed} and {replaced} for {x.type_name}; there are not")
    columns = x.dim(-1)
    if values.size > 1 and values.size != columns:
        raise Refuse(
            f"there must be one number or one for each column, which are {columns}; there are "
            f"{values.size}"
        )
    missing = kind(node.attr(replaced))
    found = build.IsNaN(x) if missing != missing else build.Equal(x, missing)
    return build.Where(found, build.constant(values if values.size > 1 else values[0]), x)
