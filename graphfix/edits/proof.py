"""The proof of what an edit claims: by structure, and by numbers as a run proves its result."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from onnx import ModelProto

from graphfix.authoring.registry import shipped_passes
from graphfix.difference.difference import NodeChange
from graphfix.difference.engine import diff_models
from graphfix.edits.differing_parts import differing, same_nodes
from graphfix.edits.outside import decided
from graphfix.edits.renamings import renamings
from graphfix.edits.step import Claim, Equal, Runs, SameStructure, Shown
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import called, copied
from graphfix.pipeline.failing_run import blamed_node
from graphfix.pipeline.model_types import evaluators_for
from graphfix.pipeline.settings import inputs_file
from graphfix.pipeline.verifying import on_disk
from graphfix.proving.models import compare_files
from graphfix.proving.runners.evaluators import OpKey, weight_bytes
from graphfix.proving.whole.options import ORIGINAL_FAILS, RESULT_FAILS, ComparisonOptions
from graphfix.report import Verdict, Verification

_NOTHING_SHOWN = frozenset({Verdict.INCONCLUSIVE, Verdict.SKIPPED})
_SAME_NODES = "the same nodes on the same inputs"
_BIG = 1 << 30  # bytes of weights
_FAILED = frozenset({Verdict.MISMATCH, Verdict.LOSSY})


@dataclass(frozen=True, slots=True)
class Proof:
    """A claim, and what became of it.

    Attributes:
        claim: The claim in words.
        verification: What the comparison found.
    """

    claim: str
    verification: Verification

    @property
    def equal(self) -> bool:
        """Whether the claim was shown."""
        return self.verification.status is Verdict.EQUAL

    @property
    def wrong(self) -> bool:
        """Whether the claim was shown to be wrong."""
        return self.verification.status in _FAILED


@dataclass(frozen=True, slots=True)
class HowToProve:
    """On which inputs claims are proved.

    Attributes:
        inputs: The user's, as an .npz file; None where they are made.
        seed: For those that are made.
        shapes: Sizes of dynamic inputs, by name.
    """

    inputs: Path | None = None
    seed: int = 0
    shapes: dict[str, tuple[int, ...]] | None = None


def prove(claim: Claim, base_dir: str, how: HowToProve) -> Proof:
    """Prove one claim.

    Args:
        claim: The claim.
        base_dir: Where the external data of its models lies.
        how: On which inputs.

    Raises:
        InvalidModel: One of the models cannot be read.
        UsageError: The user's inputs do not fit the models, or the edit cannot be done: a node
            is named at which the result stops.
    """
    if isinstance(claim, Shown):
        return Proof(claim.text, claim.verification)
    if isinstance(claim, SameStructure):
        return Proof(claim.text, _structure(claim, base_dir))
    if isinstance(claim, Runs):
        return Proof(claim.text, _running(claim, base_dir, how))
    if weight_bytes(claim.before) >= _BIG:  # they need not be in memory to be shown to be the same
        one, two = decided(claim.before), decided(claim.after)
        if same_nodes(one, two, base_dir):
            return Proof(claim.text, Verification(Verdict.EQUAL, method=_SAME_NODES))
    found = _compared(claim, base_dir, how)
    if claim.stops and found.status is Verdict.MISMATCH:
        _check_runs(claim, found.reason)
    if found.status in _NOTHING_SHOWN:
        found = _where_they_differ(claim, base_dir, how) or found
    return Proof(claim.text, found)


def _check_runs(claim: Equal, reason: str) -> None:
    """Check that it is numbers that differ.

    Raises:
        UsageError: The result stops at a node; it is named.
    """
    node = blamed_node(claim.before, reason) if reason.startswith(RESULT_FAILS) else None
    if node is not None:
        raise UsageError(
            f"{called(node.op_type, node.name, node.output)} {claim.stops}", where=claim.where
        )


def _compared(claim: Equal, base_dir: str, how: HowToProve) -> Verification:
    """Compare the models of a claim on the same inputs."""
    known = _evaluators(claim.before, base_dir) | _evaluators(claim.after, base_dir)
    names = {info.name for info in claim.before.graph.input}
    asked = {name: sizes for name, sizes in (how.shapes or {}).items() if name in names}
    with ExitStack() as stack:
        fed = stack.enter_context(inputs_file(claim.fed or None))
        options = ComparisonOptions(
            inputs=fed or how.inputs,
            seed=how.seed,
            evaluators={**known, **claim.numpy},
            bindings={} if fed else {**asked, **claim.shapes},
        )
        paths = {
            name: stack.enter_context(on_disk(proto, base_dir))
            for name, proto in claim.adjacent.items()
        }
        before, after = (
            stack.enter_context(on_disk(_with_paths(one, paths) if paths else one, base_dir))
            for one in (claim.before, claim.after)
        )
        found = compare_files(before, after, options)
        if claim.made_first and _says_nothing_of_the_edit(found):
            found = compare_files(after, before, options)
        return found


def _says_nothing_of_the_edit(found: Verification) -> bool:
    """Say whether what the edit made does not run, or what it is compared with does not."""
    stopped = found.status is Verdict.MISMATCH and found.reason.startswith(RESULT_FAILS)
    return stopped or found.status is Verdict.SKIPPED


def _where_they_differ(claim: Equal, base_dir: str, how: HowToProve) -> Verification | None:
    """Show a claim by the nodes that differ, where the outputs of the whole say nothing.

    Returns:
        None where that does not show it either. What differs there need not: numbers that the model
        never computes are among the inputs.
    """
    left = differing(decided(claim.before), decided(claim.after), base_dir)
    if left is None:
        return None
    if left.before is None or left.after is None:
        return Verification(Verdict.EQUAL, method=_SAME_NODES)
    part = replace(claim, before=left.before, after=left.after, shapes={}, made_first=False)
    found = _compared(part, base_dir, HowToProve(seed=how.seed))
    if found.status is not Verdict.EQUAL:
        return None
    return replace(found, method=f"where they differ: {found.method}")


def _running(claim: Runs, base_dir: str, how: HowToProve) -> Verification:
    """Run a model; what its outputs say is of no concern."""
    found = _compared(Equal("", claim.proto, claim.proto), base_dir, how)
    if found.status is Verdict.INCONCLUSIVE and found.outputs:  # it did run
        return replace(found, status=Verdict.EQUAL)
    if not found.reason.startswith(ORIGINAL_FAILS):
        return found
    why = found.reason.removeprefix(ORIGINAL_FAILS)
    unedited = _compared(Equal("", claim.before, claim.before), base_dir, how)
    if unedited.reason.startswith(ORIGINAL_FAILS):
        return replace(found, reason=f"neither the model nor the edited one runs{why}")
    reason = f"the edited model does not run on any input that was tried{why}"
    return replace(found, status=Verdict.MISMATCH, reason=reason)


def _with_paths(proto: ModelProto, paths: Mapping[str, Path]) -> ModelProto:
    """Return a copy in which the paths of files replace the names that stand for them."""
    copy = copied(proto)
    for node in copy.graph.node:
        for attribute in node.attribute:
            path = paths.get(attribute.s.decode("utf-8", "replace"))
            if attribute.name == "path" and path is not None:
                attribute.s = str(path).encode()
    return copy


def _evaluators(proto: ModelProto, base_dir: str) -> dict[OpKey, str]:
    return evaluators_for(Model(proto, base_dir=base_dir), shipped_passes())


def _structure(claim: SameStructure, base_dir: str) -> Verification:
    found = diff_models(claim.before, claim.after, (base_dir, base_dir))
    types = () if claim.but else found.types  # these follow from what was changed
    changed = (*found.metadata, *found.interface, *types)
    parts = (
        *(f"{c.where}: {c.field}" for c in changed if c.field not in claim.fields),
        *(f"{n.op} {n.name!r}" for n in (*found.removed, *found.added)),
        *(_text(n) for n in found.nodes if not _is_excepted(n, claim)),
        *(weight.name for weight in found.weights if weight.name not in claim.but),
        *renamings(claim),
    )
    if not parts:
        return Verification(Verdict.EQUAL, method="compared as they are written")
    return Verification(Verdict.MISMATCH, f"written differently: {'; '.join(parts[:3])}")


def _is_excepted(change: NodeChange, claim: SameStructure) -> bool:
    outputs = {*change.before.outputs, *change.after.outputs}
    fields = {each.field for each in change.fields}
    return bool(claim.but & outputs) or (bool(fields) and fields <= claim.fields)


def _text(change: NodeChange) -> str:
    return f"{change.before.op} {change.before.name!r}"
