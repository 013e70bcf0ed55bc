"""Drop operators of caffe2 that only rename or move a tensor.

What it does: Replaces AliasWithName, CopyCPUToGPU, CopyGPUToCPU and the like by their input.
Why engines need it: Models that Detectron2 exported through caffe2 carry them, and no engine knows
    them ("No importer registered for op: AliasWithName").
Before: y = org.pytorch._caffe2.AliasWithName <name = "data"> (x)
After: y = Identity (x)
When it refuses: Never.
Accuracy: Exact: nothing is computed.
References: caffe2/operators/alias_with_name.h and copy_op.h of pytorch/pytorch; NVIDIA/TensorRT
    issues 2188, 2192, 2546
"""

from typing import Any

import numpy as np

from graphfix.authoring import Builder, NodeView, Value, rewrite

Array = np.ndarray[Any, Any]

_DOMAIN = "org.pytorch._caffe2"
OPERATORS = ("AliasWithName", "Copy", "CopyCPUToGPU", "CopyGPUToCPU", "CopyFromCPUInput")


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Give back the input."""
    (first,) = inputs
    assert first is not None
    return (first,)


@rewrite(
    tuple(f"{domain}{name}" for name in OPERATORS for domain in (f"{_DOMAIN}::", "")),
    removes=tuple(f"op:{domain}{name}" for name in OPERATORS for domain in (f"{_DOMAIN}::", "")),
    emits="Identity",
    evaluate=evaluate,
)
def caffe2_alias_to_identity(node: NodeView, build: Builder) -> Value:
    """Give back the input."""
    return node.need(0)
