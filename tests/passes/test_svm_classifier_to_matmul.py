"""svm-classifier-to-matmul: pairs of classes, their votes and probabilities."""

import random
from typing import Any

import onnx
import pytest
from onnx import TensorProto

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.ml_models import model_of, rows

PASS = "svm-classifier-to-matmul"


def classifier(classes: int, kernel: str = "RBF", **changes: Any) -> onnx.ModelProto:
    rng = random.Random(classes)
    pairs = classes * (classes - 1) // 2
    per_class = [1 + at % 2 for at in range(classes)]
    count = sum(per_class)

    def drawn(number: int) -> list[float]:
        return [rng.uniform(-1.5, 1.5) for _ in range(number)]

    attributes: dict[str, Any] = {
        "kernel_type": kernel,
        "kernel_params": [0.5, 0.25, 2.0],
        "vectors_per_class": per_class,
        "support_vectors": drawn(count * 3),
        "coefficients": drawn(count * (classes - 1)),
        "rho": drawn(pairs),
        "classlabels_ints": [*range(5, 5 + classes)],
    }
    if changes.pop("proba", False):
        attributes |= {"prob_a": drawn(pairs), "prob_b": drawn(pairs)}
    return model_of("SVMClassifier", ["N", 3], label=TensorProto.INT64, **attributes | changes)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_votes_and_scores(kernel: str, classes: int) -> None:
    assert_rewrite(PASS, classifier(classes, kernel), feeds=[{"x": rows()}], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("classes", "accuracy"), [(2, "exact"), (3, "approximate")])
def test_probabilities(classes: int, accuracy: str) -> None:
    model = classifier(classes, proba=True)
    done = assert_rewrite(PASS, model, feeds=[{"x": rows()}], rtol=1e-5, atol=1e-5)
    assert [str(site.accuracy) for outcome in done.outcomes for site in outcome.sites] == [accuracy]


def test_the_sum_of_two_classes_is_not_rounded_at_the_size_of_one() -> None:
    """Class by class the sum of 60 vectors of each rises to 50 and falls: 1.1e-5 is lost there."""
    rng = random.Random(7)
    per_class = [60, 60]
    model = classifier(
        2,
        vectors_per_class=per_class,
        support_vectors=[rng.uniform(-1, 1) for _ in range(360)],
        coefficients=[-1.0] * 60 + [1.0] * 60,
    )
    assert_rewrite(PASS, model, feeds=[{"x": rows() / 8}], rtol=0, atol=1.2e-6)


def test_refusals() -> None:
    assert_refused(
        PASS, classifier(3, post_transform="SOFTMAX"), "post_transform must be NONE; it is SOFTMAX"
    )
    assert_refused(PASS, classifier(3, rho=[1.0]), "must be rho for each of 3 pairs; there are 1")
    assert_refused(PASS, classifier(3, coefficients=[1.0]), "must be 8 coefficients; there are 1")
    assert_refused(PASS, classifier(3, vectors_per_class=[4]), "for each of 3 classes")
