"""Give Expand a constant shape where each size is known or that of the input.

What it does: Replaces a computed shape vector by a constant: known sizes as they are, 1 ("no
    change") for a size that is that of the input at the same place, counted from the end. The
    measure that it lowers is the number of Expand nodes whose shape is computed.
Why engines need it: TensorRT evaluates computed shapes on the host, with many limits on what may
    are there.
Before:
    n = Gather (Shape (x), {0})               # x: float[N,1,8]
    y = Expand (x, Concat (n, {4, 8}))
After: y = Expand (x, {1, 4, 8})
When it refuses: It leaves alone a shape of which a size is neither known nor that of the input.
Accuracy: Exact: broadcasting a size N with N and with 1 gives N. Two dimensions with one symbol
    have one size.
References: https://onnx.ai/onnx/operators/onnx__Expand.html
    https://onnx.ai/onnx/repo-docs/IR.html#static-tensor-shapes (symbols of dimensions)
"""

from typing import Any

import numpy as np

from graphfix.authoring import CANONICAL, Editor, NodeView, graph_pass

from ._constant_shapes import fix_computed_shapes


@graph_pass(stage=CANONICAL, removes="shape:*", emits="Expand")
def expand_shape_to_constant(editor: Editor) -> None:
    """Look at every Expand whose shape is computed."""
    fix_computed_shapes(editor, "Expand", constant_shape)


def constant_shape(view: NodeView, wanted: np.ndarray[Any, Any]) -> list[int] | None:
    """Return the constant that means the same as the shape known in part; None without one."""
    data = view.need(0).shape
    if wanted.ndim != 1 or data is None:
        return None
    sizes: list[int] = []
    for back, size in enumerate(reversed(wanted.tolist()), start=1):
        own = data[-back] if back <= len(data) else None
        if isinstance(size, int):
            if size < 0 or (isinstance(own, int) and size != own and 1 not in (own, size)):
                return None
            sizes.append(size)
        elif size is not None and size == own:
            sizes.append(1)
        else:
            return None
    return sizes[::-1]
