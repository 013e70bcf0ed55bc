"""TopK and Unique in forms that engines take."""
