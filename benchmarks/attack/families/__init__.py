"""What is attacked: a family goes for one assumption."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.attack.building import Case
from benchmarks.attack.families import control, edited, forms, overrides, sizes

FAMILIES: dict[str, Callable[[], Iterator[Case]]] = {
    "sizes": sizes.cases,
    "forms": forms.cases,
    "layers": forms.layers,
    "control": control.cases,
    "overrides": overrides.cases,
    "edits": edited.renamed,
    "dynamic": edited.dynamic,
}
