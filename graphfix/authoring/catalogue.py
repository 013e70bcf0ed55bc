"""Passes, found by the operators that they match or know of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from graphfix.authoring.declaring import Infer, Pass

ANY = "*"


class Catalogue(tuple[Pass, ...]):
    """Passes in their order, with indexes that are made once, when they are first asked for."""

    @classmethod
    def of(cls, passes: Iterable[Pass]) -> Catalogue:
        """Return the passes as a catalogue; one that is one already as it is."""
        return passes if isinstance(passes, cls) else cls(passes)

    def without(self, pass_ids: set[str]) -> Catalogue:
        """Return the passes that have other ids; as it is where all have."""
        kept = Catalogue(p for p in self if p.id not in pass_ids)
        return self if len(kept) == len(self) else kept

    def staged(self, stage: str, kind: str) -> tuple[Pass, ...]:
        """Return the passes of a stage and kind."""
        return tuple(p for p in self if p.stage == stage and p.kind == kind)

    def rewrites_of(self, op: str) -> Sequence[Pass]:
        """Return the passes that may match an operator; those of last resort are last."""
        return [*self._rewrites.get(op, ()), *self._rewrites.get(ANY, ())]

    def knowing_of(self, op: str) -> Sequence[tuple[Pass, Infer | None]]:
        """Return the passes that may know the types of an operator without schema.

        What infers them is named where the pass emits the operator; else the pass matches it, and
        says them or writes what they follow from.
        Those of last resort are last.
        """
        return [*self._knowing.get(op, ()), *self._knowing.get(ANY, ())]

    def removing(self, feature: str) -> Sequence[Pass]:
        """Return the passes that declare to remove a feature, in order; each is asked once."""
        known = self._removing.get(feature)
        if known is None:
            known = self._removing[feature] = [p for p in self if p.removes_feature(feature)]
        return known

    @cached_property
    def by_id(self) -> Mapping[str, Pass]:
        """The passes by their ids."""
        return {declared.id: declared for declared in self}

    @cached_property
    def _removing(self) -> dict[str, Sequence[Pass]]:
        return {}

    @cached_property
    def _rewrites(self) -> Mapping[str, Sequence[Pass]]:
        found: dict[str, list[Pass]] = {}
        for declared in sorted(self, key=_is_last_resort):
            for op in {op: None for _, op in declared.matches}:
                found.setdefault(op, []).append(declared)
        return found

    @cached_property
    def _knowing(self) -> Mapping[str, Sequence[tuple[Pass, Infer | None]]]:
        found: dict[str, list[tuple[Pass, Infer | None]]] = {}
        for declared in sorted(self, key=_is_last_resort):
            for op, known in declared.knows.items():
                found.setdefault(op.rpartition("::")[2], []).append((declared, known.infer))
            for op in {op: None for _, op in declared.matches}:
                if declared.infer is not None or (declared.derives_types and op != ANY):
                    found.setdefault(op, []).append((declared, None))
        return found


def _is_last_resort(declared: Pass) -> bool:
    return declared.last_resort
