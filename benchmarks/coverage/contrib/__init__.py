"""The operators of com.microsoft: the list, and models of each in its forms."""
