"""missing-opset-import: domains that are used and not declared."""

import onnx
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from graphfix.report import Status
from graphfix.testing import run_pass
from tests.passes.shape_models import text

PASS = "missing-opset-import"


def foreign(*domains: str, opsets: dict[str, int] | None = None) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Op", ["x"], [f"y{i}"], domain=domain) for i, domain in enumerate(domains)
    ]
    outputs = [helper.make_tensor_value_info(f"y{i}", 1, [2]) for i in range(len(nodes))]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [2])], outputs)
    imports = [helper.make_opsetid(d, v) for d, v in (opsets or {"": 17}).items()]
    return helper.make_model(graph, ir_version=8, opset_imports=imports)


def imports(model: onnx.ModelProto) -> dict[str, int]:
    return {entry.domain: entry.version for entry in model.opset_import}


def test_foreign_domains() -> None:
    done = run_pass(PASS, foreign("org.pytorch.aten", "com.microsoft", "org.pytorch.aten"))
    assert imports(done.after) == {"": 17, "org.pytorch.aten": 1, "com.microsoft": 1}
    assert len(done.with_status(Status.APPLIED)[0].sites) == 2
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)


def test_the_default_domain_gets_the_oldest_opset_that_fits() -> None:
    model = text("g (float[2] x) => (float[2] y) { y = HardSwish (x) }", opset=17)
    del model.opset_import[:]
    model.opset_import.add(domain="com.microsoft", version=1)
    assert imports(run_pass(PASS, model).after) == {"com.microsoft": 1, "": 14}


def test_attributes_have_to_be_of_the_type_that_the_opset_gives_them() -> None:
    """Olive puts Casts to integers around trees whose file imports ai.onnx.ml alone."""
    model = text("g (float[2] x) => (float16[2] y) { y = Cast <to = 10> (x) }")
    del model.opset_import[:]
    model.opset_import.add(domain="ai.onnx.ml", version=1)
    assert imports(run_pass(PASS, model).after) == {"ai.onnx.ml": 1, "": 6}


def test_in_a_branch() -> None:
    model = text(
        "g (float[2] x, bool c) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] p) "
        "{ p = Neg (x) }, else_branch = e () => (float[2] q) { q = Abs (x) }> }"
    )
    model.graph.node[0].attribute[0].g.node[0].domain = "com.custom"
    assert imports(run_pass(PASS, model).after) == {"": 17, "com.custom": 1}


@given(domains=st.lists(st.sampled_from(["", "a", "b.c", "ai.onnx.ml"]), min_size=1, max_size=5))
def test_every_domain_is_imported(domains: list[str]) -> None:
    done = run_pass(PASS, foreign(*domains))
    assert set(imports(done.after)) == {"", *domains}
    assert done.after.graph == foreign(*domains).graph
