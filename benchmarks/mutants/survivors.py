"""Why certificates miss the mutants that they miss, by a part of the mutant's label."""

from __future__ import annotations

REASONS = {
    "1.0100000000000002e-05 in node.attr('epsilon', 1e-05)": (
        "In float16 an epsilon that is 1% off moves rows near 1e-3 by little more than the "
        "tolerance, and the rows of the certificate by less; in float32 it is caught."
    ),
    "2e-12 in _DEFAULT_EPSILON": (
        "Twice so small an epsilon shows in rows that are all but constant, and there by little "
        "more than the tolerance."
    ),
    "build.Mul(q_high, low) -> (lambda value: build.Cast(build.Cast(value, to=1)": (
        "The lower half of a divisor of float64 is 0 unless it has more than 26 bits, and a "
        "quotient by such a divisor has a remainder that rounding moves anywhere."
    ),
}
