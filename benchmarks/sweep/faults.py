"""What raises when a model is checked for all targets, or repaired for one."""

from __future__ import annotations

import traceback
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from onnx import ModelProto

import graphfix
from graphfix.engines.targets import target_names
from graphfix.errors import GraphfixError
from graphfix.pipeline.findings import examined, findings_for
from graphfix.pipeline.model_files import as_model
from graphfix.pipeline.settings import RunOptions, Settings


class Swept(Struct, frozen=True):
    """What came of a model.

    Attributes:
        faults: What raised.
        refused: Why the model cannot be read or checked; empty where it can.
    """

    faults: tuple[Fault, ...]
    refused: str = ""


class Fault(Struct, frozen=True):
    """One thing that raised.

    Attributes:
        target: The target; empty where it is none's.
        rule: The rule that raised; empty where it was something else.
        said: What it raised, and where.
    """

    target: str
    rule: str
    said: str


def settings_of_all() -> dict[str, Settings]:
    """Return the settings of a check for each target that there is."""
    return {name: RunOptions(target=name).settings() for name in target_names()}


def check_faults(model: Path | ModelProto, asked: Mapping[str, Settings]) -> Swept:
    """Check a model for several targets; it is read and its types are inferred once.

    Args:
        model: The model.
        asked: The settings for each target.
    """
    first = next(iter(asked.values()))
    found: list[Fault] = []
    refused: list[str] = []
    with _noted(found, refused, ""):
        loaded = as_model(model)
        complaints = examined(loaded, first)
        for target, settings in asked.items():
            with _noted(found, refused, target):
                said = findings_for(loaded, complaints, settings)
                found += (Fault(target, f.rule, f.fault) for f in said if f.fault)
    return Swept(tuple(found), "; ".join(refused))


def run_fault(model: Path | ModelProto, target: str) -> Swept:
    """Repair a model for a target; return what raised."""
    found: list[Fault] = []
    refused: list[str] = []
    with _noted(found, refused, target):
        result = graphfix.run(model, target)
        findings = (*result.report.findings_before, *result.report.findings_after)
        found += (Fault(target, f.rule, f.fault) for f in findings if f.fault)
    return Swept(tuple(found), "; ".join(refused))


@contextmanager
def _noted(found: list[Fault], refused: list[str], target: str) -> Generator[None]:
    """Note what raises; what the user can mend is no fault of ours."""
    try:
        yield
    except GraphfixError as error:
        refused.append(str(error))
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        said = " ".join(f"{type(error).__name__}: {error} ({place})".split())
        found.append(Fault(target, "", said))
