"""OpenCV DNN as an engine family."""
