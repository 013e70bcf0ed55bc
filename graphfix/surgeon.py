"""The one door to onnx-graphsurgeon: its classes, with the types that it does not declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class GsTensor:
        name: str
        inputs: list[Any]
        outputs: list[Any]

    class GsVariable(GsTensor):
        pass

    class GsConstant(GsTensor):
        pass

    class GsLazyValues:
        pass

    class GsNode:
        op: str
        name: str
        domain: str | None
        attrs: Any
        inputs: list[Any]
        outputs: list[Any]

    class GsGraph:
        nodes: list[Any]
        inputs: list[Any]
        outputs: list[Any]
        name: str
        opset: int
        import_domains: Any

        def __init__(self, **kwargs: Any) -> None: ...

    class AttributeRef:
        """Refers to an attribute of the function that the node stands in."""

        name: str
        type: Any

        def __init__(self, name: str, type: Any) -> None: ...

    class SynchronizedList(list[Any]):
        """A list that keeps the other end of each edge."""

        def __init__(self, parent_obj: Any, field_name: str, initial: list[Any]) -> None: ...
else:
    from onnx_graphsurgeon.ir.graph import Graph as GsGraph
    from onnx_graphsurgeon.ir.node import Node as GsNode
    from onnx_graphsurgeon.ir.tensor import Constant as GsConstant
    from onnx_graphsurgeon.ir.tensor import LazyValues as GsLazyValues
    from onnx_graphsurgeon.ir.tensor import Variable as GsVariable
    from onnx_graphsurgeon.util.misc import SynchronizedList

    AttributeRef = GsNode.AttributeRef

__all__ = [
    "AttributeRef",
    "GsConstant",
    "GsGraph",
    "GsLazyValues",
    "GsNode",
    "GsVariable",
    "SynchronizedList",
]
