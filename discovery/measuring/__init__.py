"""Figures about the documents and about what answers from them."""
