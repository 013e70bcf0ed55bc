"""Random graphs and families of operators, and a judge that shares no code with graphfix."""
