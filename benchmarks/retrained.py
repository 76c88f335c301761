"""SEP-G trained along the trees of this version, paired with the trainings in results/table1.

    sepool reproduce table1 --datasets MUTAG,PROTEINS --systems SEP-G --trees best --configs 2-2 \\
        --data ROOT --device cpu --out trained
    python benchmarks/retrained.py --trained trained

The same configuration, folds and seeds on both sides. The rows in results/ were trained along the
trees of sepool 0.1.0.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from results import Recorder, parser
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.report.stats import compare, select
from sepool_experiments.results.rows import Rows

COMMITTED = Path(__file__).parents[1] / "results"
UNIT = ["dataset", "config", "fold", "seed"]


def trainings(folder: Path) -> pd.DataFrame:
    """SEP-G of table 1 along the trees of the lowest entropy."""
    rows = Rows.read(folder)
    chosen = rows[(rows["protocol"] == "table1") & (rows["system"] == "SEP-G")]
    return chosen[chosen["tree"] == "best"]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--trained", type=Path, required=True, help="folder of the new trainings")
    arguments = options.parse_args()
    new, old = trainings(arguments.trained), trainings(COMMITTED)
    old = old.merge(new[UNIT])
    out = Recorder(__file__, arguments.quick)
    folds = PROTOCOLS["table1"].folds
    for dataset in sorted(set(new["dataset"])):
        sides = [
            select(rows[rows["dataset"] == dataset], "customary", folds) for rows in (old, new)
        ]
        before, after = sides
        if before is None or after is None:
            raise SystemExit(f"{dataset}: no seed has all {folds} folds on both sides")
        test = compare(after, before)
        if test is None:
            raise SystemExit(f"{dataset}: fewer than two pairs")
        out.add(
            dataset=dataset,
            config=after.configs[0],
            folds=after.folds,
            seeds=after.seeds,
            accuracy={"0.1.0": before.mean, "this version": after.mean},
            spread={"0.1.0": before.spread, "this version": after.spread},
            difference=test.difference,
            error=test.error,
            p=test.p,
        )


if __name__ == "__main__":
    main()
