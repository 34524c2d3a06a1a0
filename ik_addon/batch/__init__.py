"""Many files at once: Blenders in processes of their own, on this machine or at the workers of a Dask cluster.

A file that crashes one costs that process and nothing else. Of the Python package alone: the extension ships without
this folder, and nothing in it asks for it.
"""
