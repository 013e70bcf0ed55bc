"""TIDL of Texas Instruments as an engine family, known from tables alone."""
