"""Everything that blocks a model, with the passes that remove it."""

from __future__ import annotations

from graphfix.engines.checking import check_model, file_findings
from graphfix.engines.reported_findings import as_reported
from graphfix.ir.model import Model
from graphfix.pipeline.binding import bind_shapes
from graphfix.pipeline.model_types import drop_outdated, infer_types, resolve_made_up
from graphfix.pipeline.op_types import check_op_types
from graphfix.pipeline.removers import opsets_of, with_removers
from graphfix.pipeline.settings import Settings
from graphfix.report import Finding
from graphfix.validity.complaints import Complaint
from graphfix.validity.examination import examine


def findings_of(model: Model, settings: Settings) -> tuple[Finding, ...]:
    """Bind shapes, infer types and check; the model is edited, so the caller gives its own."""
    return findings_for(model, examined(model, settings), settings)


def examined(model: Model, settings: Settings) -> tuple[Complaint, ...]:
    """Bind shapes and infer types of a model, which is edited; return what is wrong with it."""
    bind_shapes(model, settings.shapes)
    complaints = examine(model).complaints
    drop_outdated(model)
    resolve_made_up(model)
    infer_types(model, settings.knowing)
    check_op_types(model, settings.op_types)
    return complaints


def findings_for(
    model: Model, complaints: tuple[Complaint, ...], settings: Settings
) -> tuple[Finding, ...]:
    """Check a model that was examined, for whichever target; it is examined once for all."""
    assert settings.target is not None
    of_file = file_findings(complaints, settings.target)
    engines = as_reported(model, check_model(model, settings.target, settings.assumed))
    found = (*of_file, *engines)
    if settings.installed:
        from graphfix.pipeline.engine_verdict import findings_of_loading
        from graphfix.pipeline.verifying import as_it_came

        file = as_it_came(model.proto, model.path, model.sha256, model.base_dir)
        found = (*found, *findings_of_loading(model, file, settings, found))
    return with_removers(found, settings, opsets_of(model))
