from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sepool.extras import MissingPackage, install_command, needs


def test_needs_names_the_package_and_the_extra():
    with pytest.raises(MissingPackage) as missing, needs("viz"):
        import surely_not.there  # noqa: F401
    assert str(missing.value) == f"this needs surely_not: {install_command('sepool[viz]')}"


def test_needs_missing_module_of_sepool_is_raised_unchanged():
    with pytest.raises(ModuleNotFoundError), needs("viz"):
        import sepool.surely_not  # noqa: F401


def test_needs_outermost_block_names_the_extras():
    with (
        pytest.raises(MissingPackage) as missing,
        needs("torch,bench"),
        needs("torch", "sepool.nn"),
    ):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")
    assert str(missing.value).endswith(install_command("sepool[torch,bench]"))


@pytest.mark.parametrize(("name", "package"), [("tgp", "torch-geometric-pool"), ("cdlib",) * 2])
def test_needs_package_outside_the_extras_keeps_its_message(name, package):
    message = f"trees need it: pip install {package}"
    with pytest.raises(MissingPackage) as missing, needs("torch,bench"), needs("torch"):
        raise MissingPackage(message, name=name)
    assert str(missing.value) == message


def command_of(requirement: str, folder: Path, record: dict[str, object] | None) -> str:
    """Return the command where sepool has this record of its installation."""
    info = folder / "sepool-9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sepool\nVersion: 9\n")
    if record is not None:
        (info / "direct_url.json").write_text(json.dumps(record))
    program = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        f"from sepool.extras import install_command; print(install_command({requirement!r}))"
    )
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_install_command_from_index_names_the_distribution(tmp_path):
    assert command_of("sepool[viz]", tmp_path, None) == "pip install 'sepool[viz]'"


def test_install_command_from_folder_names_the_folder(tmp_path):
    clone = tmp_path / "my clone"
    (clone / "experiments").mkdir(parents=True)
    record = {"url": clone.as_uri(), "dir_info": {"editable": True}}
    assert command_of("sepool[viz]", tmp_path / "a", record) == f"pip install -e '{clone}[viz]'"
    plain = {"url": clone.as_uri(), "dir_info": {}}
    assert command_of("sepool[viz]", tmp_path / "b", plain) == f"pip install '{clone}[viz]'"
    command = command_of("sepool-experiments", tmp_path / "c", plain)
    assert command == f"pip install '{clone / 'experiments'}'"


def test_install_command_from_wheel_names_the_url(tmp_path):
    url = "file:///wheels/sepool-9-py3-none-any.whl"
    command = command_of("sepool[viz]", tmp_path, {"url": url, "archive_info": {}})
    assert command == f"pip install 'sepool[viz] @ {url}'"


def test_install_command_of_deleted_folder_names_the_distribution(tmp_path):
    record = {"url": (tmp_path / "gone").as_uri(), "dir_info": {"editable": True}}
    assert command_of("sepool[viz]", tmp_path, record) == "pip install 'sepool[viz]'"
