"""Every module of the engine and of the numerics has a test file at the mirrored place."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def modules(package: str) -> list[Path]:
    """Modules of a package below the root; folders that only describe themselves have no tests of their own."""
    files = (path.relative_to(ROOT) for path in sorted((ROOT / package).rglob("*.py")))
    return [path for path in files if not path.name.startswith("__")]


def mirrored(module: Path) -> Path:
    return Path("tests") / module.parent / f"test_{module.name}"


@pytest.mark.parametrize("package", ["odesys", "numerics"])
def test_every_module_has_its_test_file(package: str) -> None:
    found = modules(package)
    missing = [f"{module} -> {mirrored(module)}" for module in found if not (ROOT / mirrored(module)).exists()]
    assert found and not missing, "modules without a test file:\n" + "\n".join(missing)


def test_a_file_with_tests_has_tests() -> None:
    """An empty file at the right place would satisfy the test above."""
    files = [ROOT / mirrored(module) for package in ("odesys", "numerics") for module in modules(package)]
    assert [str(f) for f in files if f.exists() and "\ndef test_" not in f.read_text(encoding="utf-8")] == []
