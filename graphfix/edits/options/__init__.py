"""The edits, each with its option and its function; the folder is walked."""
