"""Leave out of operators of com.microsoft what says nothing and older releases do not know.

What it does: Attributes that came later and have the value that holds without them go, and so do
    inputs that are left out at the end of the list.
Why engines need it: onnxruntime refuses attributes and counts of inputs that its release does not
    have ("Unrecognized attribute: weight_prepacked for operator MatMulNBits"), whatever they say.
    onnxruntime-genai writes 12 inputs of GroupQueryAttention, where releases before 1.23 have 9.
Before: y = com.microsoft.MatMulNBits <weight_prepacked = 0, ...> (x, b, scales, "")
After: y = com.microsoft.MatMulNBits <...> (x, b, scales)
When it refuses: There is nothing of the kind; what says something stays.
Accuracy: Exact: both forms mean the same (docs/ContribOperators.md).
References: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
    #com.microsoft.GroupQueryAttention, #com.microsoft.MatMulNBits; onnxruntime 1.16.3, asked
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._grouped_heads import infer as infer_attention
from ._lookup import infer as infer_gathered
from ._nbits import infer as infer_product

_PRODUCT, _ATTENTION = "com.microsoft::MatMulNBits", "com.microsoft::GroupQueryAttention"
_GATHERED = "com.microsoft::GatherBlockQuantized"
# Attributes that came later, and what holds without them.
_ABSENT: Mapping[str, Mapping[str, Any]] = {
    _PRODUCT: {"weight_prepacked": 0, "accuracy_level": 0},
    _GATHERED: {"bits": 4},
    _ATTENTION: {
        "do_rotary": 0,
        "rotary_interleaved": 0,
        "local_window_size": -1,
        "softcap": 0.0,
        "smooth_softmax": -1,
        "qk_output": 0,
        "qk_norm_epsilon": 1e-6,
        "sliding_window_cache": 0,
        "causal": 1,
        "kv_cache_bit_width": 0,
        "k_quant_type": "NONE",
        "v_quant_type": "NONE",
    },
}


@rewrite(
    _PRODUCT,
    removes="form:com.microsoft::MatMulNBits.needless",
    emits=_PRODUCT,
    infer=infer_product,
    as_written=True,
)
def nbits_needless_left_out(node: NodeView, build: Builder) -> Value | None:
    """Write the product without, see the module."""
    return _without(_PRODUCT, node, build)[0]


@rewrite(
    _ATTENTION,
    removes="form:com.microsoft::GroupQueryAttention.needless",
    emits=_ATTENTION,
    infer=infer_attention,
    as_written=True,
)
def attention_needless_left_out(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the attention without, see the module."""
    return _without(_ATTENTION, node, build)


@rewrite(
    _GATHERED,
    removes="form:com.microsoft::GatherBlockQuantized.needless",
    emits=_GATHERED,
    infer=infer_gathered,
    as_written=True,
)
def gathered_needless_left_out(node: NodeView, build: Builder) -> Value | None:
    """Write the gathering without, see the module."""
    return _without(_GATHERED, node, build)[0]


def _without(name: str, node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    absent = _ABSENT[name]
    needless = [a for a in node.attributes if a in absent and _is(node.attr(a), absent[a])]
    inputs = list(node.inputs)
    while inputs and inputs[-1] is None:
        inputs.pop()
    if not needless and len(inputs) == len(node.inputs):
        raise Refuse("an attribute or an input must say nothing; all say something")
    node.waive(tuple(needless))
    kept = {a: node.attr(a) for a in node.attributes if a not in needless}
    return build.multi(name, *inputs, outputs=len(node.outputs), **kept)


def _is(value: Any, absent: Any) -> bool:
    if isinstance(absent, str):
        return bool(value == absent)
    return bool(np.float32(value) == np.float32(absent))  # as a file holds it
