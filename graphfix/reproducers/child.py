"""What a child does for reproducers: it certifies their sites, beginning with stored inputs.

It keeps the inputs on which the sides differ.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from graphfix.errors import EngineFailed
from graphfix.proving.child import evaluators_of
from graphfix.proving.sites.judging import Case, certify
from graphfix.proving.values.files import read_values, write_values
from graphfix.proving.values.kinds import Feed
from graphfix.report import Certificate, Verdict


def before_file(folder: Path, number: int) -> Path:
    """Return where the model of a site before lies."""
    return folder / f"before-{number}.onnx"


def after_file(folder: Path, number: int) -> Path:
    """Return where the model of a site after lies."""
    return folder / f"after-{number}.onnx"


def given_file(folder: Path, number: int) -> Path:
    """Return where the inputs lie that a site is to begin with."""
    return folder / f"given-{number}.json"


def failing_file(folder: Path, number: int) -> Path:
    """Return where the inputs are put on which a site differs."""
    return folder / f"failing-{number}.json"


def answer(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Certify the sites of a folder."""
    evaluators = evaluators_of(request)
    found: list[dict[str, Any]] = []
    with np.errstate(all="ignore"):
        for number, entry in enumerate(request["sites"]):
            case = Case(
                onnx.ModelProto.FromString(before_file(folder, number).read_bytes()),
                onnx.ModelProto.FromString(after_file(folder, number).read_bytes()),
                entry["lossy"],
                entry["approximate"],
                frozenset(entry["claims"]),
            )
            path = given_file(folder, number)
            try:
                certificate = certify(
                    case,
                    evaluators,
                    given=read_values(path) if path.exists() else (),
                    failing=partial(_keep, failing_file(folder, number)),
                )
            except EngineFailed as error:
                certificate = Certificate(Verdict.INCONCLUSIVE, reason=error.message)
            found.append(dataclasses.asdict(certificate))
    return {"certificates": found}


def _keep(path: Path, feed: Feed) -> None:
    write_values(path, [feed])
