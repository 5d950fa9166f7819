"""Finds texts that use other words for the same mechanism.

A model restates every text in one line without the words of its domain, the skeleton. Two texts
are an analogy if their skeletons are alike and the texts themselves are not.
"""
