"""What TensorRT's parser says of models, beside what graphfix says and makes of them."""
