"""What the passes of a run did, collected and then frozen into outcomes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from graphfix.authoring.views import NodeView
from graphfix.pipeline.faults import Crash, surroundings
from graphfix.report import Certificate, IoChange, NodeRef, Outcome, Site, Status


@dataclass(slots=True)
class Journal:
    """Collects sites by pass, status and reason, in the order in which they first came.

    Attributes:
        io_changes: What passes changed of inputs and outputs: by consent, or a wrong shape.
        crashes: The first node at which each pass raised, and what stood there.
    """

    io_changes: list[IoChange] = field(default_factory=list[IoChange])
    crashes: dict[str, Crash] = field(default_factory=dict[str, Crash])
    _entries: dict[tuple[str, Status, str], list[Site]] = field(
        default_factory=dict[tuple[str, Status, str], list[Site]]
    )

    def copy(self) -> Journal:
        """Return a journal that goes on independently."""
        entries = {key: list(sites) for key, sites in self._entries.items()}
        return Journal(list(self.io_changes), dict(self.crashes), entries)

    def applied(self, pass_id: str, site: Site) -> None:
        """Record a site that was changed."""
        self._entries.setdefault((pass_id, Status.APPLIED, ""), []).append(site)

    def refused(self, pass_id: str, reason: str, node: NodeRef) -> None:
        """Record a place that was left alone; the same place and reason count once."""
        sites = self._entries.setdefault((pass_id, Status.REFUSED, reason), [])
        if all(site.node != node for site in sites):
            sites.append(Site(node))

    def failed(self, pass_id: str, reason: str, at: NodeView | None) -> None:
        """Record a fault of a pass; of the first one, keep what stands there now."""
        node = at.ref() if at is not None else NodeRef()
        self._entries.setdefault((pass_id, Status.FAILED, reason), []).append(Site(node))
        if pass_id not in self.crashes:
            pieces = surroundings(at.node) if at is not None else ()
            self.crashes[pass_id] = Crash(pass_id, node, reason, pieces)

    def not_needed(self, pass_id: str) -> None:
        """Record that a pass that was asked for found nothing to do."""
        if not any(known == pass_id for known, _, _ in self._entries):
            self._entries[(pass_id, Status.NOT_NEEDED, "")] = []

    def forget_refusals(self, pass_ids: Collection[str]) -> None:
        """Drop the refusals of some passes: a later round looks at the same places again."""
        self._entries = {
            key: sites
            for key, sites in self._entries.items()
            if key[1] is not Status.REFUSED or key[0] not in pass_ids
        }

    def applied_passes(self) -> tuple[str, ...]:
        """Return the passes that changed something, in the order of their first site."""
        return tuple(k[0] for k in self._entries if k[1] is Status.APPLIED)

    def outcomes(
        self, certificates: Mapping[int, Certificate] | None = None
    ) -> tuple[Outcome, ...]:
        """Freeze what was collected.

        Args:
            certificates: By the id of the site that each is the proof of.
        """
        known = certificates or {}
        return tuple(
            Outcome(pass_id, status, reason, tuple(_with_proof(site, known) for site in sites))
            for (pass_id, status, reason), sites in self._entries.items()
        )


def _with_proof(site: Site, certificates: Mapping[int, Certificate]) -> Site:
    found = certificates.get(id(site))
    return site if found is None else replace(site, certificate=found)
