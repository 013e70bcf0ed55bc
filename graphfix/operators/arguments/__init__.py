"""What arguments operators of other domains take, and which of those given change nothing.

Facts alone: tables that scripts write from what PyTorch and onnxruntime register, and what reads
them. The layer above, `graphfix.authoring.accounting`, holds repairs to them.
"""
