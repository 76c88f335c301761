"""SEP-G in GraphGym: registered network, dataset and options, and an epoch of training.

    pip install 'lightning>=2.2' yacs scikit-learn
    python examples/graphgym_sep.py

GraphGym chooses everything by name from a config: `model.type` is the network, `dataset.format` the
loader, and the group `sep` has the options of trees and pooling.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn
from torch_geometric import seed_everything
from torch_geometric.data import Batch, InMemoryDataset
from torch_geometric.graphgym import create_model, register, set_cfg, train
from torch_geometric.graphgym.config import CN, assert_cfg, cfg
from torch_geometric.graphgym.train import GraphGymDataModule

import sepool
from sepool.nn import SEPG
from train_sepg import random_graph

GRAPHS = 400
CONFIG = """
accelerator: cpu
dataset:
  format: generated
  name: communities
  task: graph
  task_type: classification
  transductive: false
  split: [0.8, 0.1, 0.1]
train:
  batch_size: 32
  enable_ckpt: false
model:
  type: sepg
gnn:
  dim_inner: 32
  layers_post_mp: 1
optim:
  max_epoch: 1
  base_lr: 0.005
sep:
  height: 3
  method: best
"""


@register.register_config("sep")
def sep_options(cfg: CN) -> None:
    """Add the options of trees and pooling with their defaults."""
    cfg.sep = CN()
    cfg.sep.height = 3
    cfg.sep.method = "best"
    cfg.sep.seed = 0
    cfg.sep.reduce = "sum"


@register.register_network("sepg")
class RegisteredSEPG(nn.Module):
    """SEP-G with the interface of GraphGym: from a batch to logits and labels."""

    def __init__(self, dim_in: int, dim_out: int) -> None:
        super().__init__()
        options = {"height": cfg.sep.height, "reduce": cfg.sep.reduce, "dropout": cfg.gnn.dropout}
        self.model = SEPG(dim_in, cfg.gnn.dim_inner, dim_out, **options)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        return self.model(batch), batch.y


class Communities(InMemoryDataset):
    """Generated graphs with trees, and the split of the config as GraphGym expects it."""

    def __init__(self) -> None:
        super().__init__()
        graphs = [random_graph(label % 2) for label in range(GRAPHS)]
        add_tree = sepool.AddCodingTree(cfg.sep.height, cfg.sep.method, seed=cfg.sep.seed)
        self.data, self.slices = self.collate(add_tree.apply_all(graphs))
        sizes = [round(share * GRAPHS) for share in cfg.dataset.split[:2]]
        parts = torch.randperm(GRAPHS).tensor_split(torch.tensor(sizes).cumsum(0))
        for name, index in zip(("train", "val", "test"), parts, strict=True):
            self._data[f"{name}_graph_index"] = index


@register.register_loader("generated")
def load_generated(format: str, name: str, dataset_dir: str) -> Communities | None:
    """Return the dataset of this format and name; None leaves others to the other loaders."""
    return Communities() if (format, name) == ("generated", "communities") else None


def main() -> None:
    set_cfg(cfg)
    cfg.merge_from_other_cfg(CN.load_cfg(CONFIG))
    assert_cfg(cfg)
    seed_everything(cfg.seed)
    with TemporaryDirectory() as folder:
        cfg.out_dir = cfg.run_dir = folder
        loaders = GraphGymDataModule()
        model = create_model()
        cfg.params = sum(weight.numel() for weight in model.parameters())
        print(model.model)
        quiet = {"enable_progress_bar": False, "enable_model_summary": False, "logger": False}
        train(model, loaders, trainer_config=quiet)
        for part in ("train", "val", "test"):
            lines = (Path(folder) / part / "stats.json").read_text().splitlines()
            stats = json.loads(lines[-1])
            print(f"{part}: loss {stats['loss']:.3f}, accuracy {stats['accuracy']:.0%}")


if __name__ == "__main__":
    main()
