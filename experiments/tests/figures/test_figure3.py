from __future__ import annotations

from xml.etree import ElementTree

from matplotlib import image

from sepool_experiments.backends.run import Plan
from sepool_experiments.figures import figure3
from sepool_experiments.figures.journal import kept_arrays, read_rows
from sepool_experiments.figures.run import run, write


def plan(figure, out, **choice):
    return Plan.of(figure, figure.units(**choice), out)


def test_run_resumes_and_writes_all_files(tmp_path, short, small, monkeypatch):
    messages = []
    part = plan(short, tmp_path, datasets=["ring"], systems=["SEP", "ASAP"], seeds=1)
    run(part, tmp_path, "cpu", messages.append)
    assert len(part.todo) == 4
    assert messages[0] == "1/4 ring, SEP, trainings: 1"
    assert messages[1].startswith("  fold 0, seed 0: MSE 0.")
    rest = plan(short, tmp_path)
    assert len(rest.units) - len(rest.todo) == 4
    run(rest, tmp_path, "cpu", messages.append)
    rows = read_rows(tmp_path, short)
    assert len(rows) == len(rest.units)
    row = next(row for row in rows if row.unit.system == "SEP")
    assert row.measured.keys() == {
        *("epochs", "best_epoch", "mse", "seconds"),
        *("height", "level", "clusters"),
    }
    assert "level" not in next(r.measured for r in rows if r.unit.system == "ASAP")
    assert len(kept_arrays(tmp_path, short, "grid")) == 10

    def refuse(*_):
        raise AssertionError("nothing is left to train")

    monkeypatch.setattr(figure3, "Reconstruction", refuse)
    done = plan(short, tmp_path)
    assert not done.todo
    run(done, tmp_path, "cpu", print)
    paths = {path.suffix: path for path in write(tmp_path, short, tmp_path)}
    assert image.imread(paths[".png"]).shape[2] == 4
    svg = ElementTree.parse(paths[".svg"])
    texts = [text for text in svg.getroot().itertext() if text.strip()]
    assert {"original", *short.systems} <= {text.strip() for text in texts}
    page = paths[".md"].read_text()
    assert "| DiffPool, MSE alone " in page
    assert "missing" not in page
    assert "SEP on the ring level" in page
    assert len(paths[".csv"].read_text().splitlines()) == 1 + 2 * 10


def test_write_marks_missing_results(tmp_path, short, small):
    part = plan(short, tmp_path, datasets=["ring"], systems=["SAGPool"], seeds=1)
    run(part, tmp_path, "cpu", print)
    paths = {path.suffix: path for path in write(tmp_path, short, tmp_path)}
    line = next(text for text in paths[".md"].read_text().splitlines() if "SAGPool" in text)
    assert line.count("missing") == 2
    assert " * " in line
    assert "missing" in "".join(ElementTree.parse(paths[".svg"]).getroot().itertext())


def test_write_twice_is_equal(tmp_path, short, small):
    run(plan(short, tmp_path, systems=["TopKPool"]), tmp_path, "cpu", print)
    once = [path.read_bytes() for path in write(tmp_path, short, tmp_path)]
    assert once == [path.read_bytes() for path in write(tmp_path, short, tmp_path)]
