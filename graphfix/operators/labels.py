"""Inputs and outputs whose numbers stand for texts, or whose entries for tensors of a list.

No engine holds texts, nor sequences of tensors or of maps from labels to scores. Where an output
gives the number of a class instead, a column for each class, or an entry for each tensor of a list,
or an input takes the number of a text, the metadata of the file says so, for whoever runs it and
for comparisons.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from onnx import ModelProto

KEY = "graphfix_labels"
Label: TypeAlias = "int | str"


class Labels(Struct, frozen=True):
    """What the numbers, columns or entries of an output, or the values of an input, stand for.

    Attributes:
        labels: The label of each number or column.
        columns: Whether they belong to columns; to numbers otherwise.
        entries: Whether there are no labels, and the entries along the first axis are the tensors
            of a list.
    """

    labels: tuple[Label, ...]
    columns: bool
    entries: bool = False

    def read(
        self, array: npt.NDArray[Any], others: Sequence[str] = ()
    ) -> npt.NDArray[Any] | list[Any]:
        """Return what the output stands for; `array` where that does not fit.

        That are texts for numbers, a map for each row of columns, or a list of its entries.

        Args:
            array: The output.
            others: The texts of the numbers after those of the labels.
        """
        if self.entries:
            return list(array) if array.ndim else array
        count = len(self.labels)
        if self.columns:
            if array.ndim != 2 or array.shape[1] != count:
                return array
            return [dict(zip(self.labels, row, strict=True)) for row in array]
        known = np.array([*self.labels, *others], object)
        if array.size and not 0 <= int(array.min()) <= int(array.max()) < len(known):
            return array
        return np.asarray(known[array], object)  # one of a scalar is no array

    def write(self, texts: npt.NDArray[Any], others: dict[str, int]) -> npt.NDArray[np.int64]:
        """Return the numbers of texts.

        Args:
            texts: What an input was given before.
            others: The texts that are no labels, in the order in which they came; those of
                `texts` join them. Their numbers are after those of the labels.
        """
        known = {str(label): number for number, label in enumerate(self.labels)}
        found = [
            known[text] if text in known else len(known) + others.setdefault(text, len(others))
            for text in map(str, texts.flat)
        ]
        return np.array(found, np.int64).reshape(texts.shape)


def write_labels(known: Mapping[str, Labels]) -> str:
    """Return the text for the metadata of the file."""
    return json.dumps(
        {name: {_kind_of(of): of.labels} for name, of in known.items()}, sort_keys=True
    )


def _kind_of(labels: Labels) -> str:
    if labels.entries:
        return "entries"
    return "columns" if labels.columns else "numbers"


def read_labels(text: str) -> dict[str, Labels]:
    """Return what `write_labels` wrote, by output; empty for any other text."""
    try:
        found: Any = json.loads(text)
        entries = [(name, kind, of) for name, each in found.items() for kind, of in each.items()]
        return {
            name: Labels(tuple(of), kind == "columns", kind == "entries")
            for name, kind, of in entries
            if kind in ("columns", "numbers", "entries")
            and all(isinstance(one, int | str) for one in of)
        }
    except (ValueError, TypeError, AttributeError):
        return {}


def labelled_outputs(model: ModelProto) -> dict[str, Labels]:
    """Return the outputs of a model whose numbers stand for labels, by name."""
    return _labelled(model, (output.name for output in model.graph.output))


def labelled_inputs(model: ModelProto) -> dict[str, Labels]:
    """Return the inputs of a model whose numbers stand for texts, by name."""
    return _labelled(model, (given.name for given in model.graph.input))


def _labelled(model: ModelProto, ends: Iterable[str]) -> dict[str, Labels]:
    for entry in model.metadata_props:
        if entry.key == KEY:
            names = set(ends)
            return {n: of for n, of in read_labels(entry.value).items() if n in names}
    return {}
