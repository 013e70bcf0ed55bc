"""What single operators lack, by what depends on attributes, constants or neighbours."""

from __future__ import annotations

from math import prod

import numpy as np

from graphfix.engines.opencv.blocks import is_in_blocks
from graphfix.engines.opencv.bounds import least
from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, needed
from graphfix.operators.table import REDUCTIONS


@rule(
    "GatherND",
    feature="form:GatherND.negative-indices",
    versions="opencv5.0..",
    severity=WRONG,
    source="measured on 5.0.0: negative indices read memory that is not the tensor's",
)
def gather_nd_negative(node: NodeView, target: Target) -> Answer:
    """OpenCV does not support negative GatherND indices; ONNX counts them from the end."""
    indices = node.input(1)
    if indices is None or least(indices) >= 0:
        return False
    values = needed(indices.array(), "the indices, which must not be negative")
    return bool((values < 0).any())


@rule(
    ("GroupNormalization", "InstanceNormalization"),
    feature="rank:{op}.*",
    versions="opencv5.0..",
    severity=REJECT,
    text="DNN/InstanceNorm: only 5D block layout is supported",
    source="instance_norm_layer.cpp:60, fast_norm.cpp:363 (5.0.0): what is after a Conv that"
    " is not of images; facts/asked.json, *-norm-behind-*",
)
def norm_behind_conv(node: NodeView, target: Target) -> Answer:
    """OpenCV supports {op} after a Conv for four dimensions only."""
    value = node.input(0)
    if value is None or value.rank in (None, 4) or not is_in_blocks(value):
        return False
    named = node.op == "GroupNormalization"
    return Yes(feature="op:GroupNormalization" if named else f"rank:{node.op}.{value.rank}")


@rule(
    ("AveragePool", "Conv", "MaxPool"),
    feature="rank:{op}.3",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.8.1 and 4.10.0: pads [2, 0] are taken for [2, 2]",
)
def pads_of_lines(node: NodeView, target: Target) -> Answer:
    """OpenCV pads the end of a 1D {op} by the pad of its beginning."""
    pads = [int(size) for size in node.attr("pads", ())]
    return len(pads) == 2 and pads[0] != pads[1]


@rule(
    "ConvTranspose",
    feature="attr:ConvTranspose.pads",
    versions="..opencv4.10",
    severity=REJECT,
    text="Unsupported asymmetric padding in deconvolution layer in function 'finalize'",
    source="convolution_layer.cpp:1581 (4.10.0); measured",
)
def conv_transpose_pads(node: NodeView, target: Target) -> Answer:
    """OpenCV requires equal pads at both ends of ConvTranspose."""
    pads = [int(size) for size in node.attr("pads", ())]
    half = len(pads) // 2
    return pads[:half] != pads[half:]


@rule(
    "PRelu",
    feature="const:PRelu.slope",
    severity=REJECT,
    text="Blob slope not found in const blobs in function 'getBlob'",
    source="onnx_importer.cpp:598 (4.10.0), 637 (5.0.0); measured",
)
def prelu_slope(node: NodeView, target: Target) -> Answer:
    """OpenCV requires a constant slope of PRelu with one value per channel."""
    slope, data = node.input(1), node.input(0)
    if slope is None or data is None:
        return False
    shape, sizes = slope.static_shape, data.shape
    if not is_stored(slope) or shape is None:
        return True
    if prod(shape) == 1 or sizes is None:
        return False
    return not (len(sizes) - len(shape) == 1 and prod(shape) == shape[0] == sizes[1])


@rule(
    "Gemm",
    feature="const:Gemm.*",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.10.0: a computed vector as third input is taken as a column, which is"
    " right for a single row",
)
def gemm_vector(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 reads a computed vector C of Gemm as a column."""
    added, first = node.input(2), node.input(0)
    if first is not None and first.dim(0) == 1 and not node.attr("transA", 0):
        return False
    return added is not None and not is_stored(added) and added.rank in (None, 1)


@rule(
    REDUCTIONS,
    feature="attr:{op}.all-axes",
    versions="..opencv4.10",
    severity=REJECT,
    source="measured on 4.8.1 and 4.10.0: SIGSEGV where all axes are named and none is kept",
)
def reduce_all_named_axes(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 crashes on {op} if axes lists all axes and keepdims is 0."""
    data, value = node.input(0), node.input(1)
    given = node.attr("axes", None)
    if given is None and value is not None:
        given = value.array()
    if given is None or node.attr("keepdims", 1) or data is None or data.rank is None:
        return False
    return len(np.atleast_1d(given)) == data.rank
