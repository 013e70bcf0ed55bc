"""Pairs of a model and what a pass does with it, read from text.

`tests/passes/pairs/<pass>.txt` holds them: under a title (``# the exponent must be whole``) any
number of pairs, each a model in the text of ONNX and a line that begins with ``->`` and says what
the pass does: ``refused: <reason>``, ``untouched``, or ``rewritten``. The operators expected
afterwards may follow (``as Mul Sqrt``), and after semicolons tolerances (``rtol 1e-6``), options
(``option NAME=JSON``) and why sizes of 0 and 1 are not tried (``no small sides: <reason>``). A
model without a header is of opset 17. Between the two are the inputs of a rewritten one, one to
a line (``x = float32 [1, 2]``), and what it gives for them (``y == float32 [3] within <rtol>,
<atol>``); an input that is there again begins the next set.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
Array = np.ndarray[Any, Any]
_VALUE = re.compile(
    r"(\S+) (==?) (float(?:16|32|64)|u?int(?:8|16|32|64)|bool|string)(\[[\d,]*\])? "
    r"(.+?)(?: within (\S+), (\S+))?"
)


@dataclass(frozen=True, slots=True)
class Given:
    """Inputs, and what is expected for them: arrays with rtol and atol."""

    inputs: dict[str, Array] = field(default_factory=dict[str, Array])
    outputs: dict[str, tuple[Array, float, float]] = field(
        default_factory=dict[str, tuple[Array, float, float]]
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """One model and what a pass does with it."""

    name: str
    model: str
    given: tuple[Given, ...]
    outcome: str

    def hold(self, declared: str) -> None:
        """Assert that the pass does this."""
        model = self.model if self.model.startswith("<") else HEAD + self.model
        kind, _, reason = self.outcome.partition(": ")
        if kind == "refused":
            assert_refused(declared, model, reason)
        elif self.outcome == "untouched":
            assert_untouched(declared, model)
        else:
            self._rewritten(declared, model)

    def _rewritten(self, declared: str, model: str) -> None:
        first, *rest = self.outcome.split("; ")
        word, _, operators = first.partition(" as ")
        assert word == "rewritten", self.outcome
        more: dict[str, Any] = {"options": {}}
        for text in rest:
            name, _, value = text.partition(" ")
            if name == "option":
                key, _, number = value.partition("=")
                more["options"][key] = json.loads(number)
            elif name == "no":
                more["no_small_sides"] = text.removeprefix("no small sides: ")
            else:
                more[name] = float(value)
        feeds = [given.inputs for given in self.given]
        done = assert_rewrite(
            declared, model, feeds=feeds, after=operators.split() if operators else None, **more
        )
        for given in self.given:
            found = outputs_of(done.after, given.inputs) if given.outputs else {}
            for name, (wanted, rtol, atol) in given.outputs.items():
                actual = np.asarray(found[name])
                assert actual.shape == wanted.shape, name
                if rtol or atol:
                    np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=atol, err_msg=name)
                    continue
                assert actual.dtype == wanted.dtype, name
                np.testing.assert_array_equal(actual, wanted, err_msg=name)


def array_in(kind: str, shape: str | None, numbers: str) -> Array:
    """Return an array of text; the shape is there where a size is 0."""
    array = np.array(json.loads(numbers), object if kind == "string" else kind)
    return array.reshape(json.loads(shape)) if shape else array


def pairs_in(path: Path) -> Iterator[Pair]:
    """Return the pairs of a file.

    Raises:
        ValueError: A pair has no title or no end.
    """
    title, count = "", 0
    model: list[str] = []
    given: list[Given] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        value = _VALUE.fullmatch(line)
        if line.startswith("# "):
            title, count = line[2:], 0
        elif value is not None:
            _add(given, value)
        elif line.startswith("-> "):
            count += 1
            if not title or not model:
                raise ValueError(f"{path}: {line!r} must have a title and a model above it")
            yield Pair(f"{title} ({count})", " ".join(model), tuple(given), line[3:])
            model, given = [], []
        elif line.strip():
            model.append(line.strip())
    if model or given:
        raise ValueError(f"{path}: the last pair must end with a line that begins with '->'")


def _add(given: list[Given], value: re.Match[str]) -> None:
    """Put an input or an output into the last set, or an input into a new one."""
    name, sign, kind, shape, numbers, rtol, atol = value.groups()
    array = array_in(kind, shape, numbers)
    if sign == "==":
        given[-1].outputs[name] = (array, float(rtol or 0), float(atol or 0))
        return
    if not given or name in given[-1].inputs:
        given.append(Given())
    given[-1].inputs[name] = array
