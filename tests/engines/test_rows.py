"""Each row of a `rules.toml`: its probes show what it says, for each target that it is of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from graphfix.analysis.inference import infer_model
from graphfix.engines.checking import check_model, filled, judged
from graphfix.engines.engine import Engine, engines
from graphfix.engines.known_rules import rows_of, rules_for
from graphfix.engines.profile import Target
from graphfix.engines.reported_findings import library_of
from graphfix.engines.rule import Rule, Yes, answer_of
from graphfix.engines.rule_rows import Row, model_of_probe
from graphfix.engines.targets import load_target, target_names
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.report import Finding

TARGETS = [load_target(name) for name in target_names()]


def first_of_each_folder() -> Iterator[Engine]:
    """Yield the families, of those that share a folder the first."""
    seen = set[str]()
    for engine in engines():
        if engine.package not in seen:
            seen.add(engine.package)
            yield engine


ROWS = [
    pytest.param(row, id=f"{engine.name}-{row.rule.id}")
    for engine in first_of_each_folder()
    for row in rows_of(engine)
]


def inferred(probe: str) -> Model:
    model = Model(model_of_probe(probe))
    infer_model(model)
    return model


def nodes_of(model: Model) -> Iterator[NodeView]:
    for root in model.roots():
        for graph in root.walk():
            yield from map(NodeView, graph.nodes)


def found_by(rule: Rule, model: Model, target: Target) -> list[Finding]:
    """Return what a rule alone says of the nodes that it is asked about."""
    found: list[Finding] = []
    for node in nodes_of(model):
        if any(known.id == rule.id for known in rules_for(target).of(node.domain, node.op)):
            finding = judged(rule, answer_of(rule.check, rule.id, node, target), node)
            found += [] if finding is None else [finding]
    return found


@pytest.mark.parametrize("row", ROWS)
def test_a_row_says_what_its_probes_show(row: Row) -> None:
    rule, held = row.rule, [each for each in TARGETS if row.rule.holds_for(each)]
    fires, silent, unsure = (
        [inferred(probe) for probe in probes] for probes in (row.fires, row.silent, row.unsure)
    )
    assert held
    for target in held:
        for text, model in zip(row.fires, fires, strict=True):
            found = found_by(rule, model, target)
            assert len(found) == 1, f"{rule.id} says {len(found)} things of {text}"
            finding = found[0]
            assert finding.certain is not row.possible
            assert "{" not in finding.feature + finding.message + finding.engine_text
        assert [found_by(rule, model, target) for model in silent] == [[] for _ in silent]
        for model in unsure:
            (finding,) = found_by(rule, model, target)
            assert not finding.certain
            assert finding.missing
    if not row.possible:
        reported_in_a_check(rule, fires[0], held[-1])


def reported_in_a_check(rule: Rule, model: Model, target: Target) -> None:
    """Assert that a check of the whole model has the finding, as the row is written."""
    (alone,) = found_by(rule, model, target)
    (finding,) = (each for each in check_model(model, target) if each.rule == rule.id)
    assert replace(finding, node=alone.node) == alone
    assert (finding.severity, finding.source) == (rule.severity, rule.source)
    (node, answer) = next(
        (node, answer)
        for node in nodes_of(model)
        if (node.domain, node.op) in rule.ops or not rule.ops
        if (answer := rule.check(node, target))
    )
    written = isinstance(answer, Yes) and answer.message
    said, library = filled(written or rule.message, node), library_of(node.domain, node.op)
    if library is not None:  # it says who writes the operator, too
        said = f"{said.rstrip('.')}; {library.sentence}"
    assert finding.message == said
