"""The claim that a static form chooses the tokens that its model chooses, shown by decoding."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

from onnx import ModelProto

from graphfix.analysis.accuracy_level import at_level_0
from graphfix.edits.caches.decoding import TOKENS, Decoded, Interface
from graphfix.edits.caches.static_form import StaticForm
from graphfix.edits.declared_sizes import dims_of
from graphfix.edits.step import Shown, Subject
from graphfix.errors import EngineFailed
from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.weights import is_external
from graphfix.pipeline.verifying import on_disk
from graphfix.report import OutputDifference, Verdict, Verification
from graphfix.worker.limits import Limits
from graphfix.worker.messages import is_out_of_memory
from graphfix.worker.service import ask, says_nothing

_TASK = "graphfix.edits.caches.decoding:answer"
_SECONDS = 600.0


def shown(subject: Subject, form: StaticForm, prefill: ModelProto | None) -> Shown:
    """Decode with a model and with its static form."""
    text = f"decoding {TOKENS} tokens greedily gives the same tokens"
    text += ", after a prompt too" if prefill is not None else ""
    try:
        return Shown(text, _verdict(_decoded(subject, form, prefill)))
    except EngineFailed as error:
        status = Verdict.INCONCLUSIVE if says_nothing(error) else Verdict.MISMATCH
        return Shown(text, Verification(status, f"decoding: {error.message}"))


def _decoded(subject: Subject, form: StaticForm, prefill: ModelProto | None) -> Decoded:
    decoder = form.decoder
    protos = [at_level_0(each) for each in (subject.proto, form.proto, prefill) if each is not None]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="graphfix-")))
        paths = [str(stack.enter_context(on_disk(each, subject.base_dir))) for each in protos]
        asked = Interface(
            model=paths[0],
            static=paths[1],
            prefill=paths[2] if prefill is not None else "",
            caches=tuple((c.past, c.present, c.axis) for c in decoder.caches),
            each=tuple(
                info.name
                for info in subject.proto.graph.input
                if any(dim.dim_param in decoder.new for dim in dims_of(info.type))
            ),
            masks=decoder.masks,
            positions=decoder.positions,
            lengths=decoder.lengths,
            totals=decoder.totals,
            position=form.position,
            seed=0,
            mapped=any(is_external(tensor) for tensor in walk_tensors(subject.proto)),
        )
        return ask(_TASK, folder, asked, Limits(_SECONDS), Decoded)


def _verdict(found: Decoded) -> Verification:
    if found.failure:
        shows = found.ours and not is_out_of_memory(found.failure)
        status = Verdict.MISMATCH if shows else Verdict.INCONCLUSIVE
        who = "the static form" if found.ours else "the model"
        return Verification(status, f"{who} does not run: {found.failure}")
    same = f"{found.same} of {found.tokens} tokens are the same"
    if found.ties:
        same += f", {found.ties} tied within noise"
    equal = found.same + found.ties == found.tokens and found.worst <= 1.0
    outputs = (OutputDifference("scores", found.largest, None),)
    if equal:
        return Verification(
            Verdict.EQUAL, method=f"onnxruntime, {same}", outputs=outputs, samples=1
        )
    reason = f"{same}; scores differ by up to {found.largest:.3g}, {found.worst:.3g} times noise"
    return Verification(Verdict.MISMATCH, reason, outputs=outputs, samples=1)
