"""Load models so that they fit into memory: all at once, or one after the other, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from onnx import ModelProto

from graphfix.errors import InvalidModel
from graphfix.ir.storage.reading import is_text, parse_text
from graphfix.proving.runners.evaluators import COPIES, Evaluators, weight_bytes
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.runners.outside_weights import bytes_inside, outlined
from graphfix.proving.runners.turns import Turns
from graphfix.worker.limits import gibibytes

# What takes turns is held once, and once more while it is read from its file.
IN_TURN = 2
# From here on models take turns wherever there is memory, so that verdicts do not depend on it;
# to map weights is faster than to copy them, too.
BIG = 2**29
# A changed copy of a model is held about so many times, while it is made and in the engine.
_CHANGED_COPIES = 16
_MOST_CHANGED = 2**28


def load(
    paths: Sequence[Path],
    evaluators: Evaluators,
    limit: int | None,
    scratch: Path,
    *,
    at_once: bool = False,
) -> list[RunnableModel] | str:
    """Read models without their external data; weights inside big ones move to a file.

    Args:
        paths: The files.
        evaluators: Numpy models of operators that no engine has.
        limit: The bytes of memory that may be taken; None where no one says.
        scratch: A folder for files, which has to be there as long as the models are in use.
        at_once: Never let them take turns.

    Returns:
        The models in the order of the files, or what is missing, with figures.

    Raises:
        InvalidModel: A file is missing or not a model.
    """
    files = [path.stat().st_size if path.is_file() else 0 for path in paths]
    short = _short(files, 0, limit, at_once=at_once)
    if short:
        return short
    turning = not at_once and _take_turns(files, limit)
    found = [_read(path, scratch if turning else None) for path in paths]
    sizes = [weight_bytes(model) for model, _ in found]
    if not at_once and not turning and _take_turns(sizes, limit):
        turning = True
        found = [outlined(model, scratch) or (model, folder) for model, folder in found]
    stuck = sum(bytes_inside(model) for model, _ in found) if turning else 0
    short = _short(sizes, stuck, limit, at_once=at_once)
    if short:
        return short
    turns = Turns(_changes(sizes, limit)) if turning else None
    return [RunnableModel(model, folder, evaluators, turns) for model, folder in found]


def read_model(path: Path) -> ModelProto:
    """Read a model without its external data.

    Raises:
        InvalidModel: The file is missing or not a model.
    """
    try:
        raw = path.read_bytes()
        model = parse_text(raw, str(path)) if is_text(raw) else ModelProto.FromString(raw)
    except InvalidModel:
        raise
    except Exception as error:  # protobuf's and the file system's errors alike
        raise InvalidModel(f"is not a model: {error}", where=str(path)) from None
    if not model.HasField("graph"):
        raise InvalidModel("is not a model: it has no graph", where=str(path))
    return model


def _read(path: Path, scratch: Path | None) -> tuple[ModelProto, str]:
    model = read_model(path)
    moved = outlined(model, scratch) if scratch is not None else None
    return moved or (model, str(path.parent))


def _take_turns(sizes: Sequence[int], limit: int | None) -> bool:
    too_big_together = limit is not None and COPIES * sum(sizes) > limit
    return too_big_together or max(sizes) >= BIG


def _short(sizes: Sequence[int], stuck: int, limit: int | None, *, at_once: bool) -> str:
    """Say what is missing; `stuck` are those bytes that could not move to a file."""
    needed = COPIES * sum(sizes)
    if not at_once:
        needed = min(needed, IN_TURN * max(sizes) + COPIES * stuck)
    if limit is None or needed <= limit:
        return ""
    return f"needs {gibibytes(needed)}, {gibibytes(limit)} available"


def _changes(sizes: Sequence[int], limit: int | None) -> int:
    """Return how many bytes of weights a changed copy may hold."""
    if limit is None:
        return _MOST_CHANGED
    return min(_MOST_CHANGED, (limit - max(sizes)) // _CHANGED_COPIES)
