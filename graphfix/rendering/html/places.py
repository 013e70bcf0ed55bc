"""Where on the map of a graph the nodes are that reports speak of."""

from __future__ import annotations

from onnx import ModelProto

from graphfix.report import NodeRef


class Places:
    """Finds nodes of the main graph by what reports call them.

    What is in a body is where the node with the body is; what is in a function, where the
    function is called.
    """

    def __init__(self, proto: ModelProto, prefix: str = "n") -> None:
        """Look at the nodes of the main graph; `prefix` as for the map."""
        self.prefix = prefix
        self._givers: dict[str, int] = {}
        self._owners: list[tuple[str, int]] = []
        self._calls: dict[tuple[str, str], list[int]] = {}
        for at, node in enumerate(proto.graph.node):
            for name in node.output:
                self._givers.setdefault(name, at)
            self._calls.setdefault((node.domain, node.op_type), []).append(at)
            if any(a.HasField("g") for a in node.attribute):
                self._owners.append((f"main/{node.name or node.op_type}.", at))

    def of(self, node: NodeRef) -> tuple[int, ...]:
        """Return the places of a node; none where the graph does not have it."""
        if node.scope == "main":
            found = (self._givers.get(name) for name in node.outputs if name)
            return tuple(dict.fromkeys(at for at in found if at is not None))
        if node.scope.startswith("function:"):
            domain, _, rest = node.scope.removeprefix("function:").partition("::")
            name = rest.partition("/")[0].partition(":")[0]
            return tuple(self._calls.get((domain, name), ()))
        return tuple(at for owner, at in self._owners if node.scope.startswith(owner))
