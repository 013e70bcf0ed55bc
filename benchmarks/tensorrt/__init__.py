"""What TensorRT's parser says of models, next to what graphfix reports and writes."""
