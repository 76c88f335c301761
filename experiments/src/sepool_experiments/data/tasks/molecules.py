"""ogbg-molhiv from the table of its molecules: atoms and bonds by RDKit, split by scaffold."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sepool.extras import install_command
from sepool_experiments.data.tasks.task import Ints, Task, edge_blocks

FILES = ("Molecules/HIV.csv", "Molecules/HIV.csv.xz")
SHARES = (0.8, 0.1)  # of training and validation
ELEMENTS = (5, 6, 7, 8, 9, 14, 15, 16, 17, 34, 35, 53)  # atomic numbers; one column for all others


def hiv_task(root: Path, name: str) -> Task:
    """Return the molecules of ``HIV.csv``: one-hot elements, degrees and charges of atoms."""
    if find_spec("rdkit") is None:
        command = install_command("sepool-experiments[molecules]")
        raise ValueError(f"{name} needs RDKit: {command}")
    path = next((root / file for file in FILES if (root / file).exists()), None)
    if path is None:
        raise ValueError(f"{root / FILES[0]} is missing; copy it there (MoleculeNet, HIV)")
    log: Any = import_module("rdkit.RDLogger")
    chem: Any = import_module("rdkit.Chem")
    murcko: Any = import_module("rdkit.Chem.Scaffolds.MurckoScaffold")
    log.DisableLog("rdApp.*")
    table = pd.read_csv(path, usecols=["smiles", "HIV_active"])
    read = [chem.MolFromSmiles(text) for text in table["smiles"]]
    molecules = [molecule for molecule in read if molecule is not None]
    y = table["HIV_active"].to_numpy(np.int64)[[molecule is not None for molecule in read]]
    scaffolds = [murcko.MurckoScaffoldSmiles(mol=molecule) for molecule in molecules]
    edges = [
        np.array([(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in m.GetBonds()], np.int64)
        for m in molecules
    ]
    atoms = [
        (a.GetAtomicNum(), a.GetDegree(), a.GetFormalCharge(), a.GetIsAromatic(), a.GetTotalNumHs())
        for m in molecules
        for a in m.GetAtoms()
    ]
    nodes = np.array([molecule.GetNumAtoms() for molecule in molecules])
    blocks = edge_blocks([pairs.reshape(-1, 2) for pairs in edges])
    train, val, test = scaffold_split(scaffolds)
    x = _atom_features(np.array(atoms, np.int64))
    return Task(name, nodes, blocks, x, y, train, val, test, metric="auc")


def scaffold_split(scaffolds: Sequence[str]) -> tuple[Ints, Ints, Ints]:
    """Return training, validation and test molecules; those of one scaffold stay together.

    The largest groups train, the smallest test, as in MoleculeNet.

    >>> [part.tolist() for part in scaffold_split(["a"] * 8 + ["b", "c"])]
    [[0, 1, 2, 3, 4, 5, 6, 7], [8], [9]]
    """
    groups = pd.Series(range(len(scaffolds))).groupby(np.array(scaffolds, object), sort=False)
    ordered = sorted((list(group) for _, group in groups), key=lambda g: (-len(g), g[0]))
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    limits = SHARES[0] * len(scaffolds), SHARES[1] * len(scaffolds)
    for group in ordered:
        full = [len(part) + len(group) > limit for part, limit in zip(parts, limits, strict=False)]
        parts[2 if all(full) else full.index(False)].extend(group)
    train, val, test = (np.array(sorted(part), np.int64) for part in parts)
    return train, val, test


def _atom_features(atoms: Ints) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """One-hot columns of element, degree, charge, aromaticity and hydrogens."""
    number, degree, charge, aromatic, hydrogens = atoms.T
    element = np.searchsorted(ELEMENTS, number)
    listed = np.isin(number, ELEMENTS)
    codes = (
        (np.where(listed, element, len(ELEMENTS)), len(ELEMENTS) + 1),
        (np.minimum(degree, 6), 7),
        (np.clip(charge, -2, 2) + 2, 5),
        (aromatic, 2),
        (np.minimum(hydrogens, 4), 5),
    )
    return np.concatenate([np.eye(size, dtype=np.float32)[code] for code, size in codes], axis=1)
