"""Every operator of com.microsoft that onnxruntime registers, in the forms that files have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.coverage.cases import Case
from benchmarks.coverage.contrib.forms import forms
from benchmarks.coverage.contrib.registered import read
from benchmarks.coverage.contrib.results import expected_of

TITLE = "Operators of com.microsoft"
PAGE = "coverage-contrib.md"
ABOUT = """The list is `benchmarks/coverage/contrib.json`: every operator of com.microsoft that the
installed onnxruntime registers (`python -m benchmarks.coverage.contrib.registered` writes it), and
SimplifiedLayerNormalization, which it has in the default domain. Forms are models of one node.
What is right is what onnxruntime's own kernel for CPUs gives for the model as it is; where it has
none, the numpy model of the pass that replaces the operator, written from the operator's page
(docs/ContribOperators.md of microsoft/onnxruntime). What neither computes has to be refused."""


def entries() -> Mapping[str, str]:
    """Return every operator; each has a case."""
    return dict.fromkeys((f"{name}-1" for name in sorted({*read(), *_OWN})), "")


# Operators of onnxruntime that it has in the default domain.
_OWN = ("SimplifiedLayerNormalization",)


def cases() -> Iterator[Case]:
    """Yield the forms of every operator."""
    for form in forms():
        yield Case(
            f"{form.operator}-1",
            form.name,
            form.model().SerializeToString(),
            form.feed(),
            expected_of(form),
        )
