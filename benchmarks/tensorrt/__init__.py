"""What TensorRT's parser says of models, next to what graphfix says and makes of them."""
