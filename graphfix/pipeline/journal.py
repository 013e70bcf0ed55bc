"""What the passes of a run did, collected and then frozen into outcomes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from msgspec import Struct, field

from graphfix.authoring.editing import Recorded
from graphfix.authoring.evidence import Evidence
from graphfix.ir.views import NodeView
from graphfix.pipeline.faults import Crash, surroundings
from graphfix.report import Accuracy, Certificate, IoChange, NodeRef, Outcome, Site, Status, Verdict


class Applied(Struct, frozen=True):
    """One site that was changed: the record of it from the pass to its proof.

    Attributes:
        passes: The passes that made it, the one that matched first; several where one needed what
            another gives.
        site: The site.
        evidence: What its proof is made from; None where it has none.
        certificate: The proof; None before there is one, and where nothing is to be proved.
        computes: False where a number of the file changed, or a node went that nothing used, and
            nothing that is computed.
    """

    passes: tuple[str, ...]
    site: Site
    evidence: Evidence | None = None
    certificate: Certificate | None = None
    computes: bool = True

    @property
    def differs(self) -> bool:
        """Whether the proof shows that the site computes something else."""
        return self.certificate is not None and self.certificate.status is Verdict.MISMATCH

    @property
    def proved(self) -> Site:
        """The site with its proof."""
        return replace(self.site, certificate=self.certificate) if self.certificate else self.site


class Journal(Struct):
    """Collects sites by pass, status and reason, in the order in which they first came.

    Attributes:
        applied: The sites that were changed, in their order.
        io_changes: What passes changed of inputs and outputs: by consent, or a wrong shape.
        crashes: The first node at which each pass raised, and what was there.
    """

    applied: list[Applied] = field(default_factory=list[Applied])
    io_changes: list[IoChange] = field(default_factory=list[IoChange])
    crashes: dict[str, Crash] = field(default_factory=dict[str, Crash])
    _entries: dict[tuple[str, Status, str], list[Site]] = field(
        default_factory=dict[tuple[str, Status, str], list[Site]]
    )
    _refused: set[tuple[tuple[str, Status, str], NodeRef]] = field(
        default_factory=set[tuple[tuple[str, Status, str], NodeRef]]
    )

    def copy(self) -> Journal:
        """Return a journal that continues independently."""
        entries = {key: list(sites) for key, sites in self._entries.items()}
        return Journal(
            list(self.applied),
            list(self.io_changes),
            dict(self.crashes),
            entries,
            set(self._refused),
        )

    def apply(self, passes: Iterable[str], recorded: Recorded) -> None:
        """Record a site that was changed, by the passes that made it."""
        names = tuple(dict.fromkeys(passes))
        self.applied.append(
            Applied(names, recorded.site, recorded.evidence, computes=recorded.computes)
        )
        for name in names:  # where its sites are among the outcomes
            self._entries.setdefault((name, Status.APPLIED, ""), [])

    def refused(self, pass_id: str, reason: str, node: NodeRef) -> None:
        """Record a place that was left alone; the same place and reason count once."""
        key = (pass_id, Status.REFUSED, reason)
        sites = self._entries.setdefault(key, [])
        if (key, node) not in self._refused:
            self._refused.add((key, node))
            sites.append(Site(node))

    def failed(self, pass_id: str, reason: str, at: NodeView | None) -> None:
        """Record a fault of a pass; of the first one, keep what is there now."""
        node = at.ref() if at is not None else NodeRef()
        self._entries.setdefault((pass_id, Status.FAILED, reason), []).append(Site(node))
        if pass_id not in self.crashes:
            pieces = surroundings(at.node) if at is not None else ()
            self.crashes[pass_id] = Crash(pass_id, node, reason, pieces)

    def not_needed(self, pass_id: str, reason: str = "", node: NodeRef | None = None) -> None:
        """Record that a pass that was asked for found nothing to do, and where it came nearest."""
        if not any(known == pass_id for known, _, _ in self._entries):
            sites = [] if node is None else [Site(node)]
            self._entries[(pass_id, Status.NOT_NEEDED, reason)] = sites

    def forget_refusals(self, pass_ids: Collection[str]) -> None:
        """Drop the refusals of some passes: a later round looks at the same places again."""
        self._entries = {
            key: sites
            for key, sites in self._entries.items()
            if key[1] is not Status.REFUSED or key[0] not in pass_ids
        }
        self._refused = {(key, node) for key, node in self._refused if key in self._entries}

    def applied_passes(self) -> tuple[str, ...]:
        """Return the passes that changed something, in the order of their first site."""
        return tuple(k[0] for k in self._entries if k[1] is Status.APPLIED)

    def labelled(self, accuracy: Accuracy) -> bool:
        """Say whether a site that was changed has this label."""
        return any(each.site.accuracy is accuracy for each in self.applied)

    def outcomes(self) -> tuple[Outcome, ...]:
        """Freeze what was collected, with the proofs that there are."""
        changed: dict[str, list[Site]] = {}
        for each in self.applied:
            site = each.proved
            for name in each.passes:
                changed.setdefault(name, []).append(site)
        return tuple(
            Outcome(
                pass_id,
                status,
                reason,
                tuple(changed[pass_id] if status is Status.APPLIED else sites),
            )
            for (pass_id, status, reason), sites in self._entries.items()
        )
