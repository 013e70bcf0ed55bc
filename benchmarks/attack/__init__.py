"""Models made on purpose to be judged wrongly, and a judge that shares no code with graphfix."""
