"""What is attacked: a family goes for one assumption."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from benchmarks.attack.building import Case
from benchmarks.attack.families import (
    casts,
    control,
    edited,
    forms,
    items,
    overrides,
    quantized,
    sequences,
    sizes,
    written,
)

FAMILIES: dict[str, Callable[[], Iterator[Case]]] = {
    "sizes": sizes.cases,
    "forms": forms.cases,
    "layers": forms.layers,
    "casts": casts.cases,
    "quantized": quantized.cases,
    "ranks": forms.ranks,
    "control": control.cases,
    "sequences": sequences.cases,
    "overrides": overrides.cases,
    "written": written.cases,
    "edits": edited.renamed,
    "dynamic": lambda: chain(edited.dynamic(), items.cases()),
}
