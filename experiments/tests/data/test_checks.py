from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from tests.communities import community_set
from torch_geometric import datasets

from sepool_experiments.data.checks import (
    check_data,
    check_datasets,
    check_device,
    check_folds,
    check_node_data,
    check_split,
)
from sepool_experiments.models.catalog import SYSTEMS_OF
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.choices import check_choice, check_names
from sepool_experiments.protocols.units import Config, Unit


def folds(*parts):
    return [np.array(part) for part in parts]


@pytest.mark.parametrize(
    ("name", "offer"),
    [
        ("protein", "did you mean PROTEINS?"),
        ("imdb_binary", "did you mean IMDB-BINARY or IMDB-MULTI?"),
        ("xyz", "choose from MUTAG, PROTEINS, IMDB-BINARY, IMDB-MULTI"),
    ],
)
def test_check_names_unknown_offers_closest(name, offer):
    with pytest.raises(ValueError, match=f"unknown dataset '{name}'; ") as caught:
        check_names("dataset", [name], ["MUTAG", "PROTEINS", "IMDB-BINARY", "IMDB-MULTI"])
    assert str(caught.value).endswith(offer)


class TestDevice:
    def test_check_device_available_is_returned(self, monkeypatch):
        assert check_device("cpu") == "cpu"
        monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
        assert check_device("auto") == "cpu"
        monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
        assert check_device("auto") == "cuda:0"
        assert check_device("cuda") == "cuda"
        assert check_device("cuda:1") == "cuda:1"

    @pytest.mark.parametrize("device", ["cuda:7", "cuda:-1", "gpu", ""])
    def test_check_device_missing_raises(self, monkeypatch, device):
        monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
        with pytest.raises(ValueError, match=f"device must be auto, cpu, cuda:0, got '{device}'"):
            check_device(device)


class TestFolds:
    def test_check_folds_small_remainder_passes(self):
        check_folds(folds([0], [1], [3]), 5, "X")

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            (([0, 1], [1, 2, 3]), "graph 1 is in 2 test folds"),
            (([0], [3]), "2 of them are in none of the 2 test folds"),
            (([0, 1], [2, 3, 4]), "there is no graph 4"),
            (([0, 1], [2, -3]), "there is no graph -3"),
        ],
    )
    def test_check_folds_no_partition_raises(self, parts, message):
        with pytest.raises(ValueError, match=f"the folds of X do not partition .*: {message}"):
            check_folds(folds(*parts), 4, "X")

    def test_check_data_overlapping_fold_files_raise(self, data):
        check_data(data, "MUTAG", ["best"], 10)
        assert (data / "sepool" / "MUTAG.npz").exists()
        (data / "splits" / "MUTAG" / "test_idx-2.txt").write_text("1\n5\n")
        with pytest.raises(
            ValueError, match="MUTAG do not partition its 20 graphs: graph 5 is in 2"
        ):
            check_data(data, "MUTAG", [], 10)

    def test_check_data_wrong_training_file_raises(self, data):
        train = data / "splits" / "MUTAG" / "train_idx-1.txt"
        rest = [f"{graph}\n" for graph in range(20) if graph % 10]
        train.write_text("".join(rest))
        check_data(data, "MUTAG", [], 10)
        train.write_text("".join(rest[1:]))
        with pytest.raises(
            ValueError, match=r"train_idx-1.txt is not the complement of test_idx-1.txt"
        ):
            check_data(data, "MUTAG", [], 10)

    def test_check_data_without_fold_files_passes(self, data):
        shutil.rmtree(data / "splits")
        check_data(data, "MUTAG", [], 10)


class TestFingerprints:
    """Fingerprints depend on graphs and folds alone."""

    def test_check_data_files_and_cache_agree(self, data):
        first = check_data(data, "MUTAG", [], 10)
        assert len(first) == 12
        shutil.rmtree(data / "TU")
        assert check_data(data, "MUTAG", ["best"], 10) == first

    def test_check_data_changed_files_change_fingerprint(self, data):
        fingerprints = [check_data(data, "MUTAG", [], 10)]
        for fold, text in ((1, "0\n11\n"), (2, "1\n10\n")):
            (data / "splits" / "MUTAG" / f"test_idx-{fold}.txt").write_text(text)
        fingerprints.append(check_data(data, "MUTAG", [], 10))
        (data / "TU" / "MUTAG" / "raw" / "MUTAG_graph_labels.txt").write_text("1\n0\n0\n1\n" * 5)
        fingerprints.append(check_data(data, "MUTAG", [], 10))
        assert len(set(fingerprints)) == 3

    def test_check_datasets_returns_fingerprints(self, data, protocol):
        units = protocol.units(["MUTAG"], ["SEP-G", "GCN"], seeds=1, configs=[0])
        fingerprint = check_data(data, "MUTAG", [], 10)
        assert check_datasets(data, protocol, units) == {"MUTAG": fingerprint}


class TestNoData:
    @pytest.mark.parametrize(
        ("check", "reader", "raw"),
        [
            (lambda root: check_data(root, "MUTAG", [], 10), "TUDataset", "TU/MUTAG/raw"),
            (lambda root: check_node_data(root, "Cora", []), "Planetoid", "Planetoid/Cora/raw"),
        ],
    )
    def test_check_data_offline_raises(self, tmp_path, monkeypatch, check, reader, raw):

        def offline(*_, **options):
            (tmp_path / raw).mkdir(parents=True, exist_ok=True)  # as PyG before a download
            raise OSError("no route to host\nand more")

        monkeypatch.setattr(datasets, reader, offline)
        for _ in range(2):
            with pytest.raises(ValueError, match="no data for ") as caught:
                check(tmp_path)
            message = str(caught.value)
            assert "(no route to host); let PyG download it" in message
            assert "--data (or SEPOOL_DATA)" in message
            assert message.endswith(f"or copy its raw files to {tmp_path / raw}")
            assert "\n" not in message

    def test_check_data_online_downloads(self, data, monkeypatch):
        local, remote, load = data / "TU", data / "remote", datasets.TUDataset
        local.rename(remote)

        def download(root, name):
            remote.rename(local)
            return load(root, name)

        monkeypatch.setattr(datasets, "TUDataset", download)
        check_data(data, "MUTAG", [], 10)

    def test_check_data_damaged_file_names_it(self, data):
        (data / "TU" / "MUTAG" / "raw" / "MUTAG_A.txt").write_text("one, two\n")
        with pytest.raises(Exception) as caught:  # noqa: PT011 - an error of PyG
            check_data(data, "MUTAG", [], 10)
        assert "no download" not in str(caught.value)


class TestNodeData:
    def units(self, **config):
        return [Unit("table3", "Cora", "SEP-N", "best", Config(blocks=2, **config), 0, 0)]

    def test_check_node_data_caches_trees(self, tmp_path, monkeypatch):
        nodes = community_set()
        monkeypatch.setattr("sepool_experiments.data.checks.load_nodes", lambda root, name: nodes)
        fingerprint = check_node_data(tmp_path, "Cora", self.units())
        assert fingerprint == check_node_data(tmp_path, "Cora", [])
        nodes = replace(nodes, train=nodes.train[1:])
        assert fingerprint != check_node_data(tmp_path, "Cora", [])
        assert len(list((tmp_path / "sepool").glob("*.npz"))) == 1

    def test_check_node_data_bad_levels_raises(self, tmp_path, monkeypatch):
        nodes = community_set()
        monkeypatch.setattr("sepool_experiments.data.checks.load_nodes", lambda root, name: nodes)
        with pytest.raises(ValueError, match="levels must be 2 or more"):
            check_node_data(tmp_path, "Cora", self.units(extra=(("levels", "2"),)))

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            (([0], [1], []), "a part of it is empty"),
            (([0], [1], [9]), "there is no node 9"),
            (([0], [1], [1]), "node 1 is in 2 of training"),
        ],
    )
    def test_check_split_wrong_parts_raises(self, parts, message):
        with pytest.raises(ValueError, match=message):
            check_split([np.array(part, np.int64) for part in parts], 5, "Cora")


@pytest.mark.parametrize(
    ("table", "choice", "message"),
    [
        ("table1", (["Cora"], None, None), "Cora is for the classification of nodes, table1 is ab"),
        ("table1", (None, None, ["bset"]), "unknown tree 'bset'; did you mean best"),
        ("table1", (None, ["SEP-N"], None), "SEP-N classifies nodes, table1 is about graphs"),
        ("table3", (None, ["SEP-G"], None), "SEP-G classifies graphs, table3 is about nodes"),
        ("table3", (None, ["SEPN"], None), "unknown system 'SEPN'; did you mean SEP-N"),
    ],
)
def test_check_choice_of_other_kind_or_unknown_raises(table, choice, message):
    check_choice(PROTOCOLS["table1"], ["MUTAG"], ["SEP-G"], ["best", "random"], SYSTEMS_OF)
    check_choice(PROTOCOLS["table3"], ["Cora"], ["GCN", "SEP-N"], None, SYSTEMS_OF)
    with pytest.raises(ValueError, match=message):
        check_choice(PROTOCOLS[table], *choice, SYSTEMS_OF)
