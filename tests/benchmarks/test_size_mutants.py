"""Code that is wrong at some sizes or overrides: counted where it shows, and caught by proofs."""

from __future__ import annotations

from benchmarks.size_mutants import of_folding, of_overrides, of_rewrites
from benchmarks.size_mutants.__main__ import Row, measured, page
from benchmarks.size_mutants.mutant import Mutant


def _one(every: tuple[Mutant, ...], text: str) -> Mutant:
    return next(mutant for mutant in every if mutant.text == text)


def test_the_old_folding_faults_are_caught_by_proofs_alone() -> None:
    folding, overrides = tuple(of_folding.mutants()), tuple(of_overrides.mutants())
    for mutant in (
        _one(folding, "to uint8, then Equal"),
        _one(folding, "to int16, then Sub"),
        _one(overrides, "its default has the shape of every value: Reshape, declared [K]"),
    ):
        row = measured(mutant)
        assert row.wrong > 0, mutant.text
        assert row.left == 0, mutant.text
        assert row.by in ("site", "whole")


def test_there_are_enough_and_the_page_counts_them() -> None:
    every = (*of_folding.mutants(), *of_rewrites.mutants(), *of_overrides.mutants())
    assert len({(mutant.kind, mutant.text) for mutant in every}) == len(every) >= 100
    one = every[0]
    text = page([Row(one, 4, 0, "site"), Row(one, 2, 1), Row(one, 0)])
    assert "3 made, 2 of them give another result somewhere, 1 of these (50.0%)" in text
    assert f"| {one.kind} | 3 | 2 | 1 | 1 | 0 |" in text
    assert f"- {one.kind}: {one.text} (wrong at 1 inputs)" in text
