"""repeated-opset-import: one domain, imported in two versions."""

import pytest
from onnx import ModelProto

from graphfix.report import Status
from graphfix.testing import run_pass
from tests.passes.shape_models import text

PASS = "repeated-opset-import"
RELU = "g (float[2] x) => (float[2] y) { y = Relu (x) }"
SOFTMAX = "g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax (x) }"
BRANCH = (
    "g (bool c, float[2,3,4] x) => (float[2,3,4] y) { y = If (c) <then_branch = t () => "
    "(float[2,3,4] p) { p = Softmax (x) }, "
    "else_branch = e () => (float[2,3,4] q) { q = Abs (x) }> }"
)
BINARIZER = "g (float[2] x) => (float[2] y) { y = ai.onnx.ml.Binarizer (x) }"


def imports(model: ModelProto) -> list[tuple[str, int]]:
    return [(entry.domain, entry.version) for entry in model.opset_import]


def importing(graph: str, *entries: tuple[str, int]) -> ModelProto:
    model = text(graph)
    del model.opset_import[:]
    for domain, version in entries:
        model.opset_import.add(domain=domain, version=version)
    return model


def test_the_last_import_stays() -> None:
    model = importing(RELU, ("", 21), ("", 17), ("mine", 1), ("mine", 3), ("ai.onnx", 17))
    done = run_pass(PASS, model)
    assert imports(done.after) == [("", 17), ("mine", 3)]
    assert [site.note for site in done.with_status(Status.APPLIED)[0].sites] == [
        "ai.onnx is imported as 17 alone, no longer as 21, 17",
        "mine is imported as 3 alone, no longer as 1",
    ]
    assert done.after.graph == done.before.graph
    assert run_pass(PASS, done.after).outcomes[0].status is Status.NOT_NEEDED


@pytest.mark.parametrize(
    ("graph", "domain", "versions", "reason"),
    [
        (SOFTMAX, "", (11, 13), "Softmax must mean the same at ai.onnx 11 and 13"),
        (BRANCH, "", (13, 12), "Softmax must mean the same at ai.onnx 13 and 12"),
        (BINARIZER, "ai.onnx.ml", (1, 2), "Binarizer must mean the same at ai.onnx.ml 1 and 2"),
        (RELU, "", (99, 17), "Relu must mean the same at ai.onnx 99 and 17"),  # 99 is no opset
        (RELU, "", (17, 0), "Relu must mean the same at ai.onnx 17 and 0"),
    ],
)
def test_where_engines_read_something_else_it_is_refused(
    graph: str, domain: str, versions: tuple[int, ...], reason: str
) -> None:
    given = [("", 17)] if domain else []
    model = importing(graph, *given, *((domain, version) for version in versions))
    assert run_pass(PASS, model).reasons == [f"{reason}; that is not known of it"]


def test_twice_the_same_is_no_question() -> None:
    done = run_pass(PASS, importing(RELU, ("", 17), ("", 17)))
    assert done.outcomes[0].status is Status.NOT_NEEDED
