"""What is installed: exactly the tree, from a wheel, an editable install and a bare checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = (".toml", ".json", ".txt", ".j2", ".css", ".js")


def package_files() -> set[str]:
    """Return what a wheel must hold, as paths below site-packages; facts stay in the sources."""
    files: set[str] = set()
    for source, target in ((ROOT / "graphfix", "graphfix"), (ROOT / "passes", "graphfix/passes")):
        for folder, folders, names in os.walk(source):
            folders[:] = [name for name in folders if name not in ("__pycache__", "facts")]
            if Path(folder) == ROOT / "graphfix" / "passes":  # says where a checkout has them
                continue
            place = Path(target, Path(folder).relative_to(source)).as_posix()
            files.update(
                f"{place}/{name}"
                for name in names
                if name.endswith((".py", *DATA)) or name == "py.typed"
            )
    return files


def run_python(*words: str, folder: Path, **environment: str) -> str:
    """Run Python without what the caller's environment adds, and return what it prints."""
    return python_run(*words, folder=folder, **environment).stdout


def python_run(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python without what the caller's environment adds."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist of a copy of the tree, then the wheel from the unpacked sdist."""
    folder = tmp_path_factory.mktemp("build")
    copy = copied_tree(folder / "source", "__pycache__")
    options = ("--no-isolation", "--skip-dependency-check", "--outdir", str(folder / "dist"))
    done = python_run("-m", "build", *options, str(copy), folder=folder)
    (folder / "dist" / "said.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    (built,) = (folder / "dist").glob("*.whl")
    return built


def copied_tree(target: Path, *further: str) -> Path:
    """Copy what packaging needs, so that no build leaves anything in the repository.

    Args:
        target: The folder that is made.
        further: Names that are left out, too. What is compiled is valid in a copy: files keep their
            times, so that its interpreters need not compile a thousand files each.
    """
    target.mkdir()
    ignored = shutil.ignore_patterns("*.egg-info", "build", *further)
    for name in ("graphfix", "passes"):
        shutil.copytree(ROOT / name, target / name, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target)
    return target


def test_nothing_in_the_tree_is_a_link() -> None:
    places = [ROOT / "graphfix", ROOT / "passes", ROOT / "tests", ROOT / "fixtures"]
    assert [path for place in places for path in place.rglob("*") if path.is_symlink()] == []


def test_every_folder_of_python_files_is_a_package() -> None:
    files = package_files()
    bare = {
        str(Path(name).parent)
        for name in files
        if name.endswith((".py", ".pyi"))
        and f"{Path(name).parent.as_posix()}/__init__.py" not in files
    }
    assert bare == set()


def test_the_wheel_holds_the_tree_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    inside = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
    assert inside == package_files()
    assert not any(name.startswith(("passes/", "tests/")) for name in names)
    assert "graphfix/py.typed" in names
    assert "graphfix/engines/tensorrt/profiles/versions.json" in names


def test_the_build_warns_of_nothing_that_is_absent(wheel: Path) -> None:
    said = wheel.with_name("said.txt").read_text(encoding="utf-8")
    assert "running build_py" in said
    assert "absent" not in said, "a folder is missing in the packages of setup.py"


def test_the_sdist_keeps_the_folder_of_the_passes(wheel: Path) -> None:
    (sdist,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert "passes/mod/mod_elimination.py" in names
    assert {"README.md", "LICENSE", "pyproject.toml", "setup.py"} <= names
    assert "graphfix/passes/__init__.py" in names, "an unpacked sdist finds its passes as well"


COUNT = (
    "import sys; from graphfix.authoring.registry import shipped_passes; found = shipped_passes(); "
    "assert 'passes' not in sys.modules; import graphfix; "
    "print(graphfix.__file__, len([p for p in found if p.family]))"
)


def count_of_passes() -> int:
    """Return how many passes the files of the tree declare."""
    files = [p for p in (ROOT / "passes").glob("*/*.py") if not p.name.startswith("_")]
    texts = [path.read_text(encoding="utf-8") for path in files]
    declared = r"^(?:@(?:rewrite|graph_pass|replacing)\(|\w+ = FAMILY\.replaced\()"
    return sum(len(re.findall(declared, text, re.M)) for text in texts)


def test_an_unpacked_wheel_finds_the_passes(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    place, number = run_python(
        "-c", COUNT, folder=tmp_path, PYTHONPATH=str(tmp_path / "site")
    ).split()
    assert Path(place).parent == tmp_path / "site" / "graphfix"
    assert int(number) == count_of_passes()


def test_a_bare_checkout_finds_the_passes(tmp_path: Path) -> None:
    tree = copied_tree(tmp_path / "checkout")
    place, number = run_python("-c", COUNT, folder=tree).split()
    assert Path(place).parent == tree / "graphfix"
    assert int(number) == count_of_passes()
    listed = run_python("-m", "graphfix", "passes", "-v", folder=tree)
    assert "mod-elimination" in listed


def test_an_editable_install_finds_the_passes(tmp_path: Path) -> None:
    tree = copied_tree(tmp_path / "checkout")
    site = tmp_path / "site"
    quiet = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation")
    run_python(
        "-m", "pip", "install", *quiet, "--target", str(site), "-e", str(tree), folder=tmp_path
    )
    # The environment's own .pth files, which may be of another editable install of graphfix, are
    # left out by -S; its packages are there through the path alone.
    packages_folder = sysconfig.get_path("purelib")
    start = (
        f"import site, sys; site.addsitedir({str(site)!r}); sys.path.append({packages_folder!r}); "
    )
    place, number = run_python("-S", "-c", start + COUNT, folder=tmp_path).split()
    assert Path(place).parent == tree / "graphfix"
    assert int(number) == count_of_passes()
    (tree / "passes" / "mod" / "late_pass.py").write_text(
        (tree / "passes" / "mod" / "mod_elimination.py")
        .read_text(encoding="utf-8")
        .replace("def mod_elimination(", "def late_pass("),
        encoding="utf-8",
    )
    _, more = run_python("-S", "-c", start + COUNT, folder=tmp_path).split()
    assert int(more) == int(number) + 1, "a new file needs no second installation"


def test_by_the_name_of_the_folder_they_are_the_same_modules() -> None:
    by_folder = import_module("passes.mod.mod_elimination")
    assert by_folder is import_module("graphfix.passes.mod.mod_elimination")
    assert by_folder.__name__ == "graphfix.passes.mod.mod_elimination"
    spec = by_folder.__spec__
    assert spec is not None
    assert spec.name == by_folder.__name__
    assert sys.modules["passes"] is sys.modules["graphfix.passes"]
