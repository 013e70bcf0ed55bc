"""Say why nothing replaces an operator of another domain, and what can be done instead.

What it does: Nothing to the model: for each operator of com.microsoft or ai.onnx.ml that has no
    form in ONNX's operators, or none that was proved, it gives the reason and a way out.
Why engines need it: The finding says that an engine does not know the operator; what to do about it
    depends on what the operator is, and on who writes it.
Before: y = com.microsoft.Tokenizer (x)
After: y = com.microsoft.Tokenizer (x)
When it refuses: Always, with the reason.
Accuracy: Exact: nothing is changed.
References: microsoft/onnxruntime docs/ContribOperators.md, the pages of these operators;
    https://onnx.ai/onnx/operators/index.html#ai-onnx-ml
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_MICROSOFT, _ML = "com.microsoft::", "ai.onnx.ml::"
_BEFORE = "start from the model before it was quantized"
_EDIT = ", and cut this node off (graphfix edit --extract)"
# Why, what to do, and the operators.
_REASONS: tuple[tuple[str, str, str, str], ...] = (
    (
        _MICROSOFT,
        "it is a search that runs a decoder again and again until it ends, and the decoder is a "
        "graph in its attribute",
        "save the graphs of its attributes (decoder, encoder, init_decoder) as files of their own "
        "(graphfix edit MODEL --extract-body {node}.decoder -o decoder.onnx), repair those, and "
        "let the application search",
        "BeamSearch GreedySearch Sampling WhisperBeamSearch",
    ),
    (
        _MICROSOFT,
        "it takes texts apart, or works on the tokens that were found",
        "compute it in the application, before or after the network",
        "Tokenizer BifurcationDetector NGramHashMapping VarlenNGramHashMapping "
        "SpeculativePrefixCommit",
    ),
    (
        _MICROSOFT,
        "it hashes in integers of 32 bits without a sign, which engines have not",
        "compute the hashes in the application, and make them the input",
        "MurmurHash3",
    ),
    (
        _MICROSOFT,
        "it gives the cheapest way through a matrix, whose length depends on its values",
        "compute it in the application, after the network",
        "DynamicTimeWarping",
    ),
    (
        _MICROSOFT,
        "it embeds the letters of words, and onnxruntime's kernel for it reads what it did not "
        "write: nothing says what it computes",
        "export the model again with Gather, Conv and ReduceMax",
        "WordConvEmbedding",
    ),
    (
        _MICROSOFT,
        "it is a container of what was compiled for another engine",
        "start from the model that it was compiled from",
        "EPContext Snpe",
    ),
    (
        _MICROSOFT,
        "it moves the state of a running generation between buffers of one processor",
        "export the step of the network alone, with past and present as inputs and outputs",
        "ConvStateReplay GatedDeltaNetStateReplay Mamba2Verify VarlenCausalConvWithState",
    ),
    (
        _MICROSOFT,
        "the tokens of several sequences are packed without padding, and its sizes depend on them",
        "optimise the model without packing (no RemovePadding), so that it has Attention, "
        "MultiHeadAttention or GroupQueryAttention",
        "RemovePadding PagedAttention SparsePagedAttention PackedSparseAttentionIndexer "
        "PackedSparseAttentionIndexerMerge",
    ),
    (
        _MICROSOFT,
        "past and present share one buffer, which a function of its inputs cannot say",
        "export the decoder with MultiHeadAttention or GroupQueryAttention and a past of its own",
        "DecoderMaskedSelfAttention DecoderAttention",
    ),
    (
        _MICROSOFT,
        "it looks at some blocks of keys alone, which tables that are computed next to it choose",
        "export the model with full attention",
        "SparseAttention DynamicSparseAttention SparseAttentionIndexer LongformerAttention",
    ),
    (
        _MICROSOFT,
        "its values lie in a layout of cuBLASLt",
        _BEFORE + ", and quantize it with QuantizeLinear and DequantizeLinear",
        "QOrderedAttention QOrderedGelu QOrderedLayerNormalization QOrderedLongformerAttention "
        "QOrderedMatMul QuantizeWithOrder DequantizeWithOrder",
    ),
    (
        _MICROSOFT,
        "its weights are packed for kernels of one processor",
        _BEFORE + ", or quantize it with MatMulNBits",
        "MatMulFpQ4 MatMulPacked GatherPacked MoEPacked MatMulBlockQuantizedFp4Weight "
        "MatMulBlockQuantizedFp8Weight GemmFloat8 QuantizeBFP DequantizeBFP",
    ),
    (
        _MICROSOFT,
        "it quantizes its own states at each step of a recurrence",
        _BEFORE + ", which has LSTM",
        "DynamicQuantizeLSTM",
    ),
    (
        _MICROSOFT,
        "one operand is a sparse tensor",
        "store the weights as a dense matrix",
        "SparseToDenseMatMul",
    ),
    (
        _MICROSOFT,
        "it is a recurrence with attention in each step",
        "export the model again with LSTM and attention as operators of ONNX",
        "AttnLSTM",
    ),
    (
        _ML,
        "a map is read, which is no tensor",
        "make the row of numbers before the model, in the order of the vocabulary, with 0 for what "
        "is not there" + _EDIT,
        "DictVectorizer",
    ),
    (
        _ML,
        "a map is read, which is no tensor",
        "make the row of its values before the model, in the order of its keys" + _EDIT,
        "CastMap",
    ),
    (
        _ML,
        "texts are read or given, which no engine holds",
        "look them up before or after the model in cats_strings and cats_int64s" + _EDIT,
        "CategoryMapper",
    ),
)
_BY_OPERATOR = {
    domain + op: (why, what) for domain, why, what, ops in _REASONS for op in ops.split()
}
OPERATORS = tuple(sorted(_BY_OPERATOR))


@rewrite(OPERATORS, last_resort=True)
def without_equivalent(node: NodeView, build: Builder) -> Value:
    """Say why, see the module."""
    why, what = _BY_OPERATOR[f"{node.domain}::{node.op}"]
    raise Refuse(f"{why}; {what.format(node=node.name or f'op:{node.op}')}")
