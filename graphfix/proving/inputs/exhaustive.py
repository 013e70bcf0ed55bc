"""All inputs that a model can have, where they are few: truth values, and not many of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import onnx

from graphfix.ir.protos import required_inputs
from graphfix.proving.inputs.maker import static_limits
from graphfix.proving.values.kinds import Feed

_MOST_VALUES = 4


def every_feed(model: onnx.ModelProto) -> list[Feed] | None:
    """Return all input sets of a model whose inputs are a few truth values, None for any other.

    A model without inputs is no such model: what it computes is compared anyway.
    """
    inputs = required_inputs(model.graph)
    if not inputs or len(inputs) != len(model.graph.input):
        return None  # an initializer that a caller may override is an input as well
    known = static_limits(model)
    shapes: dict[str, tuple[int, ...]] = {}
    for info in inputs:
        kind, sizes = info.type, known.get(info.name)
        if kind.WhichOneof("value") != "tensor_type" or sizes is None:
            return None
        shape = tuple(size for size in sizes if size is not None)
        if kind.tensor_type.elem_type != onnx.TensorProto.BOOL or len(shape) != len(sizes):
            return None
        shapes[info.name] = shape
    counts = [math.prod(shape) for shape in shapes.values()]
    if sum(counts) > _MOST_VALUES:
        return None
    feeds: list[Feed] = []
    for values in itertools.product((True, False), repeat=sum(counts)):
        parts = np.split(np.array(values), np.cumsum(counts)[:-1])
        pairs = zip(shapes.items(), parts, strict=True)
        feeds.append({name: part.reshape(shape) for (name, shape), part in pairs})
    return feeds
