"""GraphRAG's tables of entities and relationships, checked."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_ENTITIES = ("id", "title")
_RELATIONSHIPS = ("id", "source", "target")


def entity_nodes(entities: Any) -> Any:
    """Return the ids and titles of the entities, by title."""
    _require(entities, "entities", _ENTITIES)
    _require_unique(entities, "entities", "title")
    _require_unique(entities, "entities", "id")
    return entities[list(_ENTITIES)].sort_values("title", ignore_index=True)


def entity_links(relationships: Any, nodes: Any) -> Any:
    """Return the relationships by id, their ends as positions of entities."""
    _require(relationships, "relationships", _RELATIONSHIPS)
    _require_unique(relationships, "relationships", "id")
    links = relationships.sort_values("id", ignore_index=True)
    titles = pd.Index(nodes["title"])
    ends = {"u": titles.get_indexer(links["source"]), "v": titles.get_indexer(links["target"])}
    unknown = (ends["u"] < 0) | (ends["v"] < 0)
    if unknown.any():
        first = links.loc[unknown.argmax()]
        stray = first["source"] if ends["u"][unknown.argmax()] < 0 else first["target"]
        warnings.warn(
            f"{unknown.sum()} of {len(links)} relationships name entities that are not in the "
            f"table (relationship {first['id']!r}: {stray!r}); they are left out",
            stacklevel=3,
        )
    weights = _weights(links)
    if "text_unit_ids" not in links:
        links = links.assign(text_unit_ids=None)
    units = [
        _units(value, name) for value, name in zip(links["text_unit_ids"], links["id"], strict=True)
    ]
    table = pd.DataFrame({"id": links["id"], **ends, "weight": weights})
    return table.assign(text_unit_ids=pd.Series(units, dtype=object))[~unknown]


def _weights(links: Any) -> NDArray[np.float64]:
    if "weight" not in links:
        return np.ones(len(links))
    column = pd.to_numeric(links["weight"], errors="coerce")
    weights: NDArray[np.float64] = column.to_numpy(np.float64, na_value=np.nan)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = links.loc[wrong.argmax()]
        raise ValueError(
            f"weights of relationships must be finite numbers, 0 or more, but relationship "
            f"{row['id']!r} has {row['weight']!r}"
        )
    return weights


def _units(value: Any, relationship: Any) -> list[Any]:
    """Return the text units of a relationship as a list."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return []
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(
            f"text_unit_ids must be a list, but relationship {relationship!r} has {value!r}"
        )
    return [unit for unit in value if unit is not None]


def _require(frame: Any, name: str, columns: tuple[str, ...]) -> None:
    """Fail on an object that is no table, or that lacks columns."""
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"{name} must be a pandas.DataFrame, got {type(frame).__name__}")
    missing = [column for column in columns if column not in frame]
    if missing:
        raise ValueError(
            f"{name} lacks {', '.join(missing)}; expected the columns {', '.join(columns)} of "
            f"GraphRAG's {name}.parquet, got {', '.join(map(str, frame.columns)) or 'none'}"
        )


def _require_unique(frame: Any, name: str, column: str) -> None:
    values = frame[column]
    if values.isna().any():
        raise ValueError(f"{values.isna().sum()} of {len(values)} {name} have no {column}")
    if values.duplicated().any():
        value = values[values.duplicated()].iloc[0]
        raise ValueError(f"several {name} have the {column} {value!r}; merge them first")
