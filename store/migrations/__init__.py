"""Steps from one database schema to the next, applied when a database is opened.

A new step is a file ``versions/000N_name.py``; :data:`store.schema.HEAD` names the last one. Steps are written by
hand with plain SQLAlchemy types: they describe the schema as it was, whatever :mod:`store.tables` becomes.
"""
