"""Stored rows of trainings: SQLite while a run writes, Parquet once packed."""
