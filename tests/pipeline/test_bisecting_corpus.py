"""Acceptance on real networks, all of whose tensors, nodes and orders were changed."""

from __future__ import annotations

import pytest

import graphfix
from graphfix.difference.difference import Presence
from graphfix.report import Verdict
from tests.corpus_networks import NETWORKS, network, weight_inside, with_fault
from tests.difference.shuffling import disguised


@pytest.mark.parametrize("name", NETWORKS)
def test_a_planted_fault_is_found_at_its_node(name: str) -> None:
    model = network(name)
    weight, reader = weight_inside(model)
    found = graphfix.bisect(model, disguised(with_fault(model, weight), 3))
    assert found.status is Verdict.MISMATCH
    assert found.exit_code == 1
    where = found.divergence
    assert where is not None
    assert where.layer.node.index == reader
    assert where.layer.node.outputs == tuple(model.graph.node[reader].output)
    assert where.after.op == where.layer.node.op
    assert where.inputs_equal
    assert [change.name for change in where.weights] == [weight]
    assert where.weights[0].presence is Presence.CHANGED
    statistics = where.weights[0].statistics
    assert statistics is not None
    assert statistics.max_rel == pytest.approx(0.01, rel=0.01)
    assert (where.fields, where.inner) == ((), ())


@pytest.mark.parametrize("name", NETWORKS)
def test_only_the_changed_weight_is_listed(name: str) -> None:
    model = network(name)
    weight, reader = weight_inside(model)
    same = graphfix.diff(model, disguised(model, 5))
    assert same.same, same
    assert same.matched >= len(model.graph.node)
    found = graphfix.diff(model, disguised(with_fault(model, weight), 5))
    assert [change.name for change in found.weights] == [weight]
    assert [node.index for node in found.weights[0].used_by] == [reader]
    assert (*found.nodes, *found.removed, *found.added, *found.metadata, *found.types) == ()
