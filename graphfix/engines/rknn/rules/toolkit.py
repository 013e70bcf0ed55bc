"""Where what the rules of RKNN say was seen."""

TOOLKIT = "measured in the simulator of rknn-toolkit2 2.3.2"
