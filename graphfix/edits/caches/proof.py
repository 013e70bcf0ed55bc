"""The claim that a static form chooses the tokens that its model chooses, shown by decoding."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

from onnx import ModelProto

from graphfix.analysis.packed_products import by_formula
from graphfix.edits.caches.decoding import TOKENS, Decoded, Interface
from graphfix.edits.caches.static_form import StaticForm
from graphfix.edits.caches.thin_weights import MOST, Thinned, thinned
from graphfix.edits.declared_sizes import dims_of
from graphfix.edits.step import Shown, Subject
from graphfix.errors import EngineFailed
from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.weights import is_external
from graphfix.pipeline.verifying import on_disk
from graphfix.proving.runners.evaluators import weight_bytes
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
    protos = [by_formula(each) for each in (subject.proto, form.proto, prefill) if each is not None]
    made = thinned(protos) if weight_bytes(protos[0]) > MOST else Thinned(protos)
    del protos
    if made.count:
        text += f", with other values in {made.count} matrices ({made.bytes / 2**30:.1f} GiB)"
    try:
        return Shown(text, _verdict(_decoded(subject, form, made.protos)))
    except EngineFailed as error:
        status = Verdict.INCONCLUSIVE if says_nothing(error) else Verdict.MISMATCH
        return Shown(text, Verification(status, f"decoding: {error.message}"))


def _decoded(subject: Subject, form: StaticForm, protos: list[ModelProto]) -> Decoded:
    """Decode with a model and with its static form.

    Args:
        subject: The model.
        form: The static form.
        protos: Both and the form for a prompt, as they are run; nothing is left in the list.
    """
    decoder = form.decoder
    mapped = any(is_external(tensor) for tensor in walk_tensors(protos[0]))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="graphfix-")))
        paths: list[str] = []
        while protos:
            file = stack.enter_context(on_disk(protos.pop(0), subject.base_dir))
            paths.append(str(file))
        asked = Interface(
            model=paths[0],
            static=paths[1],
            prefill=paths[2] if len(paths) > 2 else "",
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
            mapped=mapped,
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
    if equal and found.flat:
        return Verification(Verdict.INCONCLUSIVE, "the scores are the same numbers at each place")
    outputs = (OutputDifference("scores", found.largest, None),)
    if equal and found.ahead:
        reason = f"{same} one by one; a prompt at once gives the model other scores, for its tokens"
        return Verification(Verdict.INCONCLUSIVE, f"{reason} see those after them", outputs=outputs)
    if equal:
        return Verification(
            Verdict.EQUAL, method=f"onnxruntime, {same}", outputs=outputs, samples=1
        )
    reason = f"{same}; scores differ by up to {found.largest:.3g}, {found.worst:.3g} times noise"
    return Verification(Verdict.MISMATCH, reason, outputs=outputs, samples=1)
