"""The version of graphfix."""

__version__ = "0.1.0"
