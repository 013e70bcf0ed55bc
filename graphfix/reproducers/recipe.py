"""The pipeline as text: what a run was asked for, so that it can be asked for again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graphfix.authoring.declaring import Pass
from graphfix.pipeline.run_options import make_settings
from graphfix.pipeline.settings import Settings
from graphfix.registry import LOADED, all_passes


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to run.

    Attributes:
        passes: Exactly these passes; None for the whole flow of a run.
        skip: Passes that are left out.
        options: ``PASS.KEY`` -> value.
        target: The target's name; empty for none.
        opset: The opset to convert to; None for none.
        assume_ops: Operators that the engine is said to have.
        op_types: What the user said that operators give.
        shapes: Input name -> sizes.
        allow_lossy: Whether lossy sites are consented to.
        allow_io_change: Whether inputs and outputs may change.
        partial: Whether big decompositions are applied although findings are left.
        verify: What is compared.
        seed: For made inputs.
        stages: The stage of each pass at fault, for people.
    """

    passes: tuple[str, ...] | None = None
    skip: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    target: str = ""
    opset: int | None = None
    assume_ops: tuple[str, ...] = ()
    op_types: Mapping[str, str] = field(default_factory=dict[str, str])
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    allow_lossy: bool = False
    allow_io_change: bool = False
    partial: bool = False
    verify: str = "auto"
    seed: int = 0
    stages: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, settings: Settings, at_fault: Sequence[str]) -> Recipe:
        """Write down the settings of a run."""
        able = {p.id: p for p in settings.available}
        known = [p.id for p in all_passes()]
        named = settings.named
        return cls(
            passes=None if named is None else tuple(p.id for p in named),
            skip=tuple(name for name in known if name not in able),
            options={
                f"{p}.{k}": v for p, given in settings.options.items() for k, v in given.items()
            },
            target=settings.target.name if settings.target is not None else "",
            opset=settings.opset,
            assume_ops=tuple(f"{d}::{op}" if d else op for d, op in sorted(settings.assumed)),
            op_types={each.name: each.text for each in settings.op_types},
            shapes=dict(settings.shapes),
            allow_lossy=settings.allow_lossy,
            allow_io_change=settings.allow_io_change,
            partial=settings.partial,
            verify=settings.verify,
            seed=settings.seed,
            stages={name: str(able[name].stage) for name in at_fault if name in able},
        )

    def settings(self, pass_files: Sequence[Path] = ()) -> Settings:
        """Return settings that do what is written here.

        Raises:
            UsageError: A pass, an option or the target is not known here.
        """
        return make_settings(
            target=self.target or None,
            opset=self.opset,
            passes=self.passes,
            skip=self.skip,
            options=self.options,
            assume_ops=self.assume_ops,
            op_types=self.op_types,
            allow_lossy=self.allow_lossy,
            allow_io_change=self.allow_io_change,
            partial=self.partial,
            verify=self.verify,
            inputs=None,
            shapes=self.shapes,
            seed=self.seed,
            pass_files=pass_files,
        )


def one_pass(settings: Settings, pass_id: str) -> Settings | None:
    """Return settings that run one pass wherever it matches; None where there is none such."""
    named = tuple(p for p in settings.available if p.id == pass_id)
    if not named:
        return None
    options = {k: v for k, v in settings.options.items() if k == pass_id}
    return replace(
        settings,
        named=named,
        target=None,
        opset=None,
        options=options,
        shapes={},
        inputs=None,
        blocked=frozenset(),
    )


def pass_file_of(declared: Pass) -> Path | None:
    """Return the file that a pass was loaded from with ``--pass-file``; None for any other."""
    if not declared.function.__module__.startswith(LOADED):
        return None
    return Path(declared.source)
