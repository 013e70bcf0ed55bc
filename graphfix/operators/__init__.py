"""What operators do, one row each: `row` says what can be said, `table` says it."""
