"""SEP-G in Lightning, with checkpoints that hold the settings of the trees.

    pip install 'lightning>=2.2'
    python examples/lightning_sep.py

`AddCodingTree` is the pre-transform of the dataset: trees are built once and stored with the
graphs. Its settings are hyperparameters of the module, so that a loaded model builds the same
trees for new graphs.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lightning
import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.data.lightning import LightningDataset

import sepool
from sepool.nn import SEPG
from train_sepg import MAX_DEGREE, random_graph

GRAPHS, EPOCHS = 400, 10


class GraphClassifier(lightning.LightningModule):
    """SEP-G and the transform that builds its trees, both made of the hyperparameters.

    Args:
        in_channels: width of the node features.
        hidden: width of the model.
        out_channels: number of classes.
        tree: options of `sepool.AddCodingTree`: plain values, which a checkpoint can store.
        lr: learning rate of Adam.
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        *,
        tree: dict[str, Any],
        lr: float = 0.005,
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.add_tree = sepool.AddCodingTree(**tree)
        self.model = SEPG(in_channels, hidden, out_channels, height=self.add_tree.height)

    def forward(self, batch: Batch) -> Tensor:
        return self.model(batch)

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        return F.cross_entropy(self(batch), batch.y)

    def test_step(self, batch: Batch, batch_idx: int) -> None:
        accuracy = (self(batch).argmax(1) == batch.y).float().mean()
        self.log("test_accuracy", accuracy, batch_size=batch.num_graphs)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


class RandomGraphs(InMemoryDataset):
    """Graphs with communities (1) and without (0), generated once and stored with their trees."""

    def __init__(self, root: Path, pre_transform: sepool.AddCodingTree) -> None:
        super().__init__(str(root), pre_transform=pre_transform)
        self.load(self.processed_paths[0])

    @property
    def processed_file_names(self) -> str:
        return "graphs.pt"

    def process(self) -> None:
        graphs = [random_graph(label % 2) for label in range(GRAPHS)]
        self.save([self.pre_transform(graph) for graph in graphs], self.processed_paths[0])


def predict(model: GraphClassifier, graphs: list[Data]) -> tuple[Batch, Tensor]:
    """Return new graphs with the trees of the model's own transform, and their logits."""
    batch = Batch.from_data_list(model.add_tree.apply_all(graphs))
    model.eval()
    with torch.no_grad():
        return batch, model(batch)


def main() -> None:
    lightning.seed_everything(0, verbose=False)
    tree = {"height": 3, "method": "best", "seed": 7}
    model = GraphClassifier(MAX_DEGREE + 1, 32, 2, tree=tree)
    trainer = lightning.Trainer(
        max_epochs=EPOCHS,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    with TemporaryDirectory() as folder:
        dataset = RandomGraphs(Path(folder), pre_transform=model.add_tree)
        split = 3 * GRAPHS // 4
        loaders = LightningDataset(dataset[:split], test_dataset=dataset[split:], batch_size=32)
        trainer.fit(model, datamodule=loaders)
        (result,) = trainer.test(model, datamodule=loaders, verbose=False)
        print(f"test accuracy {result['test_accuracy']:.0%}")

        checkpoint = Path(folder) / "sepg.ckpt"
        trainer.save_checkpoint(checkpoint)
        loaded = GraphClassifier.load_from_checkpoint(
            checkpoint, map_location="cpu", weights_only=True
        )

    print(loaded.add_tree)
    graphs = [random_graph(label % 2) for label in range(8)]
    (batch, logits), (again, same) = predict(model.cpu(), graphs), predict(loaded, graphs)
    print("equal trees:", torch.equal(batch.tree, again.tree))
    print("equal logits:", torch.equal(logits, same))


if __name__ == "__main__":
    main()
