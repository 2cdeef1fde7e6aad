"""What is built is whole: the tests pass from the wheel alone, on every Python that is here, and tools can run it."""

from __future__ import annotations

import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from laconic.workspace.process import ProcessResult, run

pytestmark = pytest.mark.flow

ROOT = Path(__file__).resolve().parents[2]
UV = str(Path(sys.executable).with_name("uv"))
TESTED = ("tests/tokens", "tests/render", "tests/edits", "tests/tools")  # the rest needs more tools


def call(*words: str, folder: Path) -> ProcessResult:
    done = run(words, folder, seconds=900)
    assert done.code == 0, f"{' '.join(words)}\n{done.output.decode()[-3000:]}{done.complaints.decode()[-3000:]}"
    return done


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source archive, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("built")
    call(UV, "build", "--quiet", "--out-dir", str(folder), str(ROOT), folder=folder)
    return folder


@pytest.fixture
def wheel(built: Path) -> str:
    return str(next(built.glob("*.whl")))


@pytest.fixture(scope="module")
def benchmarks(built: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The wheel of the benchmarks, built from what the source archive holds of them."""
    folder = tmp_path_factory.mktemp("benchmarks")
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.glob("laconic-*/benchmarks")
    call(UV, "build", "--quiet", "--wheel", "--out-dir", str(folder), str(source), folder=folder)
    return str(next(folder.glob("*.whl")))


def test_the_wheel_holds_no_benchmark(wheel: str, benchmarks: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names if not name.split("/")[0].endswith(".dist-info")} == {"laconic"}
    assert [name for name in names if "bench" in name.lower()] == []
    with zipfile.ZipFile(benchmarks) as archive:
        held = archive.namelist()
    assert "laconic_benchmarks/outputs.py" in held
    assert "laconic_benchmarks/samples/outputs/dev.jsonl" in held


def test_bench_comes_with_its_package(wheel: str, benchmarks: str, tmp_path: Path) -> None:
    python, laconic = (str(tmp_path / "env" / "bin" / name) for name in ("python", "laconic"))
    call(UV, "venv", "--quiet", "--python", sys.executable, str(tmp_path / "env"), folder=tmp_path)
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    call(UV, "pip", "install", "--quiet", "--python", python, *constraints, wheel, folder=tmp_path)
    without = run([laconic, "bench", "fit"], tmp_path)
    assert without.code == 2
    assert b"pip install ./benchmarks" in without.complaints
    call(UV, "pip", "install", "--quiet", "--python", python, *constraints, benchmarks, folder=tmp_path)
    said = call(laconic, "bench", "outputs", "--data", _samples(python, tmp_path), folder=tmp_path)
    assert said.output.startswith(b"outputs: ")


def _samples(python: str, folder: Path) -> str:
    """Where the installed samples are: what a user's settings name must not decide."""
    words = "from laconic_benchmarks.corpus import SAMPLES; print(SAMPLES)"
    return call(python, "-c", words, folder=folder).output.decode().strip()


def _interpreter(version: str, folder: Path) -> str:
    """A Python of that version, also one that pyenv keeps without offering it."""
    for request in (version, *(str(path) for path in Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))):
        found = run([UV, "python", "find", "--no-python-downloads", request], folder)
        if not found.code:
            return found.output.decode().strip()
    return ""


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_tests_pass_from_the_wheel(
    version: str, built: Path, wheel: str, benchmarks: str, tmp_path: Path
) -> None:
    interpreter = _interpreter(version, tmp_path)
    if not interpreter:
        pytest.skip(f"Python {version} is not installed")
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.glob("laconic-*")
    for sources in ("src", "benchmarks"):
        shutil.rmtree(unpacked / sources)  # nothing but the wheels can be imported
    python = str(tmp_path / "env" / "bin" / "python")
    call(UV, "venv", "--quiet", "--python", interpreter, str(tmp_path / "env"), folder=tmp_path)
    wanted = ["--constraint", "constraints.txt", wheel, benchmarks, "pytest", "hypothesis", "ruff", "mypy"]
    whole = ["--only-binary", ":all:"]  # a dependency without a wheel for this platform would need a compiler
    call(UV, "pip", "install", "--quiet", "--python", python, *whole, *wanted, folder=unpacked)
    call(python, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not flow", "-x", *TESTED, folder=unpacked)


@pytest.mark.parametrize("version", ["3.11", "3.14"])
@pytest.mark.parametrize("platform", ["linux", "aarch64-unknown-linux-gnu", "macos", "windows"])
def test_no_platform_needs_a_compiler(platform: str, version: str, tmp_path: Path) -> None:
    """Every dependency, in the version we test with, has a wheel for it."""
    target = ["--python-platform", platform, "--python-version", version, "--only-binary", ":all:"]
    wanted = ["--constraint", str(ROOT / "constraints.txt"), str(ROOT / "pyproject.toml")]
    call(UV, "pip", "compile", "--quiet", *target, *wanted, folder=tmp_path)


def test_it_runs_without_being_installed(wheel: str, tmp_path: Path) -> None:
    said = call(UV, "tool", "run", "--from", wheel, "laconic", "--version", folder=tmp_path)
    assert said.output.startswith(b"laconic ")
    said = call(UV, "tool", "run", "pipx", "run", "--spec", wheel, "laconic", "--version", folder=tmp_path)
    assert said.output.startswith(b"laconic ")
