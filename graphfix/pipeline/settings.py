"""What a run was asked for, apart from files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from graphfix.authoring.catalogue import Catalogue
from graphfix.authoring.declaring import Pass
from graphfix.authoring.workspace import SiteKey
from graphfix.engines.profile import Target
from graphfix.errors import UsageError
from graphfix.pipeline.op_types import OperatorTypes

VERIFY = ("auto", "sites", "full", "engine", "off")


@dataclass(frozen=True)
class Settings:
    """What a run was asked for.

    Attributes:
        target: The target; None for opset conversion or named passes alone.
        opset: The opset asked for; None for whatever the target needs.
        named: The passes to run, exactly these and in this order; None for all that apply.
        available: Every pass that may be used.
        options: Pass id -> option -> value.
        assumed: (domain, operator) pairs that the user says the engine has.
        op_types: What the user says that operators give.
        allow_lossy: Whether lossy sites are consented to.
        allow_mended: Whether the readings of mended sites are.
        allow_io_change: Whether inputs and outputs may change.
        partial: Whether big decompositions are applied although findings are left.
        unfinished: Rewrites that may leave nothing to the graph passes of last resort, which did
            not finish it in an earlier run.
        verify: ``auto``, ``sites``, ``full``, ``engine`` or ``off``.
        capability: What the engine is to build for; empty for what it builds for by itself.
        inputs: Inputs of the user for the comparison.
        shapes: Input name -> sizes.
        seed: For made inputs.
        certificates: The folder of certificates that runs share; None for none.
        only: What may be repaired, by name, pattern, operator or place; empty for all.
        excepted: The same of what may not.
        blocked: Sites that are left alone, because an earlier run found them to be wrong.
        left_out: Passes that may not be used; they still know the types of their operators.
        installed: Whether the target is the onnxruntime installed here, which is asked itself.
    """

    target: Target | None
    opset: int | None
    named: tuple[Pass, ...] | None
    available: tuple[Pass, ...]
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    assumed: frozenset[tuple[str, str]] = frozenset()
    op_types: tuple[OperatorTypes, ...] = ()
    allow_lossy: bool = False
    allow_mended: bool = False
    allow_io_change: bool = False
    partial: bool = False
    unfinished: frozenset[str] = frozenset()
    verify: str = "auto"
    capability: str = ""
    inputs: Path | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    seed: int = 0
    certificates: Path | None = None
    only: tuple[str, ...] = ()
    excepted: tuple[str, ...] = ()
    blocked: frozenset[SiteKey] = frozenset()
    left_out: tuple[Pass, ...] = ()
    installed: bool = False

    @cached_property
    def knowing(self) -> Catalogue:
        """Every pass that knows types, whether it may be used or not; the user knows best."""
        if not self.op_types and not self.left_out:
            return Catalogue.of(self.available)
        reported = (each.as_pass() for each in self.op_types)
        return Catalogue((*reported, *self.available, *self.left_out))

    @property
    def proves_sites(self) -> bool:
        """Whether each site gets a certificate."""
        return self.verify in ("auto", "sites", "engine")


def without(settings: Settings, pass_ids: set[str], *, broken: bool = False) -> Settings:
    """Return settings for a run without some passes.

    Args:
        settings: The settings.
        pass_ids: What is left out.
        broken: Whether they raised, so that they are not asked for types either.
    """
    named, available = settings.named, settings.available
    taken = () if broken else tuple(p for p in available if p.id in pass_ids)
    kept = tuple(p for p in settings.left_out if not (broken and p.id in pass_ids))
    return replace(
        settings,
        available=Catalogue.of(available).without(pass_ids),
        named=None if named is None else tuple(p for p in named if p.id not in pass_ids),
        left_out=(*kept, *taken),
    )


def parse_options(
    given: Mapping[str, Any], available: tuple[Pass, ...]
) -> dict[str, dict[str, Any]]:
    """Return ``PASS.KEY -> VALUE`` as pass id -> key -> typed value.

    Raises:
        UsageError: There is no such pass or option, or the value is not of its type.
    """
    known = {declared.id: declared for declared in available}
    parsed: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        pass_id, _, key = name.rpartition(".")
        where = f"--option {name}"
        if pass_id not in known:
            raise UsageError(
                f"no pass is called {pass_id!r}", where=where, hint="the form is PASS.KEY=VALUE"
            )
        option = known[pass_id].options.get(key)
        if option is None:
            offered = ", ".join(known[pass_id].options) or "none"
            raise UsageError(
                f"{pass_id} has no option {key!r}", where=where, hint=f"it has: {offered}"
            )
        parsed.setdefault(pass_id, {})[key] = _typed(option.type, value, where)
    return parsed


def _typed(kind: type, value: Any, where: str) -> Any:
    if kind is bool and isinstance(value, str):
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if value.lower() in words:
            return words[value.lower()]
    elif not isinstance(value, str) and isinstance(value, kind):
        return value
    else:
        try:
            return kind(value)
        except (TypeError, ValueError):
            pass
    raise UsageError(f"{value!r} is not of type {kind.__name__}", where=where)
