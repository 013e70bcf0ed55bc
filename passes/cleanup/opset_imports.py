"""Import the opsets that the nodes of a model are written for."""

from graphfix.authoring import (
    PREPARE,
    Editor,
    Graph,
    Node,
    NodeRef,
    NodeView,
    form_of,
    graph_pass,
    newest_opset,
    normal_domain,
)
from graphfix.opset.verdicts import Verdict, verdict_of
from graphfix.validity.complaints import Complaint, fits, form_complaints


@graph_pass(stage=PREPARE, removes="domain:missing-import")
def missing_opset_import(editor: Editor) -> None:
    """Declare the domains that a model uses and does not import.

    What it does: Adds an opset import, version 1, for each domain that a node of the main graph (or
        of the function) uses without one, and for the default domain the oldest opset that has all
        the operators in the form in which they are used.
    Why engines need it: Older exporters wrote ATen and contrib nodes without the import; the
        checker, shape inference and onnxruntime refuse the file.
    Before:
        opset_import: ["" : 17]
        y = org.pytorch.aten.ATen (x)
    After:
        opset_import: ["" : 17, "org.pytorch.aten" : 1]
        y = org.pytorch.aten.ATen (x)
    When it refuses: Where no opset of the default domain has all the operators of the default
        domain.
    Accuracy: Exact.
    References: https://onnx.ai/onnx/repo-docs/IR.html#operator-sets
    """
    for root in editor.model.roots():
        missing: dict[str, Node] = {}
        for graph in root.walk():
            for node in graph.nodes:
                domain = normal_domain(node.domain)
                if domain not in root.opsets:
                    missing.setdefault(domain, node)
        for domain, node in missing.items():
            version = _oldest_fit(root) if domain == "" else 1
            if version is None:
                editor.refuse(
                    NodeView(node), "one opset must define all operators of the graph; none does"
                )
                continue
            root.opsets[domain] = version
            editor.record(NodeView(node).ref(), f"{domain or 'ai.onnx'} {version} is imported")


def _oldest_fit(root: Graph) -> int | None:
    nodes = [n for g in root.walk() for n in g.nodes if normal_domain(n.domain) == ""]
    for version in range(1, newest_opset() + 1):
        if all(form_of(node.op, version) and fits(node, version) for node in nodes):
            return version
    return None


# A node that lacks an attribute would get the default of a form that no one had in mind.
_MENDED = ("unknown-attribute", "input-count", "deprecated-operator")
_SAME = Verdict()


@graph_pass(stage=PREPARE, removes=tuple(f"model:{kind}" for kind in _MENDED))
def opset_import_correction(editor: Editor) -> None:
    """Import the opset that the nodes are written for.

    What it does: Where a node has a form that its operator does not have at the imported opset
        (axes as an attribute at opset 13, as an input at 11), imports the nearest opset of the
        default domain at which every node has its form, and at which all the others mean what they
        meant. Functions that imported the opset of the model go along where all their nodes mean
        what they meant: they cannot be inlined from another opset.
    Why engines need it: onnxruntime refuses the file ("Unrecognized attribute: axes"), others read
        the form that the number promises and take the attribute for missing. Files become so when
        they are edited by hand, or joined from two exports.
    Before:
        opset_import: ["" : 11]
        y = Squeeze (x, axes)
    After:
        opset_import: ["" : 13]
        y = Squeeze (x, axes)
    When it refuses: Where no opset has the forms of all nodes, where another node would mean
        something else there (Softmax before and after 13), and where a node lacks an attribute or
        has one of another type.
    Accuracy: Exact: the nodes that the file as it was gives a meaning keep it.
    References: https://onnx.ai/onnx/repo-docs/Versioning.html#operator-sets
    """
    for root in editor.model.roots():
        opset = root.opsets.get("")
        if opset is None or not 1 <= opset <= newest_opset():
            continue
        nodes = [n for g in root.walk() for n in g.nodes if not normal_domain(n.domain)]
        odd = [n for n in nodes if form_of(n.op, opset) is not None and not fits(n, opset)]
        if odd and _correct(editor, root, nodes, odd) and root is editor.model.graph:
            _take_functions_along(editor, opset, root.opsets[""])


@graph_pass(stage=PREPARE, removes="model:opset-number")
def repeated_opset_import(editor: Editor) -> None:
    """Import a domain once.

    What it does: Where a file imports a domain several times, in different versions, keeps the last
        import, where every node of the domain means the same at each of them, or no node is of it.
    Why engines need it: They read different ones: the ONNX checker, shape inference and onnxruntime
        the last, OpenVINO the greatest. Quantizers of 4 bits add opset 21 to what skl2onnx wrote
        with the import twice, and leave the other at 17.
    Before:
        opset_import: ["" : 21, "" : 17]
        y = Relu (x)
    After:
        opset_import: ["" : 17]
        y = Relu (x)
    When it refuses: Where a node means something else at one of the versions, or is not known to
        mean the same: of domains other than the default one no two versions are compared.
    Accuracy: Exact.
    References: onnxruntime/core/graph/model.cc (domain_to_version); onnx/checker.cc
        (check_model); openvino src/frontends/onnx (get_opset_version)
    """
    versions: dict[str, list[int]] = {}
    for entry in editor.model.proto.opset_import:
        versions.setdefault(normal_domain(entry.domain), []).append(entry.version)
    several = {domain: given for domain, given in versions.items() if len({*given}) > 1}
    if not several:
        return
    for node in (node for graph in editor.model.graph.walk() for node in graph.nodes):
        domain = normal_domain(node.domain)
        *others, last = several.get(domain, [0])
        for other in {*others} - {last}:
            known = not domain and max(other, last) <= newest_opset()
            if not (known and _means_the_same(node, other, last)):
                both = f"{domain or 'ai.onnx'} {other} and {last}"
                reason = f"{node.op} must mean the same at {both}; that is not known of it"
                editor.refuse(NodeView(node), reason)
                return
    editor.reload(editor.model.to_proto())  # which has each domain once
    for domain, (*others, last) in several.items():
        listed = ", ".join(map(str, others))
        note = f"{domain or 'ai.onnx'} is imported as {last} alone, no longer as {listed}"
        editor.record_number(NodeRef(), note)


def _take_functions_along(editor: Editor, old: int, new: int) -> None:
    """Let functions that import one opset import another, where their nodes mean the same."""
    for function in editor.model.functions:
        nodes = [n for g in function.walk() for n in g.nodes if not normal_domain(n.domain)]
        if function.opsets.get("") != old or not all(_means_the_same(n, old, new) for n in nodes):
            continue
        function.opsets[""] = new
        if nodes:
            editor.record_number(NodeView(nodes[0]).ref(), f"opset {old} becomes {new}, as outside")


def _correct(editor: Editor, root: Graph, nodes: list[Node], odd: list[Node]) -> bool:
    """Import the opset that nodes are written for; say whether there is one."""
    opset = root.opsets[""]
    others = [node for node in nodes if all(node is not one for one in odd)]
    able = [v for v in range(1, newest_opset() + 1) if all(fits(node, v) for node in nodes)]
    for node in odd:
        lacking = [c for c in _complaints(node, opset) if c.kind not in _MENDED]
        if lacking:
            editor.refuse(NodeView(node), lacking[0].message)
            return False
    # What is no longer there was written for an older opset. A younger one may bring the name back
    # with another meaning, as 21 does with GroupNormalization.
    if any(c.kind == "deprecated-operator" for n in odd for c in _complaints(n, opset)):
        able = [version for version in able if version < opset]
    able.sort(key=lambda version: abs(version - opset))
    for version in able:
        if all(_means_the_same(node, opset, version) for node in others):
            root.opsets[""] = version
            note = f"opset {opset} becomes {version}, for which the nodes are written"
            editor.record_number(NodeView(odd[0]).ref(), note)
            return True
    reason = "no opset has the forms of all nodes"
    if able:
        other = next(n for n in others if not _means_the_same(n, opset, able[0]))
        reason = f"at opset {able[0]}, {other.op} {other.name!r} would mean something else"
    editor.refuse(NodeView(odd[0]), reason)
    return False


def _complaints(node: Node, opset: int) -> list[Complaint]:
    form = form_of(node.op, opset)
    return [] if form is None else form_complaints(node, form)


def _means_the_same(node: Node, one: int, other: int) -> bool:
    """Say whether a node means the same at two opsets, whatever its attributes are."""
    low, high = min(one, other), max(one, other)
    known = form_of(node.op, low)
    if known is None:
        return False
    since = known.since
    for version in range(low + 1, high + 1):
        form = form_of(node.op, version)
        if form is None:
            return False
        if form.since != since:
            if verdict_of(node.op, since, form.since) != _SAME:
                return False
            since = form.since
    return True
