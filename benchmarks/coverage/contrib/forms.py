"""All forms of all operators of com.microsoft."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.coverage.contrib import (
    activations,
    attention,
    images,
    indexing,
    language,
    layers,
    normalization,
    quantized,
    weights,
)
from benchmarks.coverage.contrib.form import Form

_GROUPS = (
    activations.forms,
    attention.forms,
    images.forms,
    indexing.forms,
    language.forms,
    layers.forms,
    normalization.forms,
    quantized.forms,
    weights.forms,
)


def forms() -> Iterator[Form]:
    """Yield every form."""
    for group in _GROUPS:
        yield from group()
