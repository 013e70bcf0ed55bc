"""How lines are counted by kind and by package."""

from __future__ import annotations

from benchmarks.lines import counted, kinds_of

_SOURCE = '''"""What it is.

More.
"""

# why
NUMBER = 3  # three

TEXT = """
# no comment
"""


def f() -> None:
    """Do nothing."""
'''


def test_each_line_is_of_one_kind() -> None:
    assert kinds_of(_SOURCE) == {"docstring": 5, "blank": 4, "comment": 1, "code": 5}


def test_packages_are_folders_and_large_ones_are_split() -> None:
    names = ("graphfix/api.py", "graphfix/ir/storage/reading.py", "graphfix/engines/mnn/rules/a.py")
    files = [(name, "A = 1\n") for name in names]
    found = counted(iter([*files, ("graphfix/engines/mnn/rules.toml", "[a]\nb = 1\n")]))
    assert {name: (one.files, dict(one.kinds)) for name, one in found.items()} == {
        "graphfix": (1, {"code": 1}),
        "graphfix/ir": (1, {"code": 1}),
        "graphfix/engines/mnn": (2, {"code": 1, "data": 2}),
    }
