"""One thing that is wrong with a file, and the types that it is reported with."""

from __future__ import annotations

from msgspec import Struct
from onnx import TypeProto

from graphfix.analysis.inference import type_text
from graphfix.ir.graph import Tensor
from graphfix.ir.views import NodeView


class Complaint(Struct, frozen=True):
    """Something that cannot be as the file says it.

    Attributes:
        kind: The id of the rule of `graphfix.engines.file_rules` that it falls under.
        message: One sentence, with both sides of a contradiction.
        node: The node; None where it is about the file.
        text: What ONNX itself says; empty where it says nothing.
        feature: What passes remove it by; empty for the feature of the rule.
    """

    kind: str
    message: str
    node: NodeView | None = None
    text: str = ""
    feature: str = ""


def called(node: NodeView) -> str:
    """Return a node as a sentence names it: ``Add 'sum_3'``, ``Add``."""
    return f"{node.op} {node.name!r}" if node.name else node.op


def named(tensor: Tensor, known: TypeProto | None) -> str:
    """Return a tensor with its type: ``x (float32[2, 3])``."""
    return f"{tensor.name} ({type_text(known)})"
