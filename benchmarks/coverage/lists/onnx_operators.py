"""Every version of every operator of the default domain, by the schemas of the installed onnx.

Forms are the node tests of onnx (whole, and with all inputs but the first stored), models drawn of
each element type and rank by the recipes of the other benchmarks, and for opsets below 7 models
with the same model in today's form next to them. A version that none of these uses gets the node
tests of its neighbours, stamped with its opset, where the checker takes them and an engine gives
what the test expects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import onnx

from benchmarks.coverage.cases import Case
from benchmarks.coverage.lists.old_forms import EXPERIMENTS, old_forms
from benchmarks.coverage.lists.onnx_explained import EXPLAINED as EXPLAINED
from benchmarks.coverage.lists.untested_forms import untested_forms
from benchmarks.differential.scope import F32
from benchmarks.engines.probes import drawn, forms, wanted
from benchmarks.opset.comparison import opset_of, outputs_differ, reference, restamped, run
from benchmarks.opset.conversions import complains, is_random
from benchmarks.opset.nodes import VARIANTS, NodeTest, node_tests
from graphfix.ir.schemas import form_of, newest_opset

TITLE = "Operators of ONNX"
PAGE = "coverage-onnx.md"
ABOUT = """The list is `onnx.defs.get_all_schemas_with_history()`: every version of every operator
of the default domain. Forms are the node tests of onnx, whole and with all inputs but the first
stored; models drawn for each element type and, of float32, each rank; and for opsets below 7,
which no engine computes, models with the same computation in today's form beside them, which gives
what is right. A version that none of these uses has the node tests of its neighbours, restamped.
`experimental` are operators that onnx had until 1.5 without a version. There are 7550 forms, and
every target has an answer for each."""
_DEPRECATED = "deprecated: no model of this opset may hold it"


def _names() -> list[tuple[str, int]]:
    schemas = onnx.defs.get_all_schemas_with_history()
    return sorted((s.name, int(s.since_version)) for s in schemas if not s.domain)


def entries() -> Mapping[str, str]:
    """Return every version of every operator, with why it has no case."""
    found: dict[str, str] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.domain:
            why = _DEPRECATED if schema.deprecated else ""
            found[f"{schema.name}-{schema.since_version}"] = why
    found |= dict.fromkeys(EXPERIMENTS, "")
    return dict(sorted(found.items()))


def cases() -> Iterator[Case]:
    """Yield the forms of every version."""
    had: set[str] = set()
    for case in (*old_forms(), *untested_forms(), *_tested(), *_drawn()):
        had.add(case.entry)
        yield case
    missing = [(op, since) for op, since in _names() if f"{op}-{since}" not in had]
    yield from _restamped(missing)


def _drawn() -> Iterator[Case]:
    for op, since in sorted(forms()):
        last = since == max(one for name, one in forms() if name == op)
        for elem, rank in wanted():
            if rank >= 0 and not (last and elem == F32):
                continue  # ranks of the newest version alone
            probe = drawn(op, since, elem, rank, 0)
            if probe is not None:
                yield Case(
                    f"{op}-{since}",
                    probe.name.removeprefix(f"{op}-{since}-"),
                    probe.model.SerializeToString(),
                    probe.inputs,
                    list(probe.outputs.values()),
                )


def _tested() -> Iterator[Case]:
    for variant in VARIANTS:
        for test in node_tests(newest_opset(), variant):
            entry = _entry_of(test.model)
            if entry:
                yield _case(test, entry, variant)


def _case(test: NodeTest, entry: str, variant: str) -> Case:
    feed, expected = test.sets[0]
    name = f"{test.name.removeprefix('test_')} {variant}"
    return Case(entry, name, test.model.SerializeToString(), feed, expected)


def _entry_of(model: onnx.ModelProto) -> str:
    """Return the operator that a test is about: the only one that is not there to help."""
    own = opset_of(model)
    ops = [n for n in model.graph.node if n.domain in ("", "ai.onnx")]
    kept = [n for n in ops if n.op_type not in _HELPING] or ops
    if not kept:
        return ""
    form = form_of(kept[0].op_type, own)
    return f"{kept[0].op_type}-{form.since}" if form is not None else ""


_HELPING = frozenset({"Constant", "Identity", "Cast", "Unsqueeze", "Squeeze", "Reshape"})


def _restamped(missing: Iterable[tuple[str, int]]) -> Iterator[Case]:
    for op, since in missing:
        for test in _tests_of(op):
            model = restamped(test.model, since)
            if _entry_of(model) != f"{op}-{since}" or complains(model):
                continue
            feed, expected = test.sets[0]
            for runner in (run, reference):
                try:
                    given = runner(model, feed)
                except Exception:  # one engine lacks it, and the other is asked
                    continue
                if not outputs_differ(given, expected, values=not is_random(model)):
                    yield _case(NodeTest(test.name, model, test.sets), f"{op}-{since}", "restamped")
                    break


@cache
def _tests_of(op: str) -> tuple[NodeTest, ...]:
    return tuple(
        test
        for test in node_tests(newest_opset(), VARIANTS[0])
        if any(node.op_type == op for node in test.model.graph.node)
    )
