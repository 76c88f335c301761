"""The systems SEP-N is compared with, one small file each; `models.node_systems` names them.

Every model can hold replicas that share one graph: features stand side by side, ``(N, R, width)``.
"""
