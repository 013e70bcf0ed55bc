"""What OpenCV refuses or misreads beyond its profile."""
