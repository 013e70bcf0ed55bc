"""The passes, in a checkout: they are read from the folder ``passes`` next to ``graphfix``.

What is installed has that folder in this place and not this file. No link in the tree is needed,
which a clone on a system without symbolic links would turn into a file of text.
"""

from pathlib import Path

__path__ = [str(Path(__file__).resolve().parents[2] / "passes")]
