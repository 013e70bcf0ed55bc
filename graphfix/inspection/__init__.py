"""What a file holds, without running it."""
