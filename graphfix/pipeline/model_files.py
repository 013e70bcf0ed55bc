"""Models from files and protos, and back; what reading raises becomes a documented error.

A file that no one vouches for may make numpy, protobuf, onnx and our own code raise whatever they
like. What says by its kind that the file asks for too much, or cannot be read, is `InvalidModel`.
Everything else is a fault of ours, unless the ONNX checker refuses the model as well: no one has
promised anything for what is no ONNX model. This is the one place where that is decided.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import ParamSpec, TypeVar

import onnx
from google.protobuf.message import DecodeError, EncodeError
from onnx import ModelProto, NodeProto

from graphfix.errors import GraphfixError, InvalidModel, PassBug, UsageError
from graphfix.ir.graph import Node
from graphfix.ir.importing import first_misplaced, sorted_nodes
from graphfix.ir.model import Model
from graphfix.ir.protos import called
from graphfix.ir.storage.reading import check_proto, read_model
from graphfix.ir.views import NodeView

P = ParamSpec("P")
R = TypeVar("R")
_TOO_MUCH = (MemoryError, RecursionError, DecodeError, EncodeError)


def guarded(function: Callable[P, R]) -> Callable[P, R]:
    """Let only documented errors leave a function whose first argument is a model or its path."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given = signature.bind(*args, **kwargs)  # what does not fit is the caller's TypeError
        with documented(next(iter(given.arguments.values()), None)):
            return function(*args, **kwargs)

    return call


@contextmanager
def documented(model: object) -> Generator[None]:
    """Turn what interpreting `model` raises into the errors that graphfix documents.

    Args:
        model: What was given: a path, a proto, a loaded model, or a request with one in `model`.

    Raises:
        InvalidModel: The model asks for too much, or is one that the ONNX checker refuses.
        UsageError: A file cannot be read or written.
        PassBug: Everything else; the exception is its cause.
    """
    try:
        yield
    except (GraphfixError, PassBug):
        raise
    except _TOO_MUCH as error:
        node = _node_of(error)
        said = _too_much(error) + (f", at {node}" if node else "")
        raise InvalidModel(said, where=_place(model)) from error
    except OSError as error:
        said = error.strerror or str(error)
        raise UsageError(said, where=str(error.filename or _place(model))) from error
    except Exception as error:
        complaint = _complaint(model)
        if complaint:
            raise InvalidModel(
                f"not a valid ONNX model: {complaint}",
                where=_place(model),
                hint=f"what stopped the work is {type(error).__name__}: {error}",
            ) from error
        raise PassBug(f"{type(error).__name__}: {error}") from error


def _too_much(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "takes more memory than there is"
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    return f"cannot be read or written as protobuf: {error}"


def _node_of(error: BaseException) -> str:
    """Return the node that the innermost call which has one was about; empty if none has."""
    found: NodeProto | Node | None = None
    frame = error.__traceback__
    while frame is not None:
        for value in frame.tb_frame.f_locals.values():
            if isinstance(value, NodeView):
                found = value.node
            elif isinstance(value, NodeProto | Node):
                found = value
        frame = frame.tb_next
    if found is None:
        return ""
    if isinstance(found, Node):
        return called(found.op, found.name, (tensor.name for tensor in found.outputs))
    return called(found.op_type, found.name, found.output)


def _place(model: object) -> str:
    inner = getattr(model, "model", model)
    if isinstance(inner, Model):
        return str(inner.path or "the model")
    return str(inner) if isinstance(inner, str | Path) else "the model"


def _complaint(model: object) -> str:
    """Return what the ONNX checker says of a model; empty where it is content or cannot tell."""
    inner = getattr(model, "model", model)
    try:
        if isinstance(inner, str | Path):
            if Path(inner).is_dir():  # of a reproducer
                return ""
            proto = read_model(Path(inner)).proto
        elif isinstance(inner, Model):
            proto = inner.proto
        elif isinstance(inner, ModelProto):
            proto = inner
        else:
            return ""
    except GraphfixError as error:
        return error.message
    try:
        onnx.checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    except MemoryError:
        return ""
    except Exception as error:  # whatever it raises, it is not content
        return (str(error).strip() or type(error).__name__).partition("\n")[0]
    return ""


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
