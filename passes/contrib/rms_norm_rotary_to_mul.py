"""Take RMSNormRotary apart, where its page says that it computes in float32.

What it does: Divides a part of each head by its root mean square, scales it, and turns the two
    halves of its front by the angles of its position.
Why engines need it: It is an operator of onnxruntime 1.32 for language models; other engines do not
    know it.
Before: y = com.microsoft.RMSNormRotary <rotary_embedding_dim = R> (x, scale, positions, cos, sin)
After:
    n = x / Sqrt (mean of x^2 + epsilon) * scale
    a, b = the halves of the first R of n;  c, s = Gather (cos, positions), Gather (sin, positions)
    y = Concat (a c - b s, b c + a s, the rest of n)
When it refuses: Input, output and tables are all bfloat16: the page leaves open where it rounds
    then. A rank or a size is unknown, or does not fit; one position is given for tokens of several
    sequences that are joined; the positions may be one, or one for each token.
Accuracy: Exact up to rounding.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.RMSNormRotary, which has
    kernels for CUDA alone: the numbers were held to the formula of the page
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from onnx import TensorProto
from onnx.helper import tensor_dtype_to_np_dtype

from graphfix.authoring import (
    Array,
    Builder,
    InferredType,
    NodeView,
    Refuse,
    Value,
    need_rank_of,
    need_type,
    rewrite,
)

from ._attention import numbered, size
from ._means import EMITS, divided, wide
from ._rotating import turned
from ._typing import LOW_PRECISION

_NAME = "com.microsoft::RMSNormRotary"
_EPSILON = 1e-6
_POSITIONS, _COSINE, _SINE = 2, 3, 4


class _Sizes(Struct, frozen=True):
    """Heads, where the part of a head begins, how wide it is, and how much of it is turned."""

    heads: int
    start: int
    width: int
    turned: int


def _kind(attributes: Any) -> int:
    """Return the type of the first output, by a function from a name and what else it is."""
    return TensorProto.FLOAT16 if int(attributes("output_fp16", 0)) else TensorProto.BFLOAT16


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """[B, S, heads * width], and the numbers that are not turned yet.

    Where it cannot be written, what comes after it is judged all the same.
    """
    x, kind = node.input(0), _kind(node.attr)
    if x is None or not x.shape or len(x.shape) != 4:
        return (InferredType(kind), InferredType(TensorProto.FLOAT))
    batch, tokens, heads, stride = x.shape
    width = int(node.attr("input_width", 0)) or stride
    both = heads * width if isinstance(heads, int) and isinstance(width, int) else None
    front = (1, None) if int(node.attr("flatten_batch", 0)) else (batch, tokens)
    normal = InferredType(TensorProto.FLOAT, (batch, tokens, heads, width))
    return (InferredType(kind, (*front, both)), normal)


def rms_norm_rotary(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute in float64."""
    x, scale, places, cosine, sine = (np.asarray(each) for each in inputs[:5])
    start = int(attributes.get("input_start", 0))
    width = int(attributes.get("input_width", 0)) or x.shape[-1]
    half = int(attributes["rotary_embedding_dim"]) // 2
    part = x[..., start : start + width].astype(np.float64)
    mean = (part**2).mean(axis=-1, keepdims=True)
    normal = part / np.sqrt(mean + attributes.get("epsilon", _EPSILON)) * scale.astype(np.float64)
    batch, tokens, heads, _ = x.shape
    if places.size == 1:
        one = int(places.reshape(-1)[0])
        places = np.array([range(one, one + tokens)] * batch)
    cos, sin = (table.astype(np.float64)[places][:, :, None] for table in (cosine, sine))
    a, b, rest = normal[..., :half], normal[..., half : 2 * half], normal[..., 2 * half :]
    result = np.concatenate([a * cos - b * sin, b * cos + a * sin, rest], axis=-1)
    front = (1, batch * tokens) if attributes.get("flatten_batch", 0) else (batch, tokens)
    kind = tensor_dtype_to_np_dtype(_kind(attributes.get))
    flat = result.reshape(*front, heads * width).astype(kind)
    return (flat, normal.astype(np.float32))


@rewrite(
    _NAME,
    emits=(EMITS, "Concat Gather Range Reshape Shape Slice Split Squeeze Unsqueeze"),
    infer=infer,
    evaluate=rms_norm_rotary,
)
def rms_norm_rotary_to_mul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Normalise and turn, see the module."""
    x = node.need(0)
    need_rank_of(x, 4)
    need_type(x, LOW_PRECISION)
    kinds = (x.elem_type, _kind(node.attr), node.need(_COSINE).elem_type)
    if all(kind in (TensorProto.BFLOAT16, 0) for kind in kinds):
        raise Refuse(
            "the input or the output must be float16, or the tables float32: between bfloat16 the "
            "operator rounds in steps that its page does not give"
        )
    sizes = _sizes(node)
    angles = _angles(node, build, sizes.turned // 2)
    data = wide(build, x)
    if sizes.width != x.dim(3):
        ends = [sizes.start + sizes.width]
        data = build.Slice(data, starts=[sizes.start], ends=ends, axes=[3])
    normal = divided(build, data, [3], float(node.attr("epsilon", _EPSILON)))
    normal = build.Mul(normal, wide(build, node.need(1)))
    result = turned(build, normal, angles, (sizes.turned, sizes.width), interleaved=False)
    joined = bool(node.attr("flatten_batch", 0))
    flat = [1, -1] if joined else [0, 0]
    result = build.Reshape(result, np.array([*flat, sizes.heads * sizes.width]))
    return (build.Cast(result, to=kinds[1]), normal)[: len(node.outputs)]


def _sizes(node: NodeView) -> _Sizes:
    x = node.need(0)
    heads, stride = x.dim(2), x.dim(3)
    start, some = int(node.attr("input_start", 0)), int(node.attr("rotary_embedding_dim", 0))
    width = int(node.attr("input_width", 0)) or stride
    if not heads or not stride or not width or start < 0 or start + width > stride:
        raise Refuse(
            f"the sizes of the heads of {x.name} must be known and hold what is normalised"
        )
    if some < 2 or some % 2 or some > width:
        raise Refuse(f"what is turned must be even and at most {width}; it is {some}")
    scale = node.need(1)
    if scale.rank != 1 or scale.dim(0) != width:
        raise Refuse(f"{scale.name} must have {width} numbers; it has others")
    return _Sizes(heads, start, width, some)


def _angles(node: NodeView, build: Builder, half: int) -> tuple[Value, Value]:
    """Return cosines and sines, [B or 1, S, 1, half]."""
    x, places = node.need(0), node.need(_POSITIONS)
    tables = [node.need(place) for place in (_COSINE, _SINE)]
    if any(table.rank != 2 or table.dim(1) != half for table in tables):
        raise Refuse(f"the tables must have {half} numbers for each position; they have others")
    if _is_one(x, places):
        if node.attr("flatten_batch", 0) and x.dim(0) != 1:
            raise Refuse("one position must be that of one sequence; several may be joined")
        base = build.Reshape(places, np.array([1]))
        places = build.Unsqueeze(build.Add(numbered(build, size(build, x, 1)), base), axes=[0])
    cos, sin = (build.Gather(wide(build, table), places, axis=0) for table in tables)
    return build.Unsqueeze(cos, axes=[2]), build.Unsqueeze(sin, axes=[2])


def _is_one(x: Value, places: Value) -> bool:
    """Say whether there is one position for all tokens, rather than one for each.

    Raises:
        Refuse: That is not known.
    """
    shape, tokens = places.shape, x.shape
    if shape is not None and all(size == 1 for size in shape):
        return True
    if shape is None or tokens is None or shape != tokens[:2] or None in shape:
        raise Refuse(f"{places.name} must be known to be one position, or one for each token")
    return False
