"""A network of the corpus, and what edits find in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from onnx import TensorProto, TypeProto, helper

from graphfix import edits
from graphfix.edits.step import Subject
from graphfix.errors import UsageError
from graphfix.ir.protos import names_read, required_inputs
from graphfix.pipeline.model_files import load

_MIDDLE = 0.5
_MOST_TRIED = 60
_MOST_ADDED = 5  # times that a cut is widened


class Network:
    """A network, and what edits find in it."""

    def __init__(self, path: Path, folder: Path) -> None:
        """Read a model; models that are joined to it are written to `folder`."""
        self.model = load(path)
        self.proto = self.model.to_proto()
        self.subject = Subject(self.proto, self.model.base_dir)
        self.folder = folder
        self.inputs = required_inputs(self.proto.graph)
        self.outputs = list(self.proto.graph.output)

    def middle(self) -> str:
        """Return a float that is computed from an input, in the middle of the nodes."""
        return next(iter(self._inner()), "")

    def cut(self) -> edits.Split | None:
        """Return a cut in the middle; None where a few tensors are not enough."""
        paths = (self.folder / "front.onnx", self.folder / "back.onnx")
        for name in self._inner()[:_MOST_TRIED]:
            names: tuple[str, ...] = (name,)
            for _ in range(_MOST_ADDED):
                try:
                    edits.edit(self.model, [found := edits.Split(names, *paths)], verify="off")
                except UsageError as error:
                    names = tuple(error.hint.removeprefix("cut at ").split(","))
                    if not error.hint.startswith("cut at "):
                        break
                else:
                    return found
        return None

    def part(self) -> edits.Extract | None:
        """Return what computes the tensor in the middle from the inputs."""
        name = self.middle()
        if not name:
            return None
        wanted = {name}
        for node in reversed(self.proto.graph.node):
            if wanted.intersection(node.output):
                wanted.update(names_read(node))
        read = {info.name for info in self.inputs} & wanted
        return edits.Extract(tuple(sorted(read)), (name,))

    def _inner(self) -> list[str]:
        """Return the floats that are computed from an input, those in the middle first."""
        nodes, fed = self.proto.graph.node, {info.name for info in self.inputs}
        for node in nodes:
            if fed.intersection(names_read(node)):
                fed.update(node.output)
        order = sorted(range(len(nodes)), key=lambda i: abs(i - _MIDDLE * len(nodes)))
        ends = {info.name for info in self.outputs}
        names = [nodes[i].output[0] for i in order]
        return [n for n in names if n in fed and n not in ends and self.is_float(n)]

    def is_float(self, name: str) -> bool:
        """Say whether a tensor is known to be of float32."""
        known = self.subject.inferred.get(name)
        return known is not None and known.tensor_type.elem_type == TensorProto.FLOAT

    def possible(self, edit: edits.Edit) -> bool:
        """Say whether an edit can be done here."""
        try:
            edits.edit(self.model, [edit], verify="off")
        except UsageError:
            return False
        return True

    def first_possible(self, candidates: Iterable[edits.Edit]) -> edits.Edit | None:
        """Return the first edit that can be done here."""
        for number, each in enumerate(candidates):
            if number < _MOST_TRIED and self.possible(each):
                return each
        return None

    def helper_model(self, name: str, kind: TypeProto, op: str) -> Path:
        """Write a model of one node with an input ``from`` and an output ``to`` of one type."""
        path = self.folder / f"{name}.onnx"
        ends = [helper.make_value_info(end, kind) for end in ("from", "to")]
        graph = helper.make_graph(
            [helper.make_node(op, ["from"], ["to"])], name, ends[:1], ends[1:]
        )
        imports = [e for e in self.proto.opset_import if e.domain in ("", "ai.onnx")]
        made = helper.make_model(graph, opset_imports=imports, ir_version=self.proto.ir_version)
        path.write_bytes(made.SerializeToString())
        return path
