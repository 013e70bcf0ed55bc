"""The options of `graphfix edit` as `graphfix/edits/options` declares them.

Written by `python -m graphfix.edits.listing`, so that the help imports no edit.
"""

# Name, form of its text (none for a flag), what it does.
EDITS = (
    ("rename", "OLD=NEW", "Rename a tensor: an input, an output or an inner one."),
    ("rename-node", "OLD=NEW", "Rename a node."),
    ("prefix", "TEXT", "Put TEXT before the names of all nodes and inner tensors."),
    ("dim", "N=1", "Fix the symbolic dimension N to a number."),
    ("shape", "NAME=1x3xHxW", "Declare the shape of an input: numbers, symbols, ? as it is."),
    ("extract", "IN,IN:OUT,OUT", "Take out what computes tensors from others."),
    ("extract-body", "NODE.ATTRIBUTE", "Take out the graph inside of a node."),
    ("split", "T,T=front.onnx,back.onnx", "Cut in two at tensors; needs no -o."),
    ("keep-outputs", "A,B", "Drop all other outputs, and what only they need."),
    ("drop-output", "NAME", "Drop an output, and what only it needs."),
    ("add-output", "TENSOR", "Expose an inner tensor as a graph output."),
    (
        "drop-input",
        "NAME=VALUE|@FILE.npy",
        "Store a value in the place of an input; NAME alone where nothing reads it.",
    ),
    ("reorder-inputs", "A,B", "Put inputs first, in this order."),
    ("reorder-outputs", "A,B", "Put outputs first, in this order."),
    ("join", "OTHER.onnx:OUT=IN,...", "Join a model after this one, or in front of it."),
    ("input-type", "NAME=uint8", "Take an input as another element type."),
    ("output-type", "NAME=float32", "Give an output out as another element type."),
    ("layout", "NAME=NHWC|NCHW", "Take an input, or give an output, in the other layout."),
    ("normalize", "NAME=MEAN/STD", "Compute (x - MEAN) / STD of an input; a,b,c per channel."),
    ("swap-channels", "NAME", "Take an image as BGR for RGB, or RGB for BGR."),
    ("dynamic", "NAME=Nx3x224x224,...", "Make a fixed input dimension dynamic."),
    ("delete", "NODE", "Take a node out; what read its output reads its input."),
    ("insert", "TENSOR=sub.onnx", "Put a model between a tensor and what reads it."),
    ("replace", "NODE=sub.onnx", "Put a model in the place of a node."),
    ("replace-op", "[DOMAIN::]OP=sub.onnx", "The same for every node of an operator."),
    ("set", "NODE.ATTRIBUTE=VALUE", "Give an attribute another value."),
    ("weights", "NAME=@FILE.npy", "Give a stored tensor other values."),
    ("to", "float16|bfloat16|float32", "Compute in another float type, where nodes allow it."),
)

# Heading of the help -> the options under it.
HEADINGS = {
    "Names": ("--rename", "--rename-node", "--prefix"),
    "Shapes and types": (
        "--dim",
        "--shape",
        "--dynamic",
        "--input-type",
        "--output-type",
        "--layout",
        "--to",
    ),
    "Inputs and outputs": (
        "--add-output",
        "--drop-output",
        "--keep-outputs",
        "--drop-input",
        "--reorder-inputs",
        "--reorder-outputs",
        "--normalize",
        "--swap-channels",
    ),
    "Parts": ("--extract", "--extract-body", "--split", "--join"),
    "Nodes and weights": (
        "--delete",
        "--insert",
        "--replace",
        "--replace-op",
        "--set",
        "--weights",
    ),
}
