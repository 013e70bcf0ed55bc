"""Computing values that are known without running the model, whole or in part."""
