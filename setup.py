"""The packages, by a rule: the folders of ``graphfix``, and ``passes`` as ``graphfix.passes``.

Folders of data are packages, too, but for the facts, which stay in the sources.
"""

from setuptools import find_namespace_packages, find_packages, setup

# In a checkout graphfix/passes says where the passes are; what is installed has them there.
others = ("graphfix.passes", "*.facts", "*__pycache__*")
graphfix = find_namespace_packages(include=("graphfix", "graphfix.*"), exclude=others)
passes = find_packages(include=("passes", "passes.*"))

setup(
    packages=sorted((*graphfix, *(f"graphfix.{name}" for name in passes))),
    package_dir={"graphfix": "graphfix", "graphfix.passes": "passes"},
)
