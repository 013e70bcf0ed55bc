"""What a form computes.

onnxruntime's own kernel says it; where it has none on a CPU, the numpy model of the pass that
replaces the operator does, which is written from the operator's page. What neither knows has no
expectation: nothing replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.coverage.contrib.form import Form
from benchmarks.opset.comparison import run as run_in_onnxruntime
from graphfix.analysis.saturation import unsaturated
from graphfix.authoring.registry import shipped_passes
from graphfix.errors import EngineFailed
from graphfix.proving.runners.evaluators import GivenEvaluators
from graphfix.proving.runners.reference_engine import ReferenceEngine

Array = np.ndarray[Any, Any]


def expected_of(form: Form) -> Sequence[Array]:
    """Return what a form computes; nothing where neither a kernel nor a numpy model is there.

    Raises:
        ValueError: onnxruntime has a kernel, and refuses the form.
    """
    if form.same_as is not None:
        return expected_of(form.same_as)
    if not form.runs:
        return ()
    model, feed = form.model(), form.feed()
    try:
        return tuple(map(np.asarray, run_in_onnxruntime(unsaturated(model), feed)))
    except Exception as error:  # onnxruntime's exceptions have no common base
        if "NOT_IMPLEMENTED" not in str(error) and "NotImplemented" not in type(error).__name__:
            raise ValueError(f"{form.operator} {form.name}: {error}") from error
    key = (form.domain, form.operator)
    known = (declared.evaluate for declared in shipped_passes() if key in declared.matches)
    evaluate = next((function for function in known if function is not None), None)
    if evaluate is None:
        return ()
    engine = ReferenceEngine(model, "", GivenEvaluators({key: evaluate}))
    try:
        return tuple(np.asarray(result) for result in engine.run(dict[str, Any](feed)).values())
    except EngineFailed:  # the numpy model lacks an output
        return ()
