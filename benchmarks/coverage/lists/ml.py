"""Every operator of ai.onnx.ml, by the schemas of the installed onnx."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import onnx

from benchmarks.coverage.cases import Case
from benchmarks.coverage.lists.ml_forms import forms
from benchmarks.opset.comparison import run

TITLE = "Operators of ai.onnx.ml"
PAGE = "coverage-ml.md"
ABOUT = """The list is every operator of the domain that the installed onnx has a schema of. Forms
are models of one or two nodes in the layouts of skl2onnx, onnxmltools and sparkml, drawn by a seed;
what is right is what onnxruntime computes of the model as it is. A text or a map that an engine
cannot hold is refused, or given as the number of its class or as columns by consent, which is read
back by the labels in the metadata and compared."""
_DOMAIN = "ai.onnx.ml"


def entries() -> Mapping[str, str]:
    """Return every operator."""
    schemas = onnx.defs.get_all_schemas_with_history()
    return dict.fromkeys(sorted({s.name for s in schemas if s.domain == _DOMAIN}), "")


def cases() -> Iterator[Case]:
    """Yield the forms, with what onnxruntime computes of them."""
    checker: Any = onnx.checker
    for form in forms():
        checker.check_model(form.model)
        expected = run(form.model, form.feed)
        yield Case(form.entry, form.form, form.model.SerializeToString(), form.feed, expected)
