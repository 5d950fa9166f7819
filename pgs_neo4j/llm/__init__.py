"""Language and embedding models behind two small Protocols; see ``protocol`` and ``factory``."""
