"""The flow of a run: load, check, repair, verify, save, report."""
