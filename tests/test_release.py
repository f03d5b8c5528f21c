"""The release checklist finds what is wrong; the files for citation, workflows and issues are what their readers
expect."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from rich.console import Console

pytest.importorskip("yaml", reason="CITATION.cff and workflows are read with pyyaml (extra dev)")

import yaml

import kepler_envs
from tests import links, release
from tests.release import ROOT

CFF_KEYS = {
    "abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi", "identifiers", "keywords",
    "license", "license-url", "message", "preferred-citation", "references", "repository", "repository-artifact",
    "repository-code", "title", "type", "url", "version",
}  # fmt: skip
"""All that version 1.2.0 of the format knows."""
FORM_KINDS = {"markdown", "input", "textarea", "dropdown", "checkboxes"}

CITED = "\n```bibtex\n@software{it,\n  year    = {2026},\n  version = {1.2.3},\n}\n```\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the files that the quick checks read, in which nothing is wrong."""
    (tmp_path / "kepler_envs").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "kepler_envs" / "revision.py").write_text('VERSION = "1.2.3"\n')
    urls = '[project.urls]\nSource = "https://example.org"\n'
    (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "1.2.3"\n{urls}')
    (tmp_path / "CITATION.cff").write_text(
        "version: 1.2.3\ndate-released: '2026-11-23'\nrepository-code: https://example.org\n"
    )
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-11-23\n\n- All of it.\n")
    (tmp_path / "README.md").write_text(
        f"# Title\n\n[below](#two-words), [page](docs/page.md#there)\n\n## Two words\n{CITED}"
    )
    (tmp_path / "docs" / "page.md").write_text("# There\n\n![picture](../README.md) [site](https://example.org/x)\n")
    (tmp_path / "docs" / "strength.csv").write_text("release,wins\n1.2.0,0.5\n1.2.3,0.4\n")
    (tmp_path / "docs" / "figures.json").write_text(json.dumps({"release": "1.2.1", "commit": "abc", "rows": []}))
    return tmp_path


QUICK = ("versions", "changelog", "links", "figures", "commits", "addresses")


def found(checkout: Path) -> dict[str, list[str]]:
    """What the quick checks say, without those that are content."""
    said = {name: list(release.CHECKS[name](checkout)) for name in QUICK}
    return {name: problems for name, problems in said.items() if problems}


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_nothing_is_found_where_nothing_is_wrong(checkout):
    assert found(checkout) == {}


@pytest.mark.parametrize("file", ["pyproject.toml", "CITATION.cff"])
def test_another_version_is_found(checkout, file):
    replace(checkout / file, "1.2.3", "1.2.4")
    assert found(checkout) == {"versions": [f"{file} has version 1.2.4, kepler_envs 1.2.3"]}


@pytest.mark.parametrize("field, old, new", [("version", "1.2.3", "1.2.2"), ("year", "2026", "2025")])
def test_an_older_citation_in_the_readme_is_found(checkout, field, old, new):
    replace(checkout / "README.md", f"{{{old}}}", f"{{{new}}}")
    assert found(checkout) == {"versions": [f"README.md cites {field} {new}, it is {old}"]}


def test_a_repository_without_an_address_is_found(checkout):
    replace(checkout / "pyproject.toml", "[project.urls]", "[tool.other]")
    replace(checkout / "CITATION.cff", "repository-code", "url")
    lacks = ["pyproject.toml has no [project.urls]", "CITATION.cff has no repository-code"]
    assert found(checkout) == {"addresses": lacks}


def test_a_changelog_without_the_version_is_found(checkout):
    replace(checkout / "CHANGELOG.md", "## 1.2.3 - 2026-11-23", "## 1.2.3")
    assert found(checkout) == {"changelog": ["CHANGELOG.md has no section '## 1.2.3 - YYYY-MM-DD'"]}


def test_another_date_and_what_is_unreleased_are_found(checkout):
    replace(checkout / "CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n- More.\n")
    replace(checkout / "CITATION.cff", "11-23", "11-22")
    (date, waiting) = found(checkout)["changelog"]
    assert "2026-11-22" in date and "2026-11-23" in date and waiting == "CHANGELOG.md has entries under Unreleased"


@pytest.mark.parametrize(
    "file, old, new, target",
    [
        ("README.md", "docs/page.md", "docs/gone.md", "docs/gone.md#there"),
        ("README.md", "page.md#there", "page.md#elsewhere", "docs/page.md#elsewhere"),
        ("README.md", "#two-words", "#three-words", "#three-words"),
        ("docs/page.md", "# There", '# There\n\n<img alt="x" src="gone.png">', "gone.png"),
    ],
)
def test_a_broken_link_is_found(checkout, file, old, new, target):
    replace(checkout / file, old, new)
    assert found(checkout) == {"links": [f"{file}: {target}"]}


def test_links_in_code_are_none(checkout):
    replace(checkout / "docs/page.md", "# There", "# There\n\n`[a](b)`\n\n```\n[c](d)\n```")
    assert found(checkout) == {}


def test_old_figures_are_found(checkout):
    replace(checkout / "docs" / "strength.csv", "1.2.0", "1.1.9")
    replace(checkout / "docs" / "figures.json", "1.2.1", "0.9.0")
    lines, record = found(checkout)["figures"]
    assert lines == "docs/strength.csv: 1 of 2 lines were measured with 1.1.9"
    assert "docs/figures.json was measured with 0.9.0" in record


def test_figures_without_a_version_and_of_changed_files_are_found(checkout):
    (checkout / "docs" / "strength.csv").write_text("wins\n0.5\n")
    replace(checkout / "docs" / "figures.json", "abc", "abc+")
    said = found(checkout)
    assert said["figures"] == ["docs/strength.csv: 1 of 1 lines were measured with an unnamed version"]
    (record,) = said["commits"]
    assert "changed files" in record


def test_lines_and_rows_measured_again_with_changed_files_are_found(checkout):
    (checkout / "docs" / "strength.csv").write_text("release,commit\n1.2.3,abc\n1.2.3,abd+\n")
    again = [{"commit": "abd"}, {"commit": "0123456789+"}]
    record = {"release": "1.2.3", "commit": "abc", "rows": [], "again": again}
    (checkout / "docs" / "figures.json").write_text(json.dumps(record))
    assert found(checkout)["commits"] == [
        "docs/strength.csv: 1 of 2 lines were measured with changed files",
        "docs/figures.json was measured with changed files (0123456+); commit first, then measure",
    ]


def test_what_dist_lacks_is_found(checkout):
    (checkout / "dist").mkdir()
    names = ["1.2.3.tar.gz", "1.2.3-py3-none-any.whl"]
    names += [f"1.2.3-cp3{minor}-cp3{minor}-manylinux_2_27_x86_64.whl" for minor in (11, 12, 13, 14)]
    for name in names:
        (checkout / "dist" / f"kepler_envs-{name}").touch()
    assert list(release.missing_files(checkout)) == []
    (checkout / "dist" / f"kepler_envs-{names[-1]}").rename(checkout / "dist" / "kepler_envs-1.2.2-py3-none-any.whl")
    assert list(release.missing_files(checkout)) == [
        "dist/kepler_envs-1.2.2-py3-none-any.whl is of another version",
        "dist/ has no kepler_envs-1.2.3-cp314-*.whl",
    ]


def test_what_is_not_committed_is_found(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert list(release.tree(tmp_path)) == []
    (tmp_path / "new.py").touch()
    assert list(release.tree(tmp_path)) == ["not committed: new.py"]


def test_a_command_that_fails_is_told_with_the_end_of_its_output(tmp_path):
    (tmp_path / "quick.py").write_text("import sys\nprint('broken')\nsys.exit(sys.argv[1:] == ['--check'])\n")
    assert list(release.run(tmp_path, "quick")) == []
    assert list(release.run(tmp_path, "quick", "--check")) == ["python -m quick --check failed:", "broken"]


def test_each_check_has_a_line(checkout, monkeypatch):
    replace(checkout / "pyproject.toml", "1.2.3", "1.3.0")
    console = Console(file=io.StringIO(), width=200)
    assert release.go_through(checkout, QUICK, console) == ["versions"]
    said = console.file.getvalue().splitlines()
    assert [line.split(":")[0] for line in said] == [
        "WRONG versions", "      pyproject.toml has version 1.3.0, kepler_envs 1.2.3", "ok    changelog", "ok    links",
        "ok    figures", "ok    commits", "ok    addresses",
    ]  # fmt: skip


def test_the_command_makes_the_checks_asked_for(monkeypatch, capsys):
    monkeypatch.setitem(release.CHECKS, "links", lambda root: iter(["a page: nowhere"]))
    assert release.main(["--only", "versions"]) == 0
    assert "these checks pass" in capsys.readouterr().out
    assert release.main(["--only", "versions", "links"]) == 1
    assert "not ready: links" in capsys.readouterr().out
    assert release.main(["--only", "versions", "links", "--skip", "links"]) == 0


# ---------------------------------------------------------------- this checkout


@pytest.mark.parametrize("name", ["versions", "figures"])
def test_of_this_checkout(name):
    assert list(release.CHECKS[name](ROOT)) == []


def test_the_version_has_one_source():
    assert release.version_of(ROOT) == kepler_envs.__version__


def test_the_dates_of_changelog_and_citation_agree():
    """Before a release there is none."""
    said = release.citation(ROOT).get("date-released")
    assert release.dated_sections(ROOT).get(kepler_envs.__version__) == (said and str(said))


def test_every_record_names_its_release():
    for path in ROOT.glob("docs/*.csv"):
        with path.open(newline="") as file:
            assert "release" in next(csv.reader(file)), path.name


def test_the_citation_is_valid():
    said = release.citation(ROOT)
    assert {"cff-version", "message", "title", "authors"} <= set(said) <= CFF_KEYS
    assert said["cff-version"] == "1.2.0" and said["type"] == "software"
    assert said["authors"] == [{"name": "the kepler_envs authors"}]
    assert said["license"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"]
    assert len(said["keywords"]) == len(set(said["keywords"]))


def workflows() -> dict[str, dict]:
    paths = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    return {path.stem: yaml.safe_load(path.read_text()) for path in paths}


def test_workflows_run_what_people_run():
    commands = {
        name: [step["run"] for step in next(iter(flow["jobs"].values()))["steps"] if "run" in step]
        for name, flow in workflows().items()
    }
    assert commands == {"ci": [".ci/run"], "docs": ["make docs"], "lint": ["make lint"], "wheels": ["make dist"]}
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"docs", "lint", "dist"} <= set(targets) and (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_workflows_may_do_little_and_end():
    for name, flow in workflows().items():
        assert flow["permissions"] == {"contents": "read"}, name
        for job in flow["jobs"].values():
            assert job["runs-on"] == "ubuntu-latest" and job["timeout-minutes"] <= 180
            assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)


def test_only_the_site_is_pushed():
    allowed = {
        (name, key)
        for name, flow in workflows().items()
        for key, job in flow["jobs"].items()
        if job.get("permissions", {}) != {}
    }
    assert allowed == {("docs", "publish")}
    publish = workflows()["docs"]["jobs"]["publish"]
    assert publish["if"] == "github.event_name == 'push'", "a pull request publishes nothing"


def test_wheels_are_built_with_every_python():
    (setup,) = [
        step for step in workflows()["wheels"]["jobs"]["wheels"]["steps"] if "python-version" in step.get("with", {})
    ]
    wanted = {f"python{version}" for version in setup["with"]["python-version"].split()}
    assert wanted == set(release.PYTHONS)


def test_linters_before_a_commit_are_those_of_make_lint():
    (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    entries = [hook["entry"].replace(" --force-exclude", "") for hook in repo["hooks"]]
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    used = [line.strip().replace("$(BIN)", ".venv/bin") for line in lint.splitlines()]
    assert entries == [line.replace(" --check", "").removesuffix(" .") for line in used]


@pytest.mark.parametrize("name", ["bug", "feature", "game"])
def test_issue_forms_are_forms(name):
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text())
    assert form["name"] and form["description"]
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    ids = [part["id"] for part in asked]
    assert asked and len(set(ids)) == len(ids)
    assert any(part.get("validations", {}).get("required") for part in asked)
    for part in form["body"]:
        assert part["type"] in FORM_KINDS
        assert ("value" if part["type"] == "markdown" else "label") in part["attributes"]


def test_a_bug_needs_what_shows_it_again():
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text())
    parts = {part["id"]: part for part in form["body"] if "id" in part}
    assert {"game", "version", "seed", "decisions", "expected", "rulebook"} <= set(parts)
    titles = {kepler_envs.load_game(name).title for name in kepler_envs.list_games()}
    assert titles <= set(parts["game"]["attributes"]["options"])


def test_links_of_pages_are_looked_at():
    names = {str(page.relative_to(ROOT)) for page in links.pages(ROOT)}
    assert {"README.md", "SECURITY.md", "RELEASING.md", "docs/index.md", "benchmarks/README.md"} <= names
    assert ".github/PULL_REQUEST_TEMPLATE.md" in names
