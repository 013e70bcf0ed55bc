"""Random graphs and families of operators, judged by a judge that imports nothing of graphfix."""
