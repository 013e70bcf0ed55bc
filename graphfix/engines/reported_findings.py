"""Findings as a user reads them: each unknown once, and nodes by their position in the file.

Each operator that no one knows the types of is reported once: after it, types are unknown up to the
outputs of the graph, and a rule that misses one of them says nothing that the operator's own
finding does not. What is known of the library that writes such an operator is in
`foreign_operators.toml` next to this file and in the folders of families, whose entries name the
repository and the file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct, convert, field

from graphfix.analysis.inference import form_at
from graphfix.engines.engine import engines
from graphfix.ir.graph import Constant, Node, Tensor, is_empty
from graphfix.ir.model import Model
from graphfix.ir.storage.toml_files import read_shipped_toml
from graphfix.ir.views import NodeView
from graphfix.report import Finding, Severity

_DTYPE = "dtype"
_WORST = [Severity.REJECT, Severity.WRONG, Severity.BUILDER, Severity.FALLBACK, Severity.NOTE]


def counted_behind(model: Model, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings with what is only unknown after an unknown operator counted in its own.

    Where the operator has no finding that stops the model, such as one that the user says the
    engine has, it gets one: what is after it is not judged.

    Args:
        model: The model; its types are inferred.
        findings: What the rules say of it.
    """
    if all(finding.certain for finding in findings):
        return tuple(findings)
    strange = {id(node) for node in model.nodes() if _is_strange(node)}
    if not strange:
        return tuple(findings)
    places = {(g.scope, i): n for g in model.graphs() for i, n in enumerate(g.nodes)}
    traced = _Causes(strange, _given(model))
    after: dict[int, list[Finding]] = {}
    causes: dict[int, Node] = {}
    kept: list[Finding] = []
    for finding in findings:
        node = places.get((finding.node.scope, finding.node.index))
        judged = finding.certain or finding.fault  # a fault of ours is not after anything
        cause = None if judged or node is None else traced.of(finding, node)
        if cause is None:
            kept.append(finding)
        else:
            after.setdefault(id(cause), []).append(finding)
            causes[id(cause)] = cause
    return tuple(_reported(kept, after, causes, places))


def _is_strange(node: Node) -> bool:
    """Say whether no schema gives the types of a node, and nothing else did."""
    if (node.domain or "", node.op, node.overload) in node.graph.root.known_functions:
        return False
    if not any(_open(tensor, _DTYPE) or tensor.shape is None for tensor in node.outputs):
        return False
    return form_at(node) is None


def _given(model: Model) -> dict[int, list[Tensor]]:
    """Return the identity of each input of a loop's body or of a function -> what is given for it.

    What Loop and Scan hand on is last among their inputs and last in the body, so both are
    matched from the end; Loop counts and Scan of opset 8 has lengths before that.
    """
    found: dict[int, list[Tensor]] = {}
    functions = {function.key: function for function in model.functions}
    for node in model.nodes():
        called = functions.get((node.domain or "", node.op, node.overload))
        if called is not None:
            for tensor, given in zip(called.inputs, node.inputs, strict=False):
                found.setdefault(id(tensor), []).append(given)
        elif node.op in ("Loop", "Scan"):
            for _, body in node.graphs():
                pairs = zip(reversed(body.inputs), reversed(node.inputs), strict=False)
                for tensor, given in pairs:
                    found.setdefault(id(tensor), []).append(given)
    return found


class _Causes(Struct):
    """Finds the unknown operator without which a rule could judge; each tensor is asked for once.

    The unknown is followed upstream as shape inference goes: element types come from element types,
    ranks from ranks or, where all of them are known, from sizes.
    """

    strange: set[int]
    given: dict[int, list[Tensor]]
    known: dict[tuple[int, str], Node | None] = field(default_factory=dict[Any, Any])

    def of(self, finding: Finding, node: Node) -> Node | None:
        """Return the operator that a finding is after; None where others share in it."""
        kind, _, name = finding.missing.partition(" of ")
        if id(node) in self.strange:
            return node
        missing = [t for t in (*node.inputs, *node.outputs) if name and t.name == name]
        return self._follow(missing[0], kind) if missing else None

    def _follow(self, start: Tensor, kind: str) -> Node | None:
        """Walk upstream from a tensor, up to those that were starts before."""
        key = (id(start), kind)
        if key not in self.known:
            self.known[key] = self._cause(start, kind)
        return self.known[key]

    def _cause(self, start: Tensor, kind: str) -> Node | None:
        pending, seen = deque([start]), {id(start)}
        found: list[Node] = []
        while pending:
            tensor = pending.popleft()
            if (id(tensor), kind) in self.known:
                cause = self.known[id(tensor), kind]
                if cause is None:
                    return None
                found.append(cause)
                continue
            maker = tensor.inputs[0] if tensor.inputs else None
            if maker is not None and id(maker) in self.strange:
                found.append(maker)
                continue
            before = list(_unknown(_sources(tensor, self.given), kind))
            if not before:  # an input of the model, or unknown for a reason of its own
                return None
            new = [t for t in before if id(t) not in seen]
            seen.update(map(id, new))
            pending.extend(new)
        return found[0] if found else None


def _sources(tensor: Tensor, given: dict[int, list[Tensor]]) -> list[Tensor]:
    """Return what the type of a tensor follows from."""
    if not tensor.inputs:
        return given.get(id(tensor), [])
    maker = tensor.inputs[0]
    return [*maker.inputs, *(output for _, body in maker.graphs() for output in body.outputs)]


def _unknown(tensors: Iterable[Tensor], kind: str) -> Iterator[Tensor]:
    """Yield the inputs for whose sake an output of a node is unknown."""
    given = [t for t in tensors if not is_empty(t) and not isinstance(t, Constant)]
    open_ = [t for t in given if _open(t, kind)]
    if not open_ and kind != _DTYPE:
        open_ = [t for t in given if not all(isinstance(dim, int) for dim in t.shape or ())]
    yield from open_


def _open(tensor: Tensor, kind: str) -> bool:
    if is_empty(tensor) or tensor.opaque is not None:
        return False
    return not tensor.elem_type or (kind != _DTYPE and tensor.shape is None)


def _reported(
    kept: Sequence[Finding],
    after: dict[int, list[Finding]],
    causes: dict[int, Node],
    places: dict[tuple[str, int], Node],
) -> Iterator[Finding]:
    for finding in kept:
        node = places.get((finding.node.scope, finding.node.index))
        own = node is not None and finding.certain and finding.blocks
        if own and id(node) in after and finding.feature.startswith("op:"):
            hidden = tuple(after.pop(id(node)))
            message = f"{finding.message.rstrip('.')}; {_after(hidden)}"
            yield replace(finding, message=message, follow_ups=hidden)
        else:
            yield finding
    indices = {id(node): index for (_, index), node in places.items()}
    for key, several in after.items():
        view = NodeView(causes[key])
        yield _not_judged(view, indices[key], several)


def _after(several: Sequence[Finding]) -> str:
    count = len({(f.node.scope, f.node.index) for f in several})
    if count == 1:
        return "1 node after it whose types are unknown is not judged"
    return f"{count} nodes after it whose types are unknown are not judged"


def _not_judged(view: NodeView, index: int, several: Sequence[Finding]) -> Finding:
    domain = f"{view.domain}::" if view.domain else ""
    output = next((t.name for t in view.node.outputs if not is_empty(t)), "")
    return Finding(
        rule="types-unknown",
        feature=f"op:{domain}{view.op}",
        severity=min((f.severity for f in several), key=_WORST.index),
        node=view.ref(index),
        message=f"what {domain}{view.op} gives is not known: {_after(several)}",
        certain=False,
        missing=f"type of {output}",
        follow_ups=tuple(several),
    )


Places = dict[tuple[str, int], Node]


def as_reported(model: Model, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return what the rules say of a model in the form that reports have.

    Inside of a run nodes are known by where they are now. A report names them by where they was
    in the file, -1 for what is new; an order that was mended, and what was put in before them,
    does not shift them.

    Args:
        model: The model as it is now.
        findings: What the rules say of it.
    """
    if not findings:
        return ()
    places = {(g.scope, i): n for g in model.graphs() for i, n in enumerate(g.nodes)}
    return tuple(_placed(finding, places) for finding in counted_behind(model, findings))


def _placed(finding: Finding, places: Places) -> Finding:
    node = places.get((finding.node.scope, finding.node.index))
    follow_ups = tuple(_placed(each, places) for each in finding.follow_ups)
    if node is None or (node.index == finding.node.index and not follow_ups):
        return finding
    return replace(finding, node=replace(finding.node, index=node.index), follow_ups=follow_ups)


DATA = "foreign_operators.toml"


class Library(Struct, frozen=True):
    """A library that writes operators of its own.

    Attributes:
        name: What people call it.
        repository: Where its source is, ``owner/name`` on GitHub.
        file: The file or folder there that defines the operators.
        advice: What its users do to run such a file elsewhere.
        domain: Its domain, which may end in ``*``; empty where only `ops` tell.
        ops: The operators; empty for the whole domain.
    """

    name: str
    repository: str
    file: str
    advice: str
    domain: str = ""
    ops: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What a finding says of it."""
        return f"{self.name} writes it ({self.repository}, {self.file}): {self.advice}"

    def writes(self, domain: str, op: str) -> bool:
        """Say whether an operator is one of it."""
        if self.domain and not fnmatchcase(domain, self.domain):
            return False
        return not self.ops or any(fnmatchcase(op, known) for known in self.ops)


@cache
def libraries() -> tuple[Library, ...]:
    """Return all that is known, in the order in which they are asked."""
    folders = [Path(__file__).parent, *(e.folder for e in engines() if e.folder is not None)]
    files = [folder / DATA for folder in folders if (folder / DATA).is_file()]
    rows = [row for file in files for row in read_shipped_toml(file)["library"]]
    return convert(rows, tuple[Library, ...])


@lru_cache(maxsize=1024)  # a file may have thousands of one operator, and of names
def library_of(domain: str, op: str) -> Library | None:
    """Return the library that writes an operator, None where no one is known to."""
    return next((known for known in libraries() if known.writes(domain, op)), None)
