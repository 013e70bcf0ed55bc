"""A loaded file: the graph that passes edit, plus everything that travels untouched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from onnx import ModelProto

from graphfix.ir.graph import Function, Graph, Node
from graphfix.ir.importing import import_function, import_main
from graphfix.ir.model_export import export_model
from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.weights import is_external


class Model:
    """A model in memory.

    Attributes:
        proto: The model as it was loaded, or as a pass loaded it again; never changed.
        graph: The main graph.
        functions: The local functions, in the order of the file.
        ir_version: The IR version that the model is to be written with.
        metadata: Entries to add to (or replace in) ``metadata_props``.
        path: The file it was read from; None when it was made in memory.
        base_dir: The folder that external data is looked up in; empty in memory.
        sha256: Of the .onnx file; empty when made in memory.
        is_text: Whether it came as a text, and no pass has seen to it.
    """

    def __init__(
        self,
        proto: ModelProto,
        *,
        path: Path | None = None,
        sha256: str = "",
        size: int = 0,
        base_dir: str | None = None,
        is_text: bool = False,
    ) -> None:
        """Import `proto`, which must not be changed afterwards.

        Args:
            proto: The model.
            path: The file that holds just this model; None where there is none.
            sha256: Of that file.
            size: Of that file, in bytes.
            base_dir: The folder of the external data; None for that of `path`.
            is_text: Whether that file has the text form of the model.

        Raises:
            InvalidModel: A name is used that nothing defines.
        """
        self.proto = proto
        self._file = proto
        self.path = path
        if base_dir is None:
            base_dir = str(path.parent) if path is not None else ""
        self.base_dir = base_dir
        self.sha256 = sha256
        self.size = size
        self.is_text = is_text
        self.ir_version: int = proto.ir_version
        self.metadata: dict[str, str] = {}
        self.functions: list[Function] = [
            import_function(function, self.base_dir) for function in proto.functions
        ]
        self.graph: Graph = import_main(proto, self.base_dir)
        known = frozenset(function.key for function in self.functions)
        for root in self.roots():
            root.known_functions = known
            root.base_dir = self.base_dir
            root.producer = proto.producer_name

    @classmethod
    def empty(cls, opset: int, ir_version: int = 10) -> Model:
        """Return a model without nodes, inputs and outputs.

        Args:
            opset: The opset of the default domain.
            ir_version: The IR version; 10 is read by onnxruntime 1.18 and newer.
        """
        proto = ModelProto(ir_version=ir_version)
        proto.graph.name = "graph"
        proto.opset_import.add(domain="", version=opset)
        return cls(proto)

    @property
    def opset(self) -> int:
        """The opset of the default domain; 0 where the model does not import it."""
        return self.graph.opsets.get("", 0)

    def roots(self) -> Iterator[Graph]:
        """Walk the main graph and the local functions."""
        yield self.graph
        yield from self.functions

    def graphs(self) -> Iterator[Graph]:
        """Walk every scope: main graph, subgraphs, functions and their subgraphs."""
        for root in self.roots():
            yield from root.walk()

    def nodes(self) -> Iterator[Node]:
        """Walk the nodes of every scope."""
        for graph in self.graphs():
            yield from graph.nodes

    def node_count(self) -> int:
        """Count the nodes of every scope."""
        return sum(len(graph.nodes) for graph in self.graphs())

    def has_external_data(self) -> bool:
        """Say whether any tensor of the file as it came lies outside it."""
        return any(is_external(tensor) for tensor in walk_tensors(self.proto))

    def to_proto(self) -> ModelProto:
        """Return the model as a proto; external data stays where it is."""
        return self._finished(export_model(self.proto, self.graph, self.functions))

    def light_proto(self) -> ModelProto:
        """Return the model with big initializers as inputs, for inference and the checker."""
        return self._finished(export_model(self.proto, self.graph, self.functions, weights=False))

    def _finished(self, result: ModelProto) -> ModelProto:
        if result.ir_version != self.ir_version:
            result.ir_version = self.ir_version
        entries = {entry.key: entry for entry in result.metadata_props}
        for key, value in self.metadata.items():
            entry = entries.get(key) or result.metadata_props.add(key=key)
            entry.value = value
        return result

    def become(self, other: Model) -> None:
        """Be what another model is, which is not to be used any more; its file is none of ours."""
        self.__dict__.update(other.__dict__)

    def copy(self) -> Model:
        """Return an independent copy as the model is now; an edited one has no file any more."""
        proto = self.to_proto()
        if proto == self._file:
            fresh = Model(
                proto, path=self.path, sha256=self.sha256, size=self.size, base_dir=self.base_dir
            )
        else:
            fresh = Model(proto, base_dir=self.base_dir)
        fresh.is_text = self.is_text
        keep_places(self.graphs(), fresh.graphs())
        return fresh


def keep_places(before: Iterable[Graph], after: Iterable[Graph]) -> None:
    """Give nodes that were loaded again the place in the file that they had; others have none."""
    known: dict[tuple[str, str, tuple[str, ...]], Node] = {}
    for graph in before:
        scope = graph.scope
        for node in graph.nodes:
            known[scope, node.op, tuple(t.name for t in node.outputs)] = node
    for graph in after:
        scope = graph.scope
        for node in graph.nodes:
            old = known.get((scope, node.op, tuple(t.name for t in node.outputs)))
            node.index = old.index if old is not None else -1
            node.origin = old.origin if old is not None else None
