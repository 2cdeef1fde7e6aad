"""What a project is made of, in the words of its own build files; Java as one of the first languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples import git, shop

from laconic.config import load
from laconic.tool_runtime.runtime import ToolRuntime
from laconic.tools import tools

FILES = {
    "pom.xml": "<project><artifactId>bank</artifactId><version>2</version><dependencies><dependency>"
    "<groupId>g</groupId><artifactId>guava</artifactId></dependency></dependencies></project>\n",
    "build.gradle": "plugins { id 'java' }\ndependencies { implementation 'com.google.code.gson:gson:2.10' }\n",
    "package.json": '{"name": "front", "version": "3.0.0", "dependencies": {"react": "^18"}}\n',
    "Cargo.toml": '[package]\nname = "engine"\nversion = "0.4.0"\n[dependencies]\nserde = "1"\n',
    "go.mod": "module example.org/tool\n\ngo 1.22\n\nrequire example.org/dep v1.0.0\n",
    "src/main/java/bank/Account.java": """package bank;

/** What somebody has. */
public sealed interface Account permits Saving, Giro {
    long balance();
}

record Saving(long balance) implements Account {
    Saving {
        if (balance < 0) throw new IllegalArgumentException();
    }
}

final class Giro implements Account {
    static class Limit {
        int cents;
    }

    public long balance() {
        return 1;
    }

    Runnable audit() {
        return new Runnable() {
            @Override
            public void run() {
                balance();
            }
        };
    }

    <T extends Account> T richest(java.util.List<T> all) {
        return all.get(0);
    }
}
""",
}


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[ToolRuntime]:
    root = shop(tmp_path)
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    opened = ToolRuntime(
        root, load(flags={"cache_dir": str(tmp_path / "cache")}, environ={}, file=tmp_path / "none"), tools()
    )
    yield opened
    opened.close()


@pytest.mark.feature("J9")
@pytest.mark.parametrize(
    "line",
    [
        "Cargo.toml Rust engine 0.4.0: needs serde",
        "build.gradle Gradle: needs com.google.code.gson:gson",
        "go.mod Go example.org/tool go 1.22: needs example.org/dep",
        "package.json Node front 3.0.0: needs react",
        "pom.xml Maven bank 2: needs guava",
        "pyproject.toml Python shop 1.2: needs httpx",
    ],
)
def test_the_map_reads_build_files(runtime: ToolRuntime, line: str) -> None:
    assert line in runtime.call("map", {}).text


GRADLE = """jar { from { include 'LICENSE.txt' } }
dependencies {
    api(project(":shop-core"))
    testImplementation(libs.junit.vintage.engine)
    compileOnly group: 'org.slf4j', name: 'slf4j-api', version: '2.0'
    runtimeOnly 'com.h2database:h2:2.2.224'
}
"""


@pytest.mark.feature("J9", "C4")
def test_gradle_names_projects_catalogues_and_maps_and_only_settings_include_modules(runtime: ToolRuntime) -> None:
    (runtime.root / "build.gradle").write_text(GRADLE)
    (runtime.root / "settings.gradle").write_text(
        'rootProject.name = "shop"\ninclude("core")\ninclude ":web", ":cli"\n'
    )
    said = runtime.call("map", {"budget": 2000}).text
    needs = ":shop-core, libs.junit.vintage.engine, org.slf4j:slf4j-api, com.h2database:h2"
    assert f"build.gradle Gradle: needs {needs}\n" in said
    assert "settings.gradle Gradle shop: modules core, web, cli\n" in said
    assert "LICENSE.txt" not in said.partition("entry points")[0].partition("./ ")[0]


@pytest.mark.feature("C4", "J9")
def test_modules_are_read_over_lines_in_loops_and_from_functions_of_the_build(runtime: ToolRuntime) -> None:
    (runtime.root / "settings.gradle.kts").write_text(
        'include(\n    "extensions:proxy",\n    "extensions:android",\n)\nif (hasAndroid) {\n    include("android")\n}\n'
        'includeProject("api", mavenized = true)\nlistOf("a").forEach { include("registry-$it") }\n'
        'listOf("a").forEach { sys ->\n    include("samples-$sys")\n}\n'
    )
    (runtime.root / "gradle").mkdir()
    (runtime.root / "gradle" / "libs.versions.toml").write_text(
        '[plugins]\nkotlin = { id = "org.jetbrains.kotlin", version = "2" }\n'
    )
    (runtime.root / "build.gradle.kts").write_text(
        'dependencies {\n    classpath("${libs.plugins.kotlin.get()}")\n}\n'
    )
    said = runtime.call("map", {"budget": 2000}).text
    assert "Gradle: modules extensions/proxy, extensions/android, android, api, samples-*\n" in said
    assert "build.gradle.kts Gradle: needs org.jetbrains.kotlin\n" in said


@pytest.mark.feature("C4")
def test_the_file_that_a_package_names_as_its_main_one_is_an_entry_point(runtime: ToolRuntime) -> None:
    (runtime.root / "package.json").write_text(
        '{"name": "fastify", "main": "./fastify.js", "bin": {"f": "bin/f.js"}}'
    )
    (runtime.root / "fastify.js").write_text("module.exports = 1\n")
    (runtime.root / "bin").mkdir()
    (runtime.root / "bin" / "f.js").write_text("require('..')\n")
    assert "fastify.js, bin/f.js" in runtime.call("map", {"budget": 2000}).text


@pytest.mark.feature("C4", "U2")
def test_a_manifest_that_needs_much_leaves_room_for_the_rest_of_the_map(runtime: ToolRuntime) -> None:
    needs = "".join(f"\texample.org/some/long/name/of/package{number} v1.0.0\n" for number in range(150))
    (runtime.root / "go.mod").write_text(f"module example.org/own\n\ngo 1.26\n\nrequire (\n{needs})\n")
    said = runtime.call("map", {"budget": 1200, "format": "json"}).text
    assert '"dependencies_more":126' in said
    assert '"shown":1,' not in said


@pytest.mark.feature("C4", "J9")
def test_many_manifests_of_a_kind_are_told_together(runtime: ToolRuntime) -> None:
    for number in range(9):
        (runtime.root / f"module-{number}").mkdir()
        (runtime.root / f"module-{number}" / "build.gradle").write_text(GRADLE)
    said = runtime.call("map", {"budget": 400}).text
    assert "Gradle: 9 manifests below: module-0, module-1," in said
    assert "module-3/build.gradle" not in said


@pytest.mark.feature("C4")
@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({"flask/__init__.py": "from .app import Flask as Flask\nfrom .json import jsonify\n"}, "Flask, jsonify"),
        ({"lib/express.js": "exports.Router = Router;\nexports.json = bodyParser.json\n"}, "Router, json"),
        ({"src/main/java/g/Gson.java": "package g;\npublic class Gson {}\nclass Hidden {}\n"}, "Gson"),
        ({"chi.go": "package chi\n\nfunc NewRouter() {}\n\nfunc hidden() {}\n"}, "NewRouter"),
        (
            {
                "include/fmt/format.h": "#include <string>\n\nint format_to(int a) {\n  return a;\n}\n" * 9,
                "tools/lint.py": '__all__ = ["docopt"]\n',
                "lint.py": '__all__ = ["docopt"]\n',
            },
            "format_to",
        ),
        (
            {
                "fastify.js": "exports.fastify = fastify\nexports.errorCodes = codes\nexports.LogController = Log\n",
                "lib/reply.js": "exports.buildReply = buildReply\n",
            },
            "fastify, errorCodes, LogController",
        ),
        (
            {
                "core/src/lib.rs": "pub fn new() {}\npub struct Debug;\npub struct Term;\n",
                "core/src/testFixtures/base.rs": "pub struct TestBase;\n",
            },
            "Term",
        ),
    ],
)
def test_the_public_api_is_what_packages_export_or_else_their_public_definitions(
    tmp_path: Path, files: dict[str, str], names: str
) -> None:
    root = tmp_path / "code"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    settings = load(flags={"cache_dir": str(tmp_path / "cache")}, environ={}, file=tmp_path / "none")
    runtime = ToolRuntime(root, settings, tools())
    try:
        assert f"public API: {names}\n" in runtime.call("map", {}).text
    finally:
        runtime.close()


@pytest.mark.feature("J9")
def test_a_refresh_answers_with_numbers_only(runtime: ToolRuntime) -> None:
    runtime.call("map", {})
    (runtime.root / "new.py").write_text("def fresh():\n    pass\n")
    reply = runtime.call("workspace", {"action": "refresh"})
    assert re.search(r"^1 file read, 0 removed$", reply.text, re.MULTILINE)
    assert "new.py" not in reply.text
    assert reply.tokens < 60


@pytest.mark.feature("J10")
def test_java_types_are_outlined_with_their_nesting(runtime: ToolRuntime) -> None:
    text = runtime.call("map", {"path": "src/main/java/bank/Account.java"}).text
    for line in (
        "public sealed interface Account permits Saving, Giro",
        "record Saving(long balance) implements Account",
        "static class Limit",
        "new Runnable() {}",
        "public void run()",
        "<T extends Account> T richest(java.util.List<T> all)",
    ):
        assert line in text


@pytest.mark.feature("J10", "C8")
def test_a_sealed_type_knows_who_implements_it_and_a_method_who_calls_it(runtime: ToolRuntime) -> None:
    text = runtime.call("inspect", {"symbol": "Account"}).text
    assert re.search(r"implemented by: .*Giro.*Saving", text)
    text = runtime.call("inspect", {"symbol": "Giro.balance"}).text
    assert "run" in text.split("references:")[1]


@pytest.mark.feature("U9")
def test_several_workspaces_are_kept_apart_and_listed_within_a_budget(runtime: ToolRuntime, tmp_path: Path) -> None:
    runtime.call("map", {})
    roots = []
    for number in range(8):
        root = tmp_path / f"workspace-{number}"
        root.mkdir()
        (root / "only.py").write_text(f"def lives_in_{number}():\n    pass\n")
        git(root, "init", "-q")
        runtime.call("workspace", {"action": "add", "path": str(root)})
        roots.append(root)
    whole = runtime.call("workspace", {"action": "list"}).text
    assert all(str(root) in whole for root in roots)
    short = runtime.call("workspace", {"action": "list", "budget": 120})
    assert short.tokens <= 120
    assert re.search(r"of 9", short.text)
    assert "lives_in_3" not in runtime.call("search", {"query": "/lives_in_3/"}).text.split("nothing found")[0]


@pytest.mark.feature("J9", "J10")
def test_a_version_catalogue_the_kotlin_dsl_and_composite_builds_are_understood(runtime: ToolRuntime) -> None:
    (runtime.root / "gradle").mkdir()
    (runtime.root / "gradle" / "libs.versions.toml").write_text(
        '[versions]\njunit = "5.9"\n[libraries]\njunit-api = { module = "org.junit:junit-api", version.ref = "junit" }\n'
        'slf4j = "org.slf4j:slf4j-api:1.7"\nassertj_core = { group = "org.assertj", name = "assertj-core" }\n'
        '[bundles]\ntesting = ["junit-api", "assertj_core"]\n'
    )
    (runtime.root / "settings.gradle.kts").write_text(
        'rootProject.name = "shop"\nincludeBuild("build-logic")\ninclude(":core")\n'
    )
    (runtime.root / "core").mkdir()
    (runtime.root / "core" / "build.gradle.kts").write_text(
        "dependencies {\n    implementation(projects.base)\n    api(libs.slf4j)\n"
        "    testImplementation(libs.bundles.testing)\n    implementation(platform(libs.unknown.bom))\n}\n"
    )
    said = runtime.call("map", {"budget": 2000}).text
    assert "settings.gradle.kts Gradle shop: modules core, build-logic (a separate build)\n" in said
    needs = "projects.base, org.slf4j:slf4j-api, org.junit:junit-api, org.assertj:assertj-core, libs.unknown.bom"
    assert f"core/build.gradle.kts Gradle: needs {needs}\n" in said
    assert needs in runtime.call("map", {"path": "core"}).text


@pytest.mark.feature("U9")
@pytest.mark.parametrize("action", ["recent", "recents", "remov", "removed", "ad", "delete", "forget"])
def test_no_guess_ever_removes_or_adds_a_workspace(runtime: ToolRuntime, tmp_path: Path, action: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "only.py").write_text("x = 1\n")
    runtime.call("map", {})
    for path in ({}, {"path": str(other)}):
        runtime.call("workspace", {"action": action, **path})
        listed = runtime.call("workspace", {"action": "list", "again": True}).text
        assert str(runtime.root) in listed
        assert str(other) not in listed


@pytest.mark.feature("U9")
def test_recent_workspaces_are_listed_with_the_last_used_first(runtime: ToolRuntime, tmp_path: Path) -> None:
    runtime.call("map", {})
    roots = [tmp_path / "first", tmp_path / "second"]
    for root in roots:
        root.mkdir()
        (root / "only.py").write_text("x = 1\n")
        runtime.call("workspace", {"action": "add", "path": str(root)})
    runtime.call("workspace", {"action": "status", "path": str(roots[0])})
    listed = runtime.call("workspace", {"action": "recent"}).text
    assert listed.index(str(roots[0])) < listed.index(str(roots[1]))


@pytest.mark.parametrize("path", ["loop", "loop/x", "~nobody-of-that-name", "a" * 5_000])
def test_a_path_that_cannot_be_followed_is_an_error_that_names_it(tmp_path: Path, path: str) -> None:
    root = shop(tmp_path)
    (root / "loop").symlink_to("loop")
    settings = load(flags={"cache_dir": str(tmp_path / "cache")}, environ={}, file=tmp_path / "none.toml")
    runtime = ToolRuntime(root, settings, tools())
    reply = runtime.call("workspace", {"action": "add", "path": path})
    assert reply.failed
    assert reply.text.startswith("error: ")
    assert "fault" not in reply.text
