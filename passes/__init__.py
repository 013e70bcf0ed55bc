"""The passes: one repair to a file, one family to a folder; installed as graphfix.passes."""

if __name__ == "passes":  # from the root of a checkout, by the name of the folder
    from ._by_folder import join

    join()
