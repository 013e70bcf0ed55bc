"""ncnn: what pnnx turns into no layer, and what it turns into one that computes differently.

All of it was measured on the wheels ncnn 1.0.20261020 and pnnx 20261020, a model for each, against
onnxruntime. What pnnx cannot turn into a layer of ncnn it leaves in its file, and ncnn says then
that there is no such layer. What depends on the operator alone is in the profile.
"""

from __future__ import annotations

MEASURED = "measured on ncnn 1.0.20261020 and pnnx 20261020"
# The graphs that were asked about, with the answers: `benchmarks.engines.neighbours`.
FACTS = f"{MEASURED}, graphfix/engines/ncnn/facts/neighbours.json"
RANK = 4  # of a Mat; a batch of 1 is next to it
