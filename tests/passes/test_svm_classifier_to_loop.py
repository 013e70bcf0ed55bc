"""svm-classifier-to-loop: probabilities of classes in as many rounds as onnxruntime does."""

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.ml_models import rows
from tests.passes.test_svm_classifier_to_matmul import classifier

PASS = "svm-classifier-to-loop"


@pytest.mark.parametrize("classes", [3, 5])
@pytest.mark.parametrize("kernel", ["LINEAR", "RBF"])
def test_probabilities_of_classes(kernel: str, classes: int) -> None:
    model = classifier(classes, kernel, proba=True)
    many = np.concatenate([rows(), 3 * rows()[::-1]])
    feeds = [{"x": rows()}, {"x": many}, {"x": rows()[:0]}]
    done = assert_rewrite(PASS, model, feeds=feeds, rtol=1e-5, atol=1e-5)
    assert [str(site.accuracy) for outcome in done.outcomes for site in outcome.sites] == ["exact"]
    assert "Loop" in {node.op_type for node in done.after.graph.node}


def test_others_are_refused() -> None:
    reason = "there must be probabilities of three classes or more; there are none"
    assert_refused(PASS, classifier(3), reason)
    assert_refused(PASS, classifier(2, proba=True), reason)
