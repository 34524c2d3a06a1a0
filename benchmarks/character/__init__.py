"""A character of any file, imported, rigged and measured: the parts of `benchmarks.characters`."""
