"""Finds texts that describe the same mechanism in different words.

For every text, a model writes a skeleton: one line that states the mechanism without words of the
domain. Two texts are an analogy if their skeletons are similar and the texts themselves are not.
"""
