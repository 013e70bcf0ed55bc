"""Take RouterGateUpProj apart.

What it does: Writes the one product, cuts off what belongs to the router, and lets the first half
    of the rest open a gate for the second, as SwiGLU does.
Why engines need it: It is an operator of onnxruntime 1.32 for language models; other engines do not
    know it.
Before: r, y = com.microsoft.RouterGateUpProj <router_size = 4> (x, w)      # w: [K, 4 + 2 I]
After:
    r, gate, up = Split <axis = -1> (MatMul (x, w))
    y = Mul (Mul (gate, Sigmoid (gate)), up)
When it refuses: The input is neither float16 nor bfloat16, its rank or a size of the weights is
    unknown, what is left of the weights has no two halves, the activation is none of the page.
Accuracy: Exact up to rounding: products are summed in float32 and rounded once, the activation is
    computed in float32 of the rounded halves.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.RouterGateUpProj and
    SwiGLU; the first has kernels for CUDA alone: the numbers were held to the formula of the page
"""

from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_type,
    rewrite,
)

from ._means import like, wide
from ._swiglu import swiglu, swiglu_of
from ._typing import LOW_PRECISION

_NAME = "com.microsoft::RouterGateUpProj"


def router_gate_up(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute in float64, rounded where the page rounds."""
    x, weights = (np.asarray(each) for each in inputs[:2])
    product = (x.astype(np.float64) @ weights.astype(np.float64)).astype(x.dtype)
    router = int(attributes["router_size"])
    gate, up = np.split(product[..., router:], 2, axis=-1)
    return (product[..., :router], *swiglu([gate, up], attributes))


@rewrite(_NAME, emits="Add Cast Clip MatMul Min Mul Sigmoid Split", evaluate=router_gate_up)
def router_gate_up_proj_to_matmul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the product and the gate, see the module."""
    x, weights = node.need(0), node.need(1)
    need_type(x, LOW_PRECISION)
    router = int(node.attr("router_size", 0))
    columns = weights.dim(1) if weights.rank == 2 else None
    if not x.rank or not columns:
        raise Refuse(f"the rank of {x.name} and the columns of the weights must be known")
    inner, left = divmod(columns - router, 2)
    if router < 1 or inner < 1 or left:
        raise Refuse(
            f"{columns} columns must hold {router} of the router and two halves; they do not"
        )
    name = str(node.attr("activation", "swiglu"))
    if name != "swiglu":
        raise Refuse(f"the activation must be swiglu; it is {name}")
    product = like(build, x, build.MatMul(wide(build, x), wide(build, weights)))
    sizes = [router, inner, inner]
    routed, gate, up = build.multi("Split", product, outputs=3, axis=x.rank - 1, split=sizes)
    active = swiglu_of(node, build, wide(build, gate), wide(build, up))
    return (routed, like(build, x, active))
