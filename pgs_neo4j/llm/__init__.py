"""Language and embedding models behind two small Protocols.

See ``protocol`` and ``factory``.
"""
