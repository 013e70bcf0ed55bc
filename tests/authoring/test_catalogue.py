"""Catalogues of passes: the same passes in the same order, indexed once."""

from __future__ import annotations

from graphfix.authoring.registry import Catalogue, all_passes, get_pass, shipped_passes


def test_the_passes_of_an_operator_are_found_in_order() -> None:
    catalogue = shipped_passes()
    expected = [p for p in catalogue if any(op == "Mod" for _, op in p.matches)]
    assert "mod-elimination" in [p.id for p in expected]
    anything = [p for p in catalogue if any(op == "*" for _, op in p.matches)]
    assert list(catalogue.rewrites_of("Mod")) == [*expected, *anything]


def test_who_knows_the_types_of_an_operator_without_schema_is_found() -> None:
    inverse = get_pass("aten-linalg-inv")
    assert (inverse, None) in shipped_passes().knowing_of("ATen")


def test_leaving_out_passes_gives_a_catalogue_without_them() -> None:
    catalogue = shipped_passes()
    assert catalogue.without({"no-such-pass"}) is catalogue
    fewer = catalogue.without({"mod-elimination"})
    assert isinstance(fewer, Catalogue)
    assert len(fewer) == len(catalogue) - 1
    assert all(p.id != "mod-elimination" for p in fewer.rewrites_of("Mod"))


def test_there_is_one_catalogue_of_the_shipped_passes() -> None:
    assert all_passes() is shipped_passes()
    assert Catalogue.of(shipped_passes()) is shipped_passes()
