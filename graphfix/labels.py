"""Outputs whose numbers stand for the labels of classes, or whose entries for tensors of a list.

No engine holds texts, nor sequences of tensors or of maps from labels to scores. Where an output
gives the number of a class instead, a column for each class, or an entry for each tensor of a list,
the metadata of the file says so, for whoever runs it and for comparisons.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from onnx import ModelProto

KEY = "graphfix_labels"
Label: TypeAlias = "int | str"


class Labels(Struct, frozen=True):
    """What the numbers, columns or entries of an output stand for.

    Attributes:
        labels: The label of each number or column.
        columns: Whether they belong to columns; to numbers otherwise.
        entries: Whether there are no labels, and the entries along the first axis are the tensors
            of a list.
    """

    labels: tuple[Label, ...]
    columns: bool
    entries: bool = False

    def read(self, array: npt.NDArray[Any]) -> npt.NDArray[Any] | list[Any]:
        """Return what the output stands for; `array` where that does not fit.

        That are texts for numbers, a map for each row of columns, or a list of its entries.
        """
        if self.entries:
            return list(array) if array.ndim else array
        count = len(self.labels)
        if self.columns:
            if array.ndim != 2 or array.shape[1] != count:
                return array
            return [dict(zip(self.labels, row, strict=True)) for row in array]
        if array.size and not 0 <= int(array.min()) <= int(array.max()) < count:
            return array
        texts: npt.NDArray[Any] = np.array(self.labels, object)[array]
        return texts


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
    for entry in model.metadata_props:
        if entry.key == KEY:
            names = {output.name for output in model.graph.output}
            return {n: of for n, of in read_labels(entry.value).items() if n in names}
    return {}
