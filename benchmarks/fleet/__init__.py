"""`graphfix batch` on a corpus with hostile files in it: killed, resumed, measured, simulated."""
