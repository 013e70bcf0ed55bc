"""The pipeline as text: what a run was asked for, so that it can be asked for again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graphfix.authoring.declaring import Pass
from graphfix.authoring.registry import LOADED, all_passes
from graphfix.pipeline.settings import RunOptions, Settings

# What a file says of a run, in its order.
_WRITTEN = (
    *("passes", "skip", "options", "target", "opset", "assume_ops", "op_types", "shapes"),
    *("allow_lossy", "allow_mended", "allow_io_change", "no_fallback", "partial", "verify", "seed"),
    "stages",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(RunOptions):
    """What to run, by names alone.

    Attributes:
        stages: The stage of each pass at fault, for people.
    """

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
            target=settings.target.name if settings.target is not None else None,
            opset=settings.opset,
            assume_ops=tuple(f"{d}::{op}" if d else op for d, op in sorted(settings.assumed)),
            op_types={each.name: each.text for each in settings.op_types},
            shapes=dict(settings.shapes),
            allow_lossy=settings.allow_lossy,
            allow_mended=settings.allow_mended,
            allow_io_change=settings.allow_io_change,
            no_fallback=settings.no_fallback,
            partial=settings.partial,
            verify=settings.verify,
            seed=settings.seed,
            stages={name: str(able[name].stage) for name in at_fault if name in able},
        )

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Recipe:
        """Return what `as_json` gave, and a file has kept.

        Raises:
            ValueError: It says less, or more.
        """
        written = {"op_types": {}, "no_fallback": False, **written}  # which the first folders lack
        if set(written) != set(_WRITTEN):
            raise ValueError("pipeline")
        passes: Sequence[str] | None = written["passes"]
        read: dict[str, Any] = {
            **written,
            "passes": None if passes is None else tuple(passes),
            "skip": tuple(written["skip"]),
            "target": written["target"] or None,
            "assume_ops": tuple(written["assume_ops"]),
            "shapes": {name: tuple(dims) for name, dims in written["shapes"].items()},
        }
        return cls(**read)

    def as_json(self) -> dict[str, Any]:
        """Return what a file says of it."""
        return {name: getattr(self, name) for name in _WRITTEN} | {"target": self.target or ""}


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
        only=(),
        excepted=(),
    )


def pass_file_of(declared: Pass) -> Path | None:
    """Return the file that a pass was loaded from with ``--pass-file``; None for any other."""
    if not declared.function.__module__.startswith(LOADED):
        return None
    return Path(declared.source)
