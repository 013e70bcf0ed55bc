"""What a mutant is: wrong code, and the model and inputs at which it shows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto, parser

Feed = dict[str, Any]
HEAD = '<ir_version: 8, opset_import: ["" : 18]> '
# Next to powers of two up to 2^16, numbers of the models, and sizes between.
SIZES = (1, 2, 5, 6, 7, 8, 76, 77, 78, 100, 127, 128, 129, 153, 154, 155, 255, 256, 257, 999, 1000,
         1001, 2048, 2049, 5000, 32767, 32768, 32769, 65535, 65536, 65537)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """Wrong code.

    Attributes:
        kind: What is wrong, for the table.
        text: What it does.
        model: A model that shows it.
        passes: Wrong passes to run; empty where the usual ones are, in a wrong state.
        state: Enters the wrong state.
        overrides: Values for `w` that callers may give.
    """

    kind: str
    text: str
    model: str
    passes: tuple[Any, ...] = ()
    state: Callable[[], AbstractContextManager[Any]] = field(default=nullcontext)
    overrides: tuple[Any, ...] = ()

    def proto(self) -> ModelProto:
        """Return the model."""
        return parser.parse_model(HEAD + self.model)

    def feeds(self) -> list[Feed]:
        """Return the inputs to judge on."""
        if self.overrides:
            x = np.arange(1, 7, dtype=np.float32)
            return [{"x": x}, *({"x": x, "w": value} for value in self.overrides)]
        return [{"x": np.arange(1, n + 1, dtype=np.float32)} for n in SIZES]
