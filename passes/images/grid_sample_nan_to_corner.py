"""Give GridSample -1 for what of its grid is no number.

What it does: Replaces NaN in the grid by -1, which is what PyTorch's operator and onnxruntime take
    it for.
Why engines need it: ONNX does not say what is read there: engines give NaN, 0 or some other pixel.
    Exporters store NaN as a place where they divide by the steps of a range of one step.
Before: y = GridSample (x, grid)
After: y = GridSample (x, Where (IsNaN (grid), -1, grid))
When it refuses: The type of the grid is not known, or it is chosen by IsNaN already.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__GridSample.html;
    https://pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html, "NaN values in
    grid would be interpreted as -1"; measured on onnxruntime 1.32.0
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite("GridSample", removes="form:GridSample.nan", emits="GridSample IsNaN Where", claims="nan")
def grid_sample_nan_to_corner(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Choose -1, see the module."""
    grid = node.need(1)
    if grid.dtype is None:
        raise Refuse("the type of the grid must be known")
    chosen = grid.producer
    if chosen is not None and chosen.op == "Where" and _asks_for_nan(chosen):
        raise Refuse("NaN of the grid must not be replaced yet; a Where does so")
    corner = np.array(-1, grid.dtype)
    return respell(node, build, grid=build.Where(build.IsNaN(grid), corner, grid))


def _asks_for_nan(chosen: NodeView) -> bool:
    """Say whether a Where chooses by IsNaN."""
    maker = chosen.need(0).producer
    return maker is not None and maker.op == "IsNaN"
