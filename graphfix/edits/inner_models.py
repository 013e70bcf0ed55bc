"""A model from a file that becomes nodes of another one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from onnx import ModelProto, NodeProto, ValueInfoProto

from graphfix.edits.merging import (
    add_functions,
    add_imports,
    at_opset,
    check_imports,
    taken_in,
    unique_names,
)
from graphfix.edits.outside import run_of
from graphfix.edits.renaming import rename_ends
from graphfix.edits.step import Subject
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import copied, let_store, required_inputs
from graphfix.pipeline.model_files import load


class InnerModel:
    """The model of a file, to be put into another one, any number of times.

    Attributes:
        inputs: What it is fed with.
        outputs: What it gives.
        next to: Models that a proof needs as files, by the path that stands for them.
    """

    def __init__(
        self, path: Path, subject: Subject, opset: int, where: str, called: Model | None = None
    ) -> None:
        """Read the file.

        Args:
            path: The file.
            subject: The model that it becomes part of.
            opset: The opset of that.
            where: What asks for it.
            called: What calls the function that the file holds; None where it holds a model.

        Raises:
            UsageError: Its opset cannot be brought to that of the model, or what it takes or
                gives is no tensor.
        """
        self._path, self._where = path, where
        self._model = called if called is not None else load(path)
        # In a proof it is a file of its own.
        self.adjacent: dict[str, ModelProto] = {}
        if called is not None:
            self.adjacent[str(path.absolute())] = called.to_proto()
        proto = at_opset(self._model, opset, where)
        self._proto = taken_in(proto, self._model.base_dir, subject.base_dir)
        check_imports(subject.proto, self._proto, where)
        self.inputs: list[ValueInfoProto] = required_inputs(self._proto.graph)
        self.outputs: list[ValueInfoProto] = list(self._proto.graph.output)
        for info in (*self.inputs, *self.outputs):
            if info.type.WhichOneof("value") != "tensor_type":
                raise UsageError(f"{info.name!r} of {path} is no tensor", where=where)

    def put_into(
        self, proto: ModelProto, fed: Sequence[str], read: Sequence[str]
    ) -> list[NodeProto]:
        """Add what its nodes need to a model, and return them.

        Args:
            proto: The model, changed in place.
            fed: What its inputs are there.
            read: What its outputs are called there; empty for those that no one needs.
        """
        theirs = copied(self._proto)
        names = unique_names(theirs, proto, read=[name for name in read if name])
        wires = {
            names.get(info.name, info.name): name
            for infos, given in ((self.inputs, fed), (self.outputs, read))
            for info, name in zip(infos, given, strict=False)
            if name
        }
        rename_ends(theirs, wires)
        graph = proto.graph
        graph.initializer.extend(theirs.graph.initializer)
        graph.sparse_initializer.extend(theirs.graph.sparse_initializer)
        graph.quantization_annotation.extend(theirs.graph.quantization_annotation)
        if theirs.graph.initializer:
            let_store(proto)
        add_functions(proto, theirs)
        add_imports(proto, theirs)
        return [copied(node) for node in theirs.graph.node]

    def outside(self, fed: Sequence[str], read: Sequence[str]) -> NodeProto:
        """Return the node that runs the file in a proof."""
        pairs = [(i.name, name) for i, name in zip(self.outputs, read, strict=False) if name]
        names = ([info.name for info in self.inputs], [name for name, _ in pairs])
        return run_of(self._path, self._model, names, fed, [name for _, name in pairs])
