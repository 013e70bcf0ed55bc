"""repeated-outputs-apart: an output that another is already, given through Max."""

import graphfix
from graphfix.testing import parse


def model(kind: str = "float", size: str = "3", opset: int = 17, more: str = "") -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({kind}[{size}] x) => '
        f"({kind}[{size}] y, {kind}[{size}] z) {{ y = Abs (x) {more or 'z = Identity (y)'} }}"
    )


def test_it_repairs_for_the_engine_that_gives_one() -> None:
    result = graphfix.run(parse(model()), target="rknn2.3")
    assert [finding.feature for finding in result.report.findings_before] == ["io:repeated-output"]
    assert result.exit_code == 0
    assert result.report.findings_after == ()
