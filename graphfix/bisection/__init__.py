"""Where two models, or a model and an engine, first differ."""
