"""Models from files and protos, and back into files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from onnx import ModelProto

from graphfix.errors import InvalidModel, UsageError
from graphfix.ir.model import Model
from graphfix.ir.sorting import first_misplaced, sorted_nodes
from graphfix.ir.storage.reading import check_proto, read_model
from graphfix.pipeline.documented_errors import guarded


@guarded
def load(source: str | Path | ModelProto) -> Model:
    """Load a model from a file, or from a proto (which is copied); external data is not read.

    Raises:
        InvalidModel: It cannot be read or is not a model.
    """
    if not _may_be_model(source):
        raise UsageError(f"a model is a path or a ModelProto, not {type(source).__name__}")
    if isinstance(source, ModelProto):
        copy = ModelProto()
        copy.CopyFrom(source)
        check_proto(copy, "the ModelProto")
        model = Model(copy)
    else:
        read = read_model(Path(source))
        try:
            model = Model(
                read.proto,
                path=read.path,
                sha256=read.sha256,
                size=read.size,
                is_text=read.is_text,
            )
        except InvalidModel as error:
            raise error.at(str(source)) from None
    check_acyclic(model)
    return model


def _may_be_model(source: object) -> bool:
    return isinstance(source, str | PathLike | ModelProto)


def check_acyclic(model: Model) -> None:
    """Check that the nodes of every scope can be put in order.

    Raises:
        InvalidModel: They form a cycle.
    """
    for graph in model.graphs():
        if first_misplaced(graph) is not None:
            try:
                sorted_nodes(graph)
            except InvalidModel as error:
                raise error.at(str(model.path or "")) from None


def as_model(model: Model | str | Path | ModelProto) -> Model:
    """Return an independent model that may be edited."""
    return model.copy() if isinstance(model, Model) else load(model)


@guarded
def save(model: Model, path: str | Path, *, data: str = "keep") -> None:
    """Write a model atomically: the old file or the new one is there at any moment.

    Args:
        model: The model.
        path: The .onnx file to write.
        data: ``keep``, ``copy``, ``link`` or ``inline``, for external data.

    Raises:
        UsageError: The folder is not there, or there is no space for the data.
    """
    from graphfix.ir.storage.saving import save_model

    save_model(model.to_proto(), Path(path), base_dir=model.base_dir, data=data)
