"""What a run has to say: frozen dataclasses that text, JSON and Markdown are views of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphfix.report.costs import Costs, IntegerPlaces


class Severity(StrEnum):
    """What happens to a node that a rule says yes to."""

    REJECT = "reject"  # the engine refuses the model
    WRONG = "wrong"  # the engine accepts it and computes something else
    BUILDER = "builder"  # refused later, when the engine is built
    FALLBACK = "fallback"  # runs on the fallback engine: slower, does not block
    NOTE = "note"  # worth knowing; nothing breaks


class Accuracy(StrEnum):
    """How close a rewrite stays to what it replaces."""

    EXACT = "exact"
    APPROXIMATE = "approximate"
    LOSSY = "lossy"
    MENDED = "mended"  # what it replaces has no meaning under ONNX, and is given one


EXACT = Accuracy.EXACT
APPROXIMATE = Accuracy.APPROXIMATE
LOSSY = Accuracy.LOSSY
MENDED = Accuracy.MENDED


class Status(StrEnum):
    """The closed set of outcomes of a pass."""

    APPLIED = "applied"
    NOT_NEEDED = "not_needed"
    REFUSED = "refused"
    FAILED = "failed"


class Verdict(StrEnum):
    """What a comparison of numbers found."""

    EQUAL = "equal"
    BUILT = "built"  # equal elsewhere; the target's engine takes it, and has no device here
    LOSSY = "lossy"
    MISMATCH = "mismatch"
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class NodeRef:
    """One node of a model, named so that a person finds it.

    Attributes:
        name: The node's name; may be empty.
        index: Its position among the nodes of its graph when it was looked at; -1 if unknown.
        op: The operator.
        domain: The operator's domain; empty for the default one.
        outputs: The names of its outputs.
        scope: ``main``, ``main/If_3.then_branch`` or ``function:domain::name:overload``.
    """

    name: str = ""
    index: int = -1
    op: str = ""
    domain: str = ""
    outputs: tuple[str, ...] = ()
    scope: str = "main"


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's yes (certain) or unknown (not certain) about one node or the whole model.

    Attributes:
        rule: The id of the rule.
        feature: The engine-neutral name of what the node does or needs, such as ``op:Mod``.
        severity: What the engine does with it.
        node: The node; a `NodeRef` with an empty op for findings about the model.
        message: One sentence for the user.
        engine_text: The engine's own error text; empty where it says nothing.
        certain: False where something needed to judge is unknown.
        missing: What is unknown (``dtype of x``, ``rank of y``); empty when certain.
        removed_by: The passes that remove the feature, best first; computed.
        source: Where the fact was read.
        needs: For those of `removed_by` that want a consent which was not given: id and options.
        follow_ups: Findings that are unknown only because of this one, counted in it.
        fault: What the rule raised instead of an answer, a fault of ours; empty where it did not.
        withheld: Which options of the user keep away what may remove it; empty for none.
    """

    rule: str
    feature: str
    severity: Severity
    node: NodeRef
    message: str
    engine_text: str = ""
    certain: bool = True
    missing: str = ""
    removed_by: tuple[str, ...] = ()
    source: str = ""
    needs: tuple[tuple[str, str], ...] = ()
    follow_ups: tuple[Finding, ...] = ()
    fault: str = ""
    withheld: str = ""

    @property
    def blocks(self) -> bool:
        """Whether the finding keeps the file from working."""
        return self.severity not in (Severity.FALLBACK, Severity.NOTE)

    @property
    def keeps_off(self) -> bool:
        """Whether it is sure to leave its node to the engine after the one that is wanted."""
        return self.severity is Severity.FALLBACK and self.certain


class Findings(tuple[Finding, ...]):
    """What a check found, in the order of the file; a notebook shows it as cards."""

    __slots__ = ()


def blocking_by_severity(findings: Iterable[Finding]) -> Counter[Severity]:
    """Count the findings that block, by severity, those that are counted in others on their own."""
    every = (
        each
        for finding in findings
        for each in ((finding,) if finding.certain or not finding.follow_ups else ())
        + finding.follow_ups
    )
    return Counter(finding.severity for finding in every if finding.blocks)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the nodes of a model run for a provider of onnxruntime, as far as its rules say.

    What onnxruntime computes when it reads the model is counted nowhere.

    Attributes:
        provider: How many nodes the provider runs.
        cpu: How many the CPU runs.
        parts: Into how many parts what the provider runs falls.
        cuts: The nodes of the CPU at which a part ends and after which another one begins.
        possible: How many of those of the provider it may leave to the CPU.
    """

    provider: int
    cpu: int
    parts: int
    cuts: tuple[NodeRef, ...] = ()
    possible: int = 0


@dataclass(frozen=True, slots=True)
class InputSizes:
    """The sizes that an input of a site had while it was proved.

    Attributes:
        name: The tensor.
        shapes: The first few shapes that differ from each other.
    """

    name: str
    shapes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """The numeric proof of one site.

    Attributes:
        status: What the comparison found.
        max_abs: Largest absolute difference; None when not measured.
        max_rel: Largest relative difference; None when not measured.
        samples: How many input sets were compared.
        reason: Why, for anything but equal; by what, where both sides are the same as they are
            and nothing had to be run; what was changed in both so that they could be compared.
        own: How many of the samples were values that the model itself computed there.
        sizes: The sizes of the first inputs; empty where none has axes, and where nothing was run.
        shorter: Whether all samples had shorter axes than the model has there, along which what
            the site does is the same.
    """

    status: Verdict
    max_abs: float | None = None
    max_rel: float | None = None
    samples: int = 0
    reason: str = ""
    own: int = 0
    sizes: tuple[InputSizes, ...] = ()
    shorter: bool = False


@dataclass(frozen=True, slots=True)
class Site:
    """One place where a pass acted, or refused to.

    Attributes:
        node: The matched node, as it was before.
        accuracy: The label of this site.
        removed: Nodes that were taken out.
        added: Nodes that were put in.
        certificate: The proof; None where nothing was to be proved (see `every_site_equal`).
        note: Domain and error of an approximate site, or what a lossy one changes.
    """

    node: NodeRef
    accuracy: Accuracy = Accuracy.EXACT
    removed: tuple[NodeRef, ...] = ()
    added: tuple[NodeRef, ...] = ()
    certificate: Certificate | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one pass; one entry per pass, status and reason.

    Attributes:
        pass_id: The pass.
        status: Applied, not needed, refused or failed.
        reason: Why it was refused or failed; empty otherwise.
        sites: Where.
    """

    pass_id: str
    status: Status
    reason: str = ""
    sites: tuple[Site, ...] = ()


def every_site_equal(outcomes: Iterable[Outcome]) -> bool:
    """Say whether there are certificates, and all of them are equal.

    A site without one computes nothing (an order, an unreachable node) or was not to be proved.
    """
    proofs = [
        site.certificate
        for outcome in outcomes
        if outcome.status is Status.APPLIED
        for site in outcome.sites
        if site.certificate is not None
    ]
    return bool(proofs) and all(proof.status is Verdict.EQUAL for proof in proofs)


def mended_sites(outcomes: Iterable[Outcome]) -> tuple[Site, ...]:
    """Return the places of a file that had no meaning under ONNX, with how they were read."""
    applied = (o for o in outcomes if o.status is Status.APPLIED)
    return tuple(s for o in applied for s in o.sites if s.accuracy is MENDED)


@dataclass(frozen=True, slots=True)
class OutputDifference:
    """How far one output of the model moved; None where it was not measured."""

    name: str
    max_abs: float | None
    max_rel: float | None
    status: Verdict = Verdict.EQUAL


@dataclass(frozen=True, slots=True)
class Verification:
    """The comparison of the whole model before and after.

    Attributes:
        status: What it found.
        reason: Why, for anything but equal.
        method: Engine and way, such as ``onnxruntime 1.31, 5 samples``.
        outputs: Per output, the largest differences.
        runs_never: Whether an engine that has all operators ran neither the model nor the result
            with any input, those of the user included.
        samples: On how many inputs both were run and compared; 0 where nothing was.
        expected_rel: Where the status is lossy and enough inputs were compared: what the
            differences of 99 of 100 other inputs are expected to stay below, relative to the
            largest value of their output, see `graphfix.proving.verdict.expected`.
    """

    status: Verdict
    reason: str = ""
    method: str = ""
    outputs: tuple[OutputDifference, ...] = ()
    runs_never: bool = False
    samples: int = 0
    expected_rel: float | None = None


class Asked(StrEnum):
    """What the target's own engine on this machine did with the result of a run."""

    NOT_RUN = "not run"
    REFUSED = "refused"  # it was given the result, and did not take it
    INCONCLUSIVE = "inconclusive"  # it was given the result, and nothing is shown; see Verification
    LOADED = "loaded"
    BUILT = "built"  # there is no device here to run it on
    RAN = "ran"  # its numbers are what the verification compares


@dataclass(frozen=True, slots=True)
class EngineAsked:
    """Whether the engine itself was run, apart from the rules that are known of it.

    Attributes:
        title: The engine for people, such as ``OpenCV 4.10``; with its full version where it ran.
        did: What it did.
        questions: How often it was given a model to find which nodes it says no to.
        said: Why nothing is shown by it, where the verification is of something else.
        guesses: Whether rules alone are not enough to call a result right, see
            `graphfix.engines.engine.Engine`.
        unseen: How many networks that no rule was written for are called fixed by rules alone;
            None where that was not measured.
        not_so: How many of these the engine refuses or computes differently.
    """

    title: str
    did: Asked = Asked.NOT_RUN
    questions: int = 0
    said: str = ""
    guesses: bool = False
    unseen: int | None = None
    not_so: int = 0

    @property
    def missed(self) -> bool:
        """Whether it had to be asked for the result to be called right, and was not."""
        return self.guesses and self.did not in (Asked.RAN, Asked.BUILT)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What identifies one model file; sha256 is that of the .onnx file alone."""

    path: str
    sha256: str
    opset: int
    ir_version: int
    nodes: int
    bytes: int


@dataclass(frozen=True, slots=True)
class IoChange:
    """One change of the interface, old -> new."""

    name: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A fault of a pass or a rule, and the folder that shows it again.

    Attributes:
        pass_id: The pass or the rule at fault; empty for a fault of the run itself.
        node: Where; a `NodeRef` without operator for the whole model.
        kind: ``differs``, ``raises``, ``rule`` or ``fault``.
        folder: The folder, for ``graphfix replay``; empty where none was written.
        reason: Why none was written.
    """

    pass_id: str
    node: NodeRef
    kind: str
    folder: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All of one run.

    Attributes:
        version: graphfix's version.
        target: The resolved target, such as ``ort-1.10``; empty without one.
        input: The model as it came in.
        output: The file that was written; None when nothing was.
        findings_before: What blocked the model before.
        outcomes: What the passes did.
        findings_after: What blocks the result.
        io_changes: Interface changes that were consented to, and declared shapes that were wrong.
        verification: The whole-model comparison.
        seconds: Seconds by stage.
        notes: Sentences for the user that belong to no finding (aliases, versions).
        reproducers: Folders that show again what passes did wrong.
        open_inputs: The inputs whose sizes the file leaves open, with what it says of them.
        example_sizes: A shape for each of these that the model may be fixed to.
        engine: Whether the target's engine itself was run; None without a target.
        reading: How the file as it was read compared with the file as it came; None where nothing
            was mended.
        front: Where a cut has all that is left after it; empty where nowhere, or without need.
        switch: The input of one bool that decides an If that is left; empty where none does.
        sized: The features of what is left that fixed sizes of the inputs settle.
        integers: What is no longer computed in 8 bits; None where all that was still is.
        placed_before: Where its nodes ran before; None where the target is no such provider.
        placed_after: Where those of the result run.
        costs: What it cost and costs; None where that was not asked.
    """

    version: str
    target: str
    input: FileFacts
    output: FileFacts | None
    findings_before: tuple[Finding, ...]
    outcomes: tuple[Outcome, ...]
    findings_after: tuple[Finding, ...]
    io_changes: tuple[IoChange, ...]
    verification: Verification
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    notes: tuple[str, ...] = ()
    reproducers: tuple[Reproduced, ...] = ()
    open_inputs: tuple[tuple[str, tuple[int | str | None, ...]], ...] = ()
    engine: EngineAsked | None = None
    reading: Verification | None = None
    front: tuple[str, ...] = ()
    switch: str = ""
    example_sizes: tuple[tuple[int, ...], ...] = ()
    sized: tuple[str, ...] = ()
    integers: IntegerPlaces | None = None
    placed_before: Placement | None = None
    placed_after: Placement | None = None
    costs: Costs | None = None
