"""Whether repairs of foreign operators read every argument: each argument set, and compared."""
