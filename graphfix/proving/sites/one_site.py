"""The certificate of one site: on shorter axes where they are enough, else as it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import onnx

from graphfix.errors import EngineFailed
from graphfix.ir.protos import copied, required_inputs
from graphfix.proving.runners.engine import MissingOperator
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.sites.packed_rows import with_few_rows
from graphfix.proving.sites.samples import shape_only
from graphfix.proving.sites.shorter import Shorter
from graphfix.proving.sites.site_proof import Case, SiteProof, ignored, inconclusive
from graphfix.proving.sites.sizes_tried import joined
from graphfix.proving.values.kinds import Feed
from graphfix.report import Certificate, Verdict

# Inputs with more elements than this together are made only if smaller ones say nothing, and
# with more than that never.
MANY_ELEMENTS = 2**24
MOST_ELEMENTS = 2**26
# From here on weights that are packed are looked at with few rows.
_WORTH_FEWER_ROWS = 2**16
# Sizes above the first become the second, or a little more, where inputs are too big.
_LONG, _SHORT = 64, 12


def certify(
    case: Case,
    evaluators: Evaluators,
    *,
    gentle: bool = False,
    given: Sequence[Feed] = (),
    failing: Callable[[Feed], None] = ignored,
) -> Certificate:
    """Run both sides of a site on the same inputs and compare.

    Args:
        case: The site.
        evaluators: Numpy models of operators that no engine has.
        gentle: Only inputs of the kind that a model meets; an engine crashed on the others.
        given: Inputs to begin with; those that the site before does not run with are left out.
        failing: Notified of the smallest inputs found on which both sides differ.
    """
    if case.short is not None and not given:
        found = _at_short_sizes(case, case.short, evaluators, gentle)
        if isinstance(found, Certificate):
            return found
        given = found
        case = replace(case, own=None)
    elements = elements_of(case.before)
    if elements > _WORTH_FEWER_ROWS and not given:
        few = _with_few_rows(case, evaluators, gentle)
        if few is not None:
            return few
    if elements > MANY_ELEMENTS and not given:
        small = replace(case, before=smaller(case.before), after=smaller(case.after))
        if elements_of(small.before) <= MANY_ELEMENTS:
            tried = _prove(small, evaluators, elements_of(small.before), gentle)
            found = tried if isinstance(tried, Certificate) else tried.run()
            if found.status in (Verdict.EQUAL, Verdict.LOSSY):
                return found
        if elements > MOST_ELEMENTS:
            return inconclusive(f"its inputs have {elements} elements, too many to make")
    proof = _prove(case, evaluators, elements, gentle)
    if isinstance(proof, Certificate):
        return proof
    proof.given, proof.failing = given, failing
    return proof.run()


def _at_short_sizes(
    case: Case, short: Shorter, evaluators: Evaluators, gentle: bool
) -> Certificate | list[Feed]:
    """Prove a site on shorter axes.

    Returns:
        The proof; or, where the site has to be looked at as it is, inputs to begin with: those on
        which its sides differ, repeated along the axes that were cut.
    """
    cut = replace(case, before=short.before, after=short.after)
    proof = _prove(cut, evaluators, short.elements(), gentle)
    if isinstance(proof, Certificate):
        return []
    wrong: list[Feed] = []
    proof.failing = wrong.append
    found = proof.run()
    elements = elements_of(case.before)
    if found.status not in (Verdict.EQUAL, Verdict.LOSSY):
        if wrong and elements > MANY_ELEMENTS:
            reason = f"its inputs have {elements} elements, too many to make; on shorter axes: "
            return inconclusive(reason + found.reason, found.samples)
        return [short.stretched(feed, case.before) for feed in wrong]
    return at_own_sizes(case, replace(found, shorter=True), evaluators)


def _with_few_rows(case: Case, evaluators: Evaluators, gentle: bool) -> Certificate | None:
    """Prove a site of packed weights with few rows of them; None where that shows nothing."""
    sides = with_few_rows(case.before, case.after)
    if sides is None:
        return None
    small = replace(case, before=sides[0], after=sides[1], own=None)
    proof = _prove(small, evaluators, elements_of(sides[0]), gentle)
    found = proof if isinstance(proof, Certificate) else proof.run()
    equal = found.status in (Verdict.EQUAL, Verdict.LOSSY)
    return at_own_sizes(case, replace(found, shorter=True), evaluators) if equal else None


def at_own_sizes(case: Case, found: Certificate, evaluators: Evaluators) -> Certificate:
    """Run a site that was proved on shorter axes once at its own sizes, where that is asked for."""
    elements = elements_of(case.before)
    if not case.whole or not found.shorter or elements > MANY_ELEMENTS:
        return found
    once = _prove(replace(case, own=None), evaluators, elements, gentle=True)
    if isinstance(once, Certificate):
        return once
    whole = once.run(once=True)
    if whole.status is not Verdict.EQUAL:
        return whole if whole.status is Verdict.MISMATCH else found
    sizes = joined(found.sizes, whole.sizes)
    samples = found.samples + whole.samples
    return replace(found, samples=samples, sizes=sizes, shorter=False)


def _prove(
    case: Case, evaluators: Evaluators, elements: int, gentle: bool
) -> SiteProof | Certificate:
    """Load both sides; a certificate where one of them does not load."""
    original = RunnableModel(case.before, evaluators=evaluators)
    try:
        before = original.open()
    except EngineFailed as error:
        return inconclusive(f"the part before the repair cannot be run: {error.message}")
    try:
        after = original.of(case.after).open()
    except MissingOperator as error:
        return inconclusive(f"no engine has {error.key[1]} of the result: {error.message}")
    except EngineFailed as error:
        return Certificate(Verdict.MISMATCH, reason=f"the result does not load: {error.message}")
    return SiteProof(case, original, (before, after), gentle, elements)


def smaller(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy whose inputs have small sizes: equal ones stay equal, others differ.

    A site for which the sizes matter does not run so, or computes something else; only that both
    sides are equal then says something.
    """
    copy = copied(model)
    sizes: dict[int, int] = {}
    for info in copy.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_value > _LONG:
                dim.dim_value = sizes.setdefault(dim.dim_value, _SHORT + 2 * len(sizes))
    return copy


def elements_of(model: onnx.ModelProto) -> int:
    """Count the elements of the inputs whose values are read, dynamic dims as eight."""
    unread = shape_only(model)
    total = 0
    for info in required_inputs(model.graph):
        if info.name not in unread and info.type.HasField("tensor_type"):
            dims = info.type.tensor_type.shape.dim
            total += math.prod(d.dim_value if d.HasField("dim_value") else 8 for d in dims)
    return total
