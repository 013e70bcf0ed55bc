"""The passes: one kind of repair to a file, one family to a folder; installed as graphfix.passes."""
