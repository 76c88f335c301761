"""Time and modules of imports, and errors where optional packages are missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sepool
from sepool.extras import install_command

TORCH = install_command("sepool[torch]")
HEAVY = "torch torch_geometric pandas scipy sklearn matplotlib networkx igraph bokeh ray typer rich"
IMPORT, HELP = 0.15, 0.5  # seconds of processor time
TRIES = 5


def seconds(code: str) -> float:
    """Return the least processor time of some runs of this code, without the start of Python."""
    timed = f"import time; t = time.process_time()\n{code}\nprint(time.process_time() - t)"
    return min(
        float(subprocess.run(
            [sys.executable, "-c", timed], capture_output=True, text=True, check=True
        ).stdout.split()[-1])
        for _ in range(TRIES)
    )  # fmt: skip


def slowness() -> float:
    """Return the time to import NumPy over 0.1 s, at least 1, with a margin for noise."""
    return 1.25 * max(1.0, seconds("import numpy") / 0.1)


def test_import_takes_little_time():
    assert seconds("import sepool") < IMPORT * slowness()


def last_line(program: str, *missing: str) -> str:
    """Return the last line that a Python without some packages prints."""
    without = "".join(f"sys.modules['{name}'] = None; " for name in missing)
    command = [sys.executable, "-c", f"import sys; {without}{program}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines()[-1]


def test_import_loads_numpy_alone():
    program = """
import numpy
before = set(sys.modules)
import sepool
dir(sepool)
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(new - set(sys.stdlib_module_names) - {"numpy"}), "sepool._core" in sys.modules)
"""
    assert last_line(program) == "['sepool'] False"


@pytest.mark.parametrize(
    ("program", "most"),
    [
        ("import sepool", 1),
        ("import sepool; sepool.coding_tree([(0, 1), (1, 2)], 2)", 15),
        ("import networkx, sepool; sepool.coding_tree(networkx.path_graph(4), 2)", 17),
        ("import sepool; sepool.coding_tree([(0, 1), (1, 2)])", 22),
    ],
    ids=["import", "coding_tree of a list", "coding_tree of networkx", "without a height"],
)
def test_import_loads_few_modules(program, most):
    """With a height no more than sepool 0.1.0 loaded, and the two that networkx itself loads."""
    modules = last_line(
        f"{program}; print(*(m for m in sys.modules if m.split('.')[0] == 'sepool'))"
    )
    assert 1 <= len(modules.split()) <= most, modules


def test_help_takes_little_time_and_loads_no_heavy_package():
    code = """
import contextlib, io, sys
from sepool.__main__ import main
sys.argv = ["sepool", "--help"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
"""
    assert seconds(code) < HELP * slowness()
    loaded = f"print(set('{HEAVY}'.split()) - {{'typer', 'rich'}} & set(sys.modules))"
    assert last_line(code + loaded) == "set()"


@pytest.mark.parametrize(
    ("program", "missing", "message"),
    [
        *(
            (f"import sepool.{module}", package, f"needs {package}: {TORCH}")
            for module in ("pyg.hierarchy", "nn", "integrations.tgp")
            for package in ("torch", "torch_geometric")
        ),
        *(
            (f"import sepool.pyg.{module}", "torch", f"needs torch: {TORCH}")
            for module in ("transform", "dataset", "reading")
        ),
        *(
            (
                f"import sepool; from sepool import *; sepool.{name}",
                "torch",
                f"sepool.{name} needs torch: {TORCH}",
            )
            for name in ("nn", "AddCodingTree", "hierarchy")
        ),
        (
            "import sepool; sepool.cluster",
            "sklearn",
            f"sepool.cluster needs sklearn: {install_command('sepool[cluster]')}",
        ),
        *(
            (
                "import importlib.util as util; util.find_spec = lambda name: None; "
                f"from sepool import coding_tree, viz; viz.{name}(coding_tree([(0, 1)]), [(0, 1)])",
                package,
                f"this needs {package}: {install_command('sepool[viz]')}",
            )
            for package, name in (("matplotlib", "plot_clusters"), ("bokeh", "explorer_page"))
        ),
    ],
)
def test_use_without_a_package_names_its_extra(program, missing, message):
    if missing == "torch_geometric":
        pytest.importorskip("torch")
    printed = last_line(program, missing)
    assert printed.endswith(message), printed


def test_help_of_sepool_skips_missing_packages():
    program = "import pydoc, sepool; print(len(pydoc.render_doc(sepool)) > 1000, dir(sepool))"
    printed = last_line(program, "torch", "torch_geometric", "matplotlib")
    assert printed.startswith("True ")
    assert "'nn'" not in printed
    assert "'viz'" not in printed
    assert "'coding_tree'" in printed


def test_dir_lists_optional_names_that_are_installed():
    pytest.importorskip("torch_geometric")
    listed = last_line("import sepool; print(dir(sepool), sepool.viz.plot_clusters)")
    assert all(f"'{name}'" in listed for name in ("AddCodingTree", "hierarchy", "nn", "viz"))


def test_getattr_unknown_name_raises_attribute_error():
    assert {"AddCodingTree", "hierarchy", "save_graphs", "load_graphs"} <= set(dir(sepool))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = sepool.nonsense
