"""Running the real engine of a target on a file that was not repaired."""
