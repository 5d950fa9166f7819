"""Figures for those who operate a server or jobs, in the text format of Prometheus.

Labels are names of graphs and models, and fixed words: no text of a user becomes one.
"""
