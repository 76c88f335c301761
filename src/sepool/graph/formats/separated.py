"""CSV, TSV and other tables in text files, through pyarrow."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from sepool.extras import needs
from sepool.files.limits import line_blocks
from sepool.graph.columns import EdgeColumns, choose_columns
from sepool.graph.edges import WEIGHT, Edges
from sepool.graph.formats.dialect import SEPARATORS, Dialect, sniff
from sepool.graph.formats.edge_line import NUMBER
from sepool.graph.formats.edge_list import is_padded, read_edge_list, read_lines
from sepool.graph.formats.opening import BadLine, GraphFile, text_lines
from sepool.graph.formats.options import FileOptions
from sepool.graph.formats.parquet import NO_ROWS
from sepool.graph.ids import is_whole, name_nodes
from sepool.graph.objects.arrow import edges_of_table
from sepool.graph.objects.columns import BadRow, refuse_missing

_SHOWN = 80  # characters of a value in an error


@dataclass(frozen=True)
class Layout:
    """Layout of a table: its chosen columns, the number of all, and the rows above.

    ``whole`` is True if the first ids are whole numbers; the others probably are, too.
    """

    separator: str
    skip: int
    width: int
    columns: EdgeColumns
    whole: bool


def read_separated(file: GraphFile, options: FileOptions) -> Edges:
    """Read a table; one without header that is an edge list is read as such."""
    dialect = sniff(file.head)
    if not dialect.rows:
        raise ValueError(NO_ROWS)
    header = dialect.header
    if options.columns is not None and not all(name.isdecimal() for name in options.columns):
        header = dialect.rows[0]
    separated = f"{SEPARATORS[dialect.separator]}-separated, {'' if header else 'no '}header"
    if header is None and _is_edge_list(dialect, options):
        ends = "two ends and a weight" if dialect.width == 3 else "two ends"
        file.note(f"{separated}; columns are {ends}")
        return read_edge_list(file.path) if file.plain else read_lines(file.path, file.stream)
    names = header or [str(number) for number in range(1, dialect.width + 1)]
    columns = choose_columns(names, options.columns, options.weight, header=header is not None)
    skip = dialect.skip + (header is not None)
    first = dialect.rows[header is not None :]
    cells = {cell for row in first for i, cell in enumerate(row) if i in columns.places[:2]}
    whole = all(map(is_whole, cells))
    layout = Layout(dialect.separator, skip, dialect.width, columns, whole)
    with needs("io", f"reading {file.path}"):
        edges, decimal = _read(file, layout)
    commas = "; decimal commas" if decimal == "," else ""
    file.note(f"{separated}; {columns.note}{commas}")
    return edges


def _is_edge_list(dialect: Dialect, options: FileOptions) -> bool:
    plain = options.columns is None and options.weight in (None, WEIGHT)
    return plain and dialect.separator != ";" and dialect.width <= 3


def _read(file: GraphFile, layout: Layout) -> tuple[Edges, str]:
    """Return the edges and the decimal sign, a comma only where a semicolon separates."""
    import pyarrow as pa

    stream = file.seekable()
    # pyarrow would decompress a path that ends in .gz, whatever it holds.
    content = pa.OSFile(file.path) if file.plain else stream
    attempts = [(".", False)]
    if layout.separator == ";" and len(layout.columns.places) == 3:
        attempts.append((",", False))
    if layout.whole and not _has_padded(stream):
        attempts.insert(0, (".", True))
    for decimal, whole in attempts:
        try:
            content.seek(0)
            table = _read_arrow(content, layout, decimal, whole)
            names = list(map(str, layout.columns.chosen))
            return _edges(table.rename_columns(names), names), decimal
        except pa.ArrowInvalid as error:
            last = error
        except BadRow as error:
            _refuse_line(stream, layout, decimal)
            rows = _rows(stream, layout)
            line = next(line for i, (line, _) in enumerate(rows) if i == error.row)
            raise BadLine(line, error.text) from None
    _refuse_line(stream, layout, attempts[-1][0])
    raise ValueError(str(last).splitlines()[0])


def _edges(table: Any, names: list[str]) -> Edges:
    """Return the edges of a table of numbers, or of words that may be numbers."""
    import pyarrow as pa

    if not len(table):
        raise ValueError(NO_ROWS)
    if not pa.types.is_dictionary(table.column(0).type):
        return edges_of_table(table, names)
    edges = edges_of_table(table, names, trim=True)
    words = edges.names or ()
    if "" in words:
        empty = words.index("")
        refuse_missing(edges.u == empty, edges.v == empty, names)
    u, v, labels = name_nodes(words, edges.u, edges.v, text=True)
    return edges._replace(u=u, v=v, names=labels)


def _has_padded(stream: BinaryIO) -> bool:
    """Return True if a number in the file may be a name, such as 007."""
    stream.seek(0)
    return any(map(is_padded, line_blocks(stream)))


def _read_arrow(file: Any, layout: Layout, decimal: str, whole: bool) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    places = list(map(str, layout.columns.places))
    id_type = pa.int64() if whole else pa.dictionary(pa.int32(), pa.string())
    types = dict(zip(places, (id_type, id_type, pa.float64()), strict=False))
    names = [str(i) for i in range(layout.width)]
    return arrow_csv.read_csv(
        file,
        arrow_csv.ReadOptions(skip_rows=layout.skip, column_names=names),
        arrow_csv.ParseOptions(delimiter=layout.separator),
        arrow_csv.ConvertOptions(
            column_types=types,
            include_columns=places,
            null_values=[""],
            decimal_point=decimal,
        ),
    )


def _refuse_line(stream: BinaryIO, layout: Layout, decimal: str) -> None:
    """Fail on the first row with another number of fields, or a weight that is no number."""
    for line, row in _rows(stream, layout):
        if len(row) != layout.width:
            shown = layout.separator.join(row)[:_SHOWN]
            raise BadLine(line, f"expected {layout.width} fields, got {len(row)}: {shown!r}")
        for place in layout.columns.places[2:]:
            text = row[place]
            number = text.strip().replace(",", ".") if decimal == "," else text.strip()
            if not NUMBER.fullmatch(number) or not 0 <= float(number) < math.inf:
                raise BadLine(
                    line,
                    f"a weight must be a finite number and not negative, got {text[:_SHOWN]!r}; "
                    "mend it, or choose other columns",
                )


def _rows(stream: BinaryIO, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table with the numbers of their lines."""
    stream.seek(0)
    lines = (line for number, line in text_lines(stream) if number > layout.skip)
    reader = csv.reader(lines, delimiter=layout.separator)
    for row in reader:
        if row:
            yield layout.skip + reader.line_num, row
