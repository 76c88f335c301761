"""Graph files: one module a family of formats, chosen by `sepool.graph.formats.read`."""
