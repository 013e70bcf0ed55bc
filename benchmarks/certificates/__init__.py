"""Every site of a corpus proved, and what that costs."""
