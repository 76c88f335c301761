"""The split of molecules by scaffold."""

from __future__ import annotations

import numpy as np
import pytest

from sepool_experiments.data.tasks import molecules
from sepool_experiments.data.tasks.molecules import hiv_task, scaffold_split


def test_scaffold_split_scaffolds_stay_together():
    scaffolds = [f"s{i}" for i in np.random.default_rng(0).integers(0, 30, 200)]
    parts = scaffold_split(scaffolds)
    assert np.sort(np.concatenate(parts)).tolist() == list(range(200))
    groups = [{scaffolds[i] for i in part} for part in parts]
    assert not groups[0] & groups[1]
    assert not groups[0] & groups[2]
    assert not groups[1] & groups[2]
    assert len(parts[0]) <= 160
    assert len(parts[1]) <= 20


def test_hiv_task_without_rdkit_has_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(molecules, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="molhiv needs RDKit: pip install"):
        hiv_task(tmp_path, "molhiv")


def test_hiv_task_without_file_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(molecules, "find_spec", lambda name: object())
    with pytest.raises(ValueError, match=r"HIV\.csv is missing; copy it there"):
        hiv_task(tmp_path, "molhiv")


def test_hiv_task_reads_atoms_and_bonds(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "Molecules").mkdir()
    rows = "smiles,activity,HIV_active\nCCO,CI,0\nc1ccccc1,CA,1\nnonsense(,CI,0\nC,CI,0\n"
    (tmp_path / "Molecules" / "HIV.csv").write_text(rows)
    task = hiv_task(tmp_path, "molhiv")
    assert task.nodes.tolist() == [3, 6, 1]
    assert task.edges.counts.tolist() == [4, 12, 0]
    assert task.y.tolist() == [0, 1, 0]
    assert task.metric == "auc"
