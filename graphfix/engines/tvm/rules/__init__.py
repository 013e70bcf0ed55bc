"""What TVM refuses or misreads beyond its profile."""
