"""The contracts of `.importlinter` that import-linter has no word for."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter.contracts.independence import IndependenceContract
from importlinter.domain.contract import ContractCheck
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
    """Independence of the packages that match; the single files beside them are for all."""

    type_name = "package_independence"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Check the packages among the modules that the contract names."""
        expressions: set[ModuleExpression] = self.modules  # type: ignore[assignment] # a field
        modules = module_expressions_to_modules(graph, expressions)
        packages = {m.name for m in modules if graph.find_children(m.name)}
        self.modules = {ModuleExpression(name) for name in packages}  # type: ignore[assignment]
        return super().check(graph, verbose)
