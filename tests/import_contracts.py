"""The contracts of `.importlinter` that import-linter has no word for."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from grimp import ImportGraph
from importlinter.application import contract_utils, output
from importlinter.application.contract_utils import AlertLevel
from importlinter.contracts.independence import IndependenceContract
from importlinter.domain import fields
from importlinter.domain.contract import Contract, ContractCheck
from importlinter.domain.helpers import module_expressions_to_modules
from importlinter.domain.imports import ModuleExpression


class PassIndependence(IndependenceContract):
    """Independence of the modules that match, without those whose name begins with `_`.

    Passes of one family may share a private helper, which a wildcard of import-linter cannot leave
    out. A pass that reaches another one through a helper still breaks the contract.
    """

    type_name = "pass_independence"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Check the passes among the modules that the contract names."""
        expressions: set[ModuleExpression] = self.modules  # type: ignore[assignment] # a field
        modules = module_expressions_to_modules(graph, expressions)
        passes = {m.name for m in modules if not m.name.rpartition(".")[2].startswith("_")}
        if not passes:
            return ContractCheck(kept=True, metadata={"invalid_chains": []})
        self.modules = {ModuleExpression(name) for name in passes}  # type: ignore[assignment]
        return super().check(graph, verbose)


class PackageIndependence(IndependenceContract):
    """Independence of the packages that match; the single files next to them are for all."""

    type_name = "package_independence"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Check the packages among the modules that the contract names."""
        expressions: set[ModuleExpression] = self.modules  # type: ignore[assignment] # a field
        modules = module_expressions_to_modules(graph, expressions)
        packages = {m.name for m in modules if graph.find_children(m.name)}
        self.modules = {ModuleExpression(name) for name in packages}  # type: ignore[assignment]
        return super().check(graph, verbose)


class NoCircles(Contract):
    """No file imports itself through others: neither at once, nor in a function, nor for types."""

    type_name = "no_circles"

    ignore_imports = fields.SetField(subfield=fields.ImportExpressionField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Check all files of the package."""
        removed = contract_utils.remove_ignored_imports_and_report(
            graph=graph,
            ignore_imports=self.ignore_imports,  # type: ignore[arg-type] # a field
            unmatched_alerting=AlertLevel.NONE,
        )
        edges = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
        circle: list[str] = []
        try:
            TopologicalSorter(edges).prepare()
        except CycleError as error:
            circle = error.args[1]
        return ContractCheck(
            kept=not circle,
            ignored_import_count=removed.ignored_import_count,
            metadata={"circle": circle},
        )

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name the files of the circle, each of which is imported by the next."""
        output.print_error(" is imported by ".join(check.metadata["circle"]))
