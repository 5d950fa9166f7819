"""The entities of a graph of documents: listed, shown, merged, and split."""
