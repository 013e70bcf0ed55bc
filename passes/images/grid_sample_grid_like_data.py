"""Give GridSample a grid of the element type of its data.

What it does: Casts the grid.
Why engines need it: TVM takes what is sampled for the type of the grid, and refuses to compute with
    it further.
Before: y = GridSample (x, grid)                      # x: float, grid: double
After: y = GridSample (x, Cast <to = float> (grid))
When it refuses: The types are the same, or not known; the mode is nearest: a place halfway between
    two pixels could move to the other one; the data are of fewer bits than float32.
Accuracy: Approximate: places are rounded, by 6e-8 of the side of the image at most where they lie
    on it. What is sampled is continuous in its place.
References: https://onnx.ai/onnx/operators/onnx__GridSample.html; measured on apache-tvm
    0.27.0.post1
"""

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, rewrite

_WIDE = 4


@rewrite(
    "GridSample",
    removes="dtype:GridSample.float16 dtype:GridSample.float32 dtype:GridSample.float64",
    emits="Cast GridSample",
    accuracy=APPROXIMATE,
)
def grid_sample_grid_like_data(node: NodeView, build: Builder) -> Value:
    """Cast the grid, see the module."""
    x, grid = node.need(0), node.need(1)
    if x.dtype is None or grid.dtype is None or x.dtype == grid.dtype:
        raise Refuse(
            "the types of data and grid must differ; they are"
            f" {x.type_name or 'unknown'} and {grid.type_name or 'unknown'}"
        )
    if x.dtype.kind != "f" or x.dtype.itemsize < _WIDE:
        raise Refuse(f"the data must be float32 or float64; they are {x.type_name}")
    if node.attr("mode", "linear") == "nearest":
        raise Refuse("the mode must be linear or cubic; it is nearest")
    build.declare(APPROXIMATE, "places are rounded by 6e-8 of the side of the image at most")
    attributes = {name: node.attr(name) for name in node.attributes}
    return build.GridSample(x, build.Cast(grid, to=x.elem_type), **attributes)
