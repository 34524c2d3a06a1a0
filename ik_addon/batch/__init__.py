"""Many files at once: Blenders in processes of their own, on this machine or at the workers of a Dask cluster.

A file that crashes one costs that process and nothing else. Nobody here knows what is done with a file.
"""
