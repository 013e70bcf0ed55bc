"""Sites of small models, cut out and ready to be proved without a child process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from onnx import ModelProto

from graphfix.authoring.declaring import Pass
from graphfix.authoring.evidence import Evidence
from graphfix.authoring.registry import get_pass, shipped_passes
from graphfix.ir.model import Model
from graphfix.ir.protos import functions_of
from graphfix.pipeline.model_files import load
from graphfix.pipeline.run import Run
from graphfix.pipeline.running import execute
from graphfix.pipeline.settings import Settings
from graphfix.proving.sites.cutting import Cut, cut
from graphfix.report import Site
from graphfix.testing import parse

Sites = list[tuple[Site, Evidence]]


def sites_of(
    model: str | ModelProto | Path, *names: str | Pass, opset: int | None = None
) -> tuple[Sites, Model]:
    """Run passes, and return the sites that have evidence, and the model they left."""
    edited = load(model if isinstance(model, Path) else parse(model))
    passes = tuple(get_pass(n) if isinstance(n, str) else n for n in names)
    settings = Settings(
        target=None,
        opset=opset,
        named=passes or None,
        available=(*passes, *(p for p in shipped_passes() if p not in passes)),
    )
    run = Run(edited, settings)
    execute(run)
    found = [(a.site, a.evidence) for a in run.journal.applied if a.evidence is not None]
    return found, run.model


CutOne = Callable[..., Cut]


@pytest.fixture
def cut_one() -> CutOne:
    """Cut out the only site that a pass makes of a model."""

    def make(model: str | ModelProto, *names: str | Pass, opset: int | None = None) -> Cut:
        proto = parse(model)
        sites, _ = sites_of(proto, *names, opset=opset)
        assert len(sites) == 1, [site for site, _ in sites]
        functions = functions_of(proto)
        return cut(sites[0][1], functions)

    return make
