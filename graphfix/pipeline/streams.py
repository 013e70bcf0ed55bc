"""Models that come from standard input and go to standard output: ``-`` in the place of a file."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from graphfix.errors import InvalidModel, UsageError
from graphfix.ir.model import Model
from graphfix.ir.storage.reading import MAX_BYTES, is_text, parse_model, walk_tensors
from graphfix.ir.storage.weights import is_external
from graphfix.pipeline.model_files import check_acyclic, save

STANDARD = Path("-")
INPUT = "standard input"
OUTPUT = "standard output"


def model_of_stream(raw: bytes) -> Model:
    """Return the model that came from standard input.

    Raises:
        InvalidModel: It is empty, bigger than ONNX allows, or no model.
        UsageError: It has weights in a file of their own, which has no folder here.
    """
    if len(raw) > MAX_BYTES:
        raise InvalidModel(
            f"has {len(raw):,} bytes, and no ONNX file can have more than 2 GiB", where=INPUT
        )
    proto = parse_model(raw, INPUT)
    if any(is_external(tensor) for tensor in walk_tensors(proto)):
        raise UsageError(
            "the model has weights in a data file, and standard input has no folder to find it in",
            where=INPUT,
            hint="give the path of the file",
        )
    try:
        model = Model(
            proto, sha256=hashlib.sha256(raw).hexdigest(), size=len(raw), is_text=is_text(raw)
        )
        check_acyclic(model)
    except InvalidModel as error:
        raise error.at(INPUT) from None
    return model


def check_stream_output(model: Model, data: str) -> None:
    """Check that a result fits into one stream.

    Raises:
        UsageError: It has weights in a file of their own, and they are not to be taken in.
    """
    if model.has_external_data() and data != "inline":
        raise UsageError(
            "the model has weights in a data file, which standard output cannot carry",
            where="-o -",
            hint="take them in with --data inline, or give -o OUT.onnx",
        )


def bytes_of(model: Model, data: str) -> bytes:
    """Return a model as the one file that `save` would write.

    Raises:
        UsageError: It cannot be written as one file, which takes 2 GiB at most.
    """
    with tempfile.TemporaryDirectory(prefix="graphfix-stream-") as folder:
        path = Path(folder) / "model.onnx"
        save(model, path, data=data)
        if sum(1 for _ in Path(folder).iterdir()) > 1:
            raise UsageError(
                "the result needs a data file next to it, which standard output cannot carry",
                where="-o -",
                hint="give -o OUT.onnx",
            )
        return path.read_bytes()
