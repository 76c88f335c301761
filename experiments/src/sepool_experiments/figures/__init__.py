"""The paper's pictures, made again from trainings: what pooling keeps of a graph.

`figure3` rebuilds a ring and a grid from what is left after pooling; `figure4` looks at the rings
of molecules. The command is ``sepool reproduce figure3``.
"""
