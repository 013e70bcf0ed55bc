"""Numbers of one model against those of another, in a child process with limits."""
