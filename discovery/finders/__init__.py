"""Where documents for gaps are looked for: one file for each kind of place."""
