"""Declare the domains that a model uses and does not import.

What it does: Adds an opset import, version 1, for each domain that a node of the main graph (or of
    the function) uses without one, and for the default domain the oldest opset that has all the
    operators in the form in which they are used.
Why engines need it: Older exporters wrote ATen and contrib nodes without the import; the checker,
    shape inference and onnxruntime refuse the file.
Before:
    opset_import: ["" : 17]
    y = org.pytorch.aten.ATen (x)
After:
    opset_import: ["" : 17, "org.pytorch.aten" : 1]
    y = org.pytorch.aten.ATen (x)
When it refuses: Where no opset of the default domain has all the operators of the default domain.
Accuracy: Exact.
References: https://onnx.ai/onnx/repo-docs/IR.html#operator-sets
"""

from graphfix.authoring import (
    PREPARE,
    Editor,
    Graph,
    Node,
    NodeView,
    form_of,
    graph_pass,
    newest_opset,
    normal_domain,
)


@graph_pass(stage=PREPARE, removes="domain:missing-import")
def missing_opset_import(editor: Editor) -> None:
    """Look at the main graph and at each function."""
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
        if all(_fits(node, version) for node in nodes):
            return version
    return None


def _fits(node: Node, version: int) -> bool:
    form = form_of(node.op, version)
    if form is None or form.schema.deprecated or not set(node.attrs) <= form.attributes:
        return False
    return form.variadic_input or len(node.inputs) <= len(form.inputs)
