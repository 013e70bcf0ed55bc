"""The passes: one repair to a file, one family to a folder; installed as graphfix.passes."""
