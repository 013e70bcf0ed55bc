"""Load a model in the first engine that takes it.

onnxruntime is first because the reference evaluator ignores the old semantics of some operators
(Softmax before opset 13). Where onnxruntime lacks single operators, the model is run in pieces
(`graphfix.proving.runners.pieces`); only what cannot be cut is left to the reference evaluator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import overload

import onnx
from msgspec import Struct, field
from msgspec.structs import replace

from graphfix.errors import EngineFailed
from graphfix.ir.protos import normal_domain
from graphfix.proving.runners.engine import Engine, MissingOperator, Watched
from graphfix.proving.runners.evaluators import Evaluators, OpKey, operators_of
from graphfix.proving.runners.ort_engine import OrtEngine, TooNew
from graphfix.proving.runners.profiled_engine import ProfiledEngine
from graphfix.proving.runners.reference_engine import ReferenceEngine
from graphfix.proving.runners.texts import GATHER, gathers_texts
from graphfix.proving.runners.turns import Turns

# onnxruntime computes these by their function body in ONNX, which says another thing than their
# page: Bernoulli gives 1 with probability 1 - p.
_MISREAD = frozenset({("", "Bernoulli")})
# External tensors past this many bytes together are not read to be changed.
_MOST_EXTERNAL = 256 * 2**20


class RunnableModel(Struct, frozen=True):
    """A model, and what it takes to run it.

    Attributes:
        proto: The model, its external data unread.
        folder: Where its external data lies.
        evaluators: Numpy models of operators that no engine has.
        turns: Lets it take turns with other models, its external data mapped from the file.
    """

    proto: onnx.ModelProto
    folder: str = ""
    evaluators: Evaluators = field(default_factory=lambda: Evaluators({}))
    turns: Turns | None = None

    @property
    def most_changed(self) -> int:
        """How many bytes of external weights a changed copy may hold."""
        return _MOST_EXTERNAL if self.turns is None else self.turns.changes

    def of(self, proto: onnx.ModelProto) -> RunnableModel:
        """Return another model that is run in the same way."""
        return replace(self, proto=proto)

    def open(self) -> Engine:
        """Load it.

        Raises:
            EngineFailed: No engine takes it; the text is that of the most telling one.
        """
        if self.turns is not None:
            return self.turns.open(lambda: _opened(self, mapped=True))
        return _opened(self)

    def open_watched(self, scratch: Path) -> Watched:
        """Load it in the same engine, which can be asked what it is at.

        Args:
            scratch: A folder for what is noted meanwhile.

        Raises:
            EngineFailed: As `open`.
        """
        return _opened(self, mapped=self.turns is not None, scratch=scratch)

    def open_optimised(self) -> Engine:
        """Load it in onnxruntime alone, which may rewrite the graph.

        Raises:
            EngineFailed: onnxruntime does not take it.
        """
        if self.turns is None:
            return OrtEngine(self.proto, self.folder, optimised=True)
        return self.turns.open(
            lambda: OrtEngine(self.proto, self.folder, optimised=True, mapped=True)
        )

    def open_reference(self) -> Watched:
        """Load it in the reference evaluator.

        Raises:
            EngineFailed: That does not take it.
        """
        return ReferenceEngine(self.proto, self.folder, self.evaluators)


@overload
def _opened(model: RunnableModel, *, mapped: bool = False, scratch: Path) -> Watched: ...
@overload
def _opened(model: RunnableModel, *, mapped: bool = False) -> Engine: ...
def _opened(model: RunnableModel, *, mapped: bool = False, scratch: Path | None = None) -> Engine:
    # What a function of the model is called is onnxruntime's to read: some it has kernels for.
    own = {(normal_domain(f.domain), f.name) for f in model.proto.functions}
    operators = operators_of(model.proto) - own
    foreign = {key for key in operators if key in model.evaluators or key in _MISREAD}
    if GATHER in operators and gathers_texts(model.proto):
        foreign.add(GATHER)
    in_pieces = partial(_in_pieces, model, mapped=mapped, scratch=scratch)
    if foreign:
        return _first(lambda: in_pieces(foreign), model.open_reference)
    try:
        if scratch is not None:
            return ProfiledEngine(model.proto, model.folder, scratch, mapped=mapped)
        return OrtEngine(model.proto, model.folder, mapped=mapped)
    except MissingOperator as error:
        key = error.key
        return _first(lambda: in_pieces({key}), model.open_reference, reported=error)
    except TooNew as error:
        lowered = model.of(error.lowered)
        if scratch is not None:
            return _opened(lowered, mapped=mapped, scratch=scratch)
        return _opened(lowered, mapped=mapped)
    except EngineFailed as error:
        return _first(model.open_reference, reported=error)


def _in_pieces(
    model: RunnableModel, foreign: set[OpKey], *, mapped: bool, scratch: Path | None
) -> Watched:
    from graphfix.proving.runners.pieces import PiecewiseEngine  # few models need it

    return PiecewiseEngine(
        model.proto, model.folder, model.evaluators, foreign, mapped=mapped, scratch=scratch
    )


def _first(*openers: Callable[[], Watched], reported: EngineFailed | None = None) -> Watched:
    for opener in openers:
        try:
            return opener()
        except EngineFailed as error:
            reported = reported or error
    raise reported or EngineFailed("no engine")
