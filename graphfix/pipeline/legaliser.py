"""Trying candidates aside until everything they emit is legal, and choosing the best."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct, field
from onnx import TensorProto

from graphfix.authoring.applying import Draft
from graphfix.authoring.declaring import TARGETED, Pass
from graphfix.authoring.drafting import draft_rewrite, prune, splice
from graphfix.authoring.registry import Catalogue
from graphfix.authoring.workspace import Workspace
from graphfix.engines.checking import check_node
from graphfix.engines.profile import Target
from graphfix.errors import PassBug
from graphfix.ir.graph import Node
from graphfix.ir.views import NodeView, Refuse
from graphfix.operators.table import ROUNDS
from graphfix.report import (
    APPROXIMATE,
    EXACT,
    LOSSY,
    MENDED,
    Accuracy,
    Finding,
    NodeRef,
)

MAX_DEPTH = 6
_WHOLE = frozenset(
    getattr(TensorProto, sign + name)
    for sign in ("", "U")
    for name in ("INT8", "INT16", "INT32", "INT64")
)
_FRACTIONS = frozenset(
    getattr(TensorProto, name) for name in ("FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE")
)

_RANK = {EXACT: 0, APPROXIMATE: 1, LOSSY: 2, MENDED: 3}


class Tree(Struct):
    """A candidate whose emitted nodes are all legal, but for what is left to a graph pass.

    Attributes:
        draft: Its nodes.
        accuracy: Of all of it.
        notes: What its passes say of it.
        passes: They, the one that matched first.
        left: The features that graph passes of last resort have to remove.
    """

    draft: Draft
    accuracy: Accuracy
    notes: list[str]
    passes: list[str]
    left: list[str] = field(default_factory=list[str])

    def cost(self) -> tuple[int, int, str]:
        """Accuracy of the whole tree, then node count, then pass id."""
        return (_RANK[self.accuracy], len(self.draft.nodes), self.passes[0])


class Rejection(Struct):
    """Why one candidate was not taken."""

    pass_id: str
    reason: str
    bug: PassBug | None = None


class Attempt(Struct, frozen=True):
    """One candidate that was tried for a node: its legal tree, or why there is none.

    Attributes:
        pass_id: The pass.
        reason: Why it was not taken; empty where its tree is legal.
        failed: Whether the pass is at fault.
        accuracy: Of the whole tree; None without one.
        nodes: Of the whole tree.
        helped_by: The other passes of the tree.
    """

    pass_id: str
    reason: str = ""
    failed: bool = False
    accuracy: Accuracy | None = None
    nodes: int | None = None
    helped_by: tuple[str, ...] = ()


class Decision(Struct, frozen=True):
    """What was tried for a node, and which pass won; empty where none did."""

    node: NodeRef
    attempts: tuple[Attempt, ...]
    chosen: str = ""


class Legaliser(Struct):
    """Finds, for a node with findings, the best tree of rewrites that leaves none.

    Attributes:
        workspace: The names that are taken.
        target: The target whose rules decide; None tries single passes without rules.
        passes: The passes at hand; the rewrites for findings among them may be used.
        options: Pass id -> options.
        assumed: Operators that the user says the engine has.
        allow_lossy: Whether lossy trees may be chosen.
        decisions: Where each choice is noted; None where no one asks.
        finishers: The graph passes of last resort, which write whole groups of nodes again.
        leaving: Whether a tree may leave to them what they declare to remove.
        unfinished: The passes that leave them nothing, because they did not finish it before.
        leavable: Whether a tree was dropped for nothing else.
        hindering: What was found of nodes that a tree was dropped for.
    """

    workspace: Workspace
    target: Target
    passes: Catalogue
    options: Mapping[str, Mapping[str, Any]]
    assumed: Collection[tuple[str, str]] = ()
    allow_lossy: bool = False
    decisions: list[Decision] | None = None
    finishers: Sequence[Pass] = ()
    leaving: bool = False
    unfinished: Collection[str] = ()
    leavable: bool = False
    hindering: list[Finding] = field(default_factory=list[Finding])
    _off: bool = False
    rejections: list[Rejection] = field(default_factory=list[Rejection])

    def blocking(self, view: NodeView) -> list[Finding]:
        """Return what blocks a node, or else what keeps it off the engine."""
        found = check_node(view, self.target, self.assumed)
        return [f for f in found if f.blocks] or [f for f in found if f.keeps_off]

    def candidates(self, view: NodeView, findings: Sequence[Finding]) -> list[Pass]:
        """Return the passes that match the node and remove one of its findings."""
        return [
            declared
            for declared in self.passes.rewrites_of(view.op)
            if declared.stage == TARGETED
            and (self.allow_lossy or declared.accuracy is not LOSSY)
            and any(declared.removes_feature(f.feature) for f in findings)
            and declared.matches_node(view)
        ]

    def solve(self, view: NodeView, findings: Sequence[Finding]) -> Tree | None:
        """Return the best tree for a node, or None; `rejections` then say why.

        A node that nothing blocks is only moved: to nodes that all run in the engine, and exactly.
        """
        self.rejections = []
        if self.workspace.spares(view) or (self.leaving and self._is_left(findings)):
            return None
        self._off = not any(finding.blocks for finding in findings)
        return self._solve(view, findings, 0, ())

    def _solve(
        self, view: NodeView, findings: Sequence[Finding], depth: int, lineage: tuple[str, ...]
    ) -> Tree | None:
        best: Tree | None = None
        attempts: list[Attempt] = []
        for declared in self.candidates(view, findings):
            if declared.id in lineage or self.workspace.blocks(declared.id, view.ref()):
                continue
            if declared.last_resort and best is not None:
                break
            known = len(self.rejections)
            tree = self._try(declared, view, depth, (*lineage, declared.id))
            attempts.append(_attempt(declared, tree, self.rejections[known:]))
            if tree is not None and (best is None or tree.cost() < best.cost()):
                best = tree
        if self.decisions is not None and not depth:
            chosen = best.passes[0] if best is not None else ""
            self.decisions.append(Decision(view.ref(), tuple(attempts), chosen))
        return best

    def _try(
        self, declared: Pass, view: NodeView, depth: int, lineage: tuple[str, ...]
    ) -> Tree | None:
        try:
            drafted = draft_rewrite(declared, view, self.workspace, self.options.get(declared.id))
        except Refuse as refusal:
            self.rejections.append(Rejection(declared.id, refusal.reason))
            return None
        except PassBug as bug:
            self.rejections.append(Rejection(declared.id, str(bug), bug))
            return None
        if drafted.accuracy is LOSSY and not self.allow_lossy:
            note = drafted.note or "the outputs change"
            self.rejections.append(
                Rejection(declared.id, f"lossy, and needs --allow-lossy: {note}")
            )
            return None
        tree = Tree(
            drafted.draft,
            drafted.accuracy,
            [drafted.note] if drafted.note else [],
            [declared.id],
        )
        with _results_returned(tree.draft):
            level = MAX_DEPTH if declared.as_written else depth
            legal = self._legalise_nodes(tree, tree.draft.nodes, level, lineage, body=False)
        if not legal:
            return None
        if tree.left and declared.id in self.unfinished:
            self.rejections.append(Rejection(declared.id, f"it leaves {', '.join(tree.left)}"))
            return None
        if self._off and tree.accuracy is not EXACT:
            reason = f"{tree.accuracy}, and the node runs unchanged on the fallback engine"
            self.rejections.append(Rejection(declared.id, reason))
            return None
        prune(tree.draft)
        return tree

    def _is_left(self, findings: Sequence[Finding]) -> bool:
        """Say whether graph passes of last resort declare to remove all findings of a node."""
        return all(
            any(declared.removes_feature(found.feature) for declared in self.finishers)
            for found in findings
        )

    def _legalise_nodes(
        self, tree: Tree, nodes: list[Node], depth: int, lineage: tuple[str, ...], *, body: bool
    ) -> bool:
        position = 0
        while position < len(nodes):
            node = nodes[position]
            for _, inner in node.graphs():
                if not self._legalise_nodes(tree, inner.nodes, depth, lineage, body=True):
                    return False
            findings = self.blocking(NodeView(node))
            if not any(finding.blocks or self._off for finding in findings):
                position += 1
                continue
            first = findings[0]
            blocked = f"it needs {node.op}: {first.message}"
            left = not body and self._is_left(findings)
            if left and self.leaving:
                tree.left.extend(finding.feature for finding in findings)
                position += 1
                continue
            deep = depth + 1 >= MAX_DEPTH or body
            subtree = None if deep else self._solve(NodeView(node), findings, depth + 1, lineage)
            if subtree is None:
                self.leavable = self.leavable or left
                self.rejections.append(Rejection(lineage[-1], blocked))
                self.hindering.append(first)
                return False
            if _rounds_again(node, subtree) and not self.allow_lossy and _is_cut_off(node, nodes):
                reason = f"it cuts off what {subtree.passes[0]} computes with another rounding"
                self.rejections.append(Rejection(lineage[-1], reason))
                return False
            nodes[position : position + 1] = subtree.draft.nodes
            splice(tree.draft, node, subtree.draft)
            tree.accuracy = max(tree.accuracy, subtree.accuracy, key=_RANK.__getitem__)
            tree.notes.extend(subtree.notes)
            tree.passes.extend(subtree.passes)
            tree.left.extend(subtree.left)
            position += len(subtree.draft.nodes)
        return True


def _rounds_again(node: Node, tree: Tree) -> bool:
    """Say whether a tree computes floats in other steps than the node that it stands for."""
    return any(
        added.op in ROUNDS
        and added.op != node.op
        and any(t.elem_type in _FRACTIONS for t in added.outputs)
        for added in tree.draft.nodes
    )


def _is_cut_off(node: Node, readers: Sequence[Node]) -> bool:
    """Say whether fractions of what a node gives are cut off at once.

    A number a little less than 4 becomes 3 then: what is right but for its last digits is wrong by
    one.
    """
    given = {id(tensor) for tensor in node.outputs}
    return any(
        (reader.op in ("Floor", "Ceil") or reader.attrs.get("to") in _WHOLE)
        and any(id(tensor) in given for tensor in reader.inputs)
        for reader in readers
    )


@contextmanager
def _results_returned(draft: Draft) -> Generator[None]:
    """Let rules see that a result stands for a graph output, as it will once it is applied."""
    pairs = zip(draft.node.outputs, draft.results, strict=False)
    taken = [new.tensor for old, new in pairs if new is not None and old.output_count]
    for tensor in taken:
        tensor.output_count += 1
    try:
        yield
    finally:
        for tensor in taken:
            tensor.output_count -= 1


def _attempt(declared: Pass, tree: Tree | None, rejections: Sequence[Rejection]) -> Attempt:
    if tree is not None:
        helpers = tuple(name for name in dict.fromkeys(tree.passes) if name != declared.id)
        return Attempt(
            declared.id, accuracy=tree.accuracy, nodes=len(tree.draft.nodes), helped_by=helpers
        )
    own = [r for r in rejections if r.pass_id == declared.id]
    reason = "; ".join(dict.fromkeys(r.reason for r in own))
    return Attempt(declared.id, reason, failed=any(r.bug is not None for r in own))
