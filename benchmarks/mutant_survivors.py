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
    "spread - fraction -> fraction - spread": (
        "The halves of a constant divisor are no halves then, which shows where the quotient has "
        "more bits than the divisor leaves room for; no sample of the certificate has such a "
        "quotient by these divisors."
    ),
    "build.Sub(spread, build.Sub(spread, value)) -> build.Sub(build.Sub(spread, value), spread)": (
        "The upper half of the quotient changes its sign and the lower one makes up for it, up to "
        "the rounding of large quotients: a few units in the last place of the divisor."
    ),
}
