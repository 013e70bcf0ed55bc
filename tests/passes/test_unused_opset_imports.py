"""unused-opset-imports: domains that are imported and not used."""

import onnx
from onnx import helper

from graphfix.report import Status
from graphfix.testing import run_pass
from tests.passes.shape_models import text

PASS = "unused-opset-imports"


def importing(*domains: str, graph: str = "y = Relu (x)") -> onnx.ModelProto:
    model = text(f"g (float[2] x) => (float[2] y) {{ {graph} }}")
    model.opset_import.extend(helper.make_opsetid(domain, 5) for domain in domains)
    return model


def imports(model: onnx.ModelProto) -> dict[str, int]:
    return {entry.domain: entry.version for entry in model.opset_import}


def test_what_no_node_uses_goes() -> None:
    done = run_pass(PASS, importing("ai.onnx.ml", "com.microsoft"))
    assert imports(done.after) == {"": 17}
    [applied] = done.with_status(Status.APPLIED)
    assert [site.note for site in applied.sites] == [
        "ai.onnx.ml 5 is no longer imported",
        "com.microsoft 5 is no longer imported",
    ]
    assert done.after.graph == done.before.graph
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)


def test_what_a_node_uses_stays() -> None:
    done = run_pass(PASS, importing("ai.onnx.ml", graph="y = ai.onnx.ml.Binarizer (x)"))
    assert imports(done.after) == {"": 17, "ai.onnx.ml": 5}
    assert not done.with_status(Status.APPLIED)


def test_a_body_counts_and_the_default_domain_always_stays() -> None:
    inside = "c = mine.True (x) y = If (c) <then_branch = t () => (float[2] a) { a = my.Own (x) }, "
    inside += "else_branch = e () => (float[2] b) { b = my.Own (x) }>"
    done = run_pass(PASS, importing("my", "mine", "other", graph=inside))
    assert imports(done.after) == {"": 17, "my": 5, "mine": 5}


def test_functions_have_imports_of_their_own() -> None:
    model = importing("local", graph="y = local.f (x)")
    body = [helper.make_node("Relu", ["a"], ["b"])]
    known = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 4)]
    model.functions.append(helper.make_function("local", "f", ["a"], ["b"], body, known))
    done = run_pass(PASS, model)
    assert imports(done.after) == {"": 17, "local": 5}
    assert [(o.domain, o.version) for o in done.after.functions[0].opset_import] == [("", 17)]
