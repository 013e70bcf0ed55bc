"""What TensorRT's operator tables say in their column of restrictions, in one short form.

The tables say the same thing in several ways over the years. `reworded` gives one way, so that two
profiles can be compared, and refuses a phrase that it does not know.
"""

from __future__ import annotations

import re

_SAME = (
    r"(\w+) (?:input )?must be (?:an? )?(?:build-time )?(?:initializers?|initailizer|constant)"
    r"(?: tensor)?"
)

# Pattern of a phrase, and what is written for it. The first that matches the whole phrase counts.
_PHRASES: tuple[tuple[str, str], ...] = (
    (r"2d (?:pooling|(?:de)?convolution) only", "2 spatial dimensions only"),
    (r"2d(?:/| or )3d (?:pooling|(?:de)?convolutions?) only", "2 or 3 spatial dimensions only"),
    (r"(?:de)?convolution weights must be .*", "constant: W"),
    (r"weights (?:w )?must be .*", "constant: W"),
    (r"zero-constant padding only", "constant mode with 0 only"),
    (r"zero-padding on last 2 dim.*", "pads the last 2 dimensions with 0 only"),
    (r"zero-constant padding on two dim.*", "pads 2 dimensions with 0 only"),
    (r"only fp16->fp32 casts.*", "float16 to float32 only"),
    (r"(?:cast is )?only supported for (?:trt|tensorrt) types", "TensorRT's own types only"),
    (r"min and max clip .*", "constant: min, max"),
    (r"scales and zero-point value .*", "constant: scale, zero point"),
    (r"x_scale and x_zero_point +must .*", "constant: x_scale, x_zero_point"),
    (r"scales y_scale and zero-point .*", "constant: y_scale, y_zero_point"),
    (r"scales(?: scale)? and biases(?: b)? .*", "constant: scale, B"),
    (r"float(?:ing point)? inputs are only .*", "float needs constant start, limit, delta"),
    (r"asymmetric coordinate .*", "coordinate_transformation_mode: asymmetric"),
    (r"nearest or linear .*", "mode: nearest, linear"),
    (r'"floor" mode only .*', "nearest_mode: floor"),
    (r"slice axes must .*", "constant: axes"),
    (r"axes must be resolvable .*", "constant: axes"),
    (r"axis dimension of input .*", "size along axis known when the engine is built"),
    (r"only positive indices .*", "no negative indices"),
    (r"compile with -d(\w+)=1 .*", r"negative ones when built with \1"),
    (r"([xy]_zero_point) must be (?:0|zero)", r"\1: 0"),
    (r"for bidirectional \w+, .*", "bidirectional: same activations both ways"),
    (r"output tensors of .* broadcastable .*", "branches: shapes broadcast, output names differ"),
    (r"output tensors of .* same rank .*", "branches: equal ranks, output names differ"),
    (r"input rank must be >=3 & <=5", "rank 3 to 5"),
    (
        r"inputs max_output_boxes_per_class, .*",
        "constant: max_output_boxes_per_class, iou_threshold, score_threshold",
    ),
    (r"output has fixed shape .*", "output padded to [max_output_boxes_per_class, 3]"),
    (r"supported resize transformation modes: (.*)", r"coordinate_transformation_mode: \1"),
    (r"supported resize modes: (.*)", r"mode: \1"),
    (r"supported nearest modes: (.*)", r"nearest_mode: \1"),
    (r"supported aspect ratio policy: (.*)", r"keep_aspect_ratio_policy: \1"),
    (r"when scales is a tensor .*", "scales that are no constant need axes = 0, 1, ..., rank - 1"),
    (r"antialiasing is .*", "no antialias"),
    (r"dynamic input shapes .*", "static shapes only"),
    (r"ellipsis and diagonal .*", "no ellipsis, no diagonal"),
    (r"broadcasting between inputs .*", "no broadcasting between inputs"),
    (r"indices output tensor unsupported", "no Indices output"),
    (r"seed value is ignored .*", "seed has no effect"),
    (r"dilations must be .*", "dilations: 1"),
    (r"reduction is not supported", "no reduction"),
    (r"reduction other than none .*", "reduction: none"),
    (r"input must have 1d or 2d spatial .*", "1 or 2 spatial dimensions only"),
    (r"pads for the beginning and end .*", "pads: the same at both ends of an axis"),
    (r"is_trai?ning must .*", "training_mode: constant false"),
    (r"input must have static .*", "static shape only"),
    (r"input must be 4d input", "rank 4"),
    (r"only the first output y .*", "no output but Y"),
    (r"scan output length .*", "scan outputs of static length"),
    (r"the shape of loop carried .*", "loop-carried values keep their shape"),
    (r"(input_forget|layout) attribute must be 0", r"\1: 0"),
    (r"sorted must be 1", "sorted: 1"),
    (r"k input must be less than (\d+)", r"K below \1"),
    (r"(\w+) and (\w+) must be an initializer", r"constant: \1, \2"),
    (r"input must be real-valued", "real input only"),
    (r"not supported", ""),
    (r"tensorrt's idynamicquantize .*", "a local function of TensorRT's own can stand for it"),
    (r"q, k, v and attn_mask +must be 4d", "rank 4: Q, K, V, attn_mask"),
    (r"past_cache and update must be 4d", "rank 4: past_cache, update"),
    (r"(.*) (?:inputs|outputs|attributes) are unsupported", r"no \1"),
    (r"q_num_heads and kv_num_heads .*", "q_num_heads, kv_num_heads: dimension 1 of Q, K, V"),
    (r"position_ids must be int64", "position_ids: int64"),
    (r"axis must be -2", "axis: -2"),
    (r"axis must be an initializer", "constant: axis"),
    (_SAME, r"constant: \1"),
)
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), words) for pattern, words in _PHRASES)
_BREAK = re.compile(r"\.\s+|\s{2,}(?=[A-Z])")


def reworded(text: str) -> str:
    """Return the restrictions of one table row as short phrases joined by semicolons.

    Raises:
        ValueError: A phrase of `text` is not known; a pattern for it belongs into this file.
    """
    plain = text.replace("`", "").replace("\\", "").strip().rstrip(".")
    phrases = (_phrase(part.strip().rstrip(".")) for part in _BREAK.split(plain) if part.strip())
    return "; ".join(phrase for phrase in phrases if phrase)


def _phrase(text: str) -> str:
    for pattern, words in _COMPILED:
        match = pattern.fullmatch(text)
        if match is not None:
            filled = match.expand(words)
            return re.sub(r",? and ", ", ", filled) if match.groups() else filled
    raise ValueError(f"no wording for the restriction {text!r}")
