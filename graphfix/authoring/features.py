"""The one vocabulary in which rules and passes meet.

A feature names, without naming an engine, what a node does or needs. Its kind is before the
colon; a rule says of a node that it shows a feature, a pass says which features it removes.
"""

from __future__ import annotations

import re

from graphfix.errors import PassBug

KINDS: dict[str, str] = {
    "op": "the operator itself, `op:Mod`, `op:org.pytorch.aten::ATen.linalg_inv`",
    "const": "an input must be a constant, `const:Resize.scales`",
    "dtype": "an element type, `dtype:uint8`, or one on an operator, `dtype:Pow.int32`",
    "form": "a form of an operator that an older schema lacks, `form:ReduceMean.axes-input`",
    "attr": "an attribute value, `attr:Resize.mode=cubic`",
    "rank": "a rank or a shape restriction, `rank:GridSample.5`",
    "shape": "shape arithmetic, `shape:Reshape.rank2`",
    "scope": "where a node is, `scope:local-function`",
    "opset": "the opset number of the model, `opset:too-high`",
    "ir": "the IR version, `ir:too-high`",
    "domain": "an opset import or a foreign domain, `domain:missing-import`",
    "model": "a complaint of the ONNX checker, `model:unsorted`",
    "io": "the interface of the model, `io:uint8-input`",
}

_FORM = re.compile(r"^([a-z]+):\S+$")


def feature(text: str) -> str:
    """Return `text` when it is a well-formed feature.

    Raises:
        PassBug: The kind before the colon is not in `KINDS`, or nothing follows it.
    """
    match = _FORM.match(text)
    if match is None or match.group(1) not in KINDS:
        raise PassBug(f"{text!r} is not a feature: it needs one of {', '.join(KINDS)} and a colon")
    return text


_TORCH_DOMAINS = frozenset(
    {
        "aten",
        "com.microsoft.pytorch",
        "org.pytorch",
        "org.pytorch.aten",
        "pytorch",
        "torch.ops.aten",
    }
)


def is_aten(op: str, domain: str) -> bool:
    """Say whether a node calls an operator of PyTorch's ATen library, in any exporter's layout.

    The layouts: ``org.pytorch.aten::ATen`` and ``com.microsoft``'s or default-domain ``ATen`` with
    an ``operator`` attribute, and ``org.pytorch.aten::<name>`` or ``aten::<name>`` without one.
    """
    return op == "ATen" or domain in _TORCH_DOMAINS


def operator_feature(op: str, domain: str = "", operator: str = "") -> str:
    """Return the feature of an operator.

    Args:
        op: The operator.
        domain: Its domain.
        operator: The ``operator`` attribute of an ATen node; empty where there is none.

    Returns:
        ``op:Mod``, ``op:com.microsoft::Inverse``, and for ATen in every layout
        ``op:aten::linalg_inv``.
    """
    if is_aten(op, domain):
        name = operator or op
        return f"op:aten::{name.removeprefix('aten::').partition('.')[0]}"
    return f"op:{domain}::{op}" if domain not in ("", "ai.onnx") else f"op:{op}"
