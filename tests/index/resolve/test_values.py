"""A receiver is followed through what the text around it gives it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from laconic.index.resolve import Code, callees, find_symbol, references

Repository = Callable[[dict[str, str]], Code]

TYPES = "class Foo:\n    def run(self): ...\n\nclass Bar:\n    def run(self): ...\n\ndef make() -> Foo: ...\n"


def _verdicts(code: Code, symbol: str, path: str) -> dict[int, bool]:
    uses = references(code, find_symbol(code, symbol)[0])
    return {use.line: use.sure for use in uses if use.path == path and use.kind != "import"}


@pytest.mark.parametrize(
    ("body", "foo", "bar"),
    [
        ("x = Foo()\nx.run()", {2: True}, {}),
        ("x: Foo\nx.run()", {2: True}, {}),
        ("x = make()\nx.run()", {2: True}, {}),
        ("with Foo() as x:\n    x.run()", {2: True}, {}),
        ("x = Foo()\nx = Bar()\nx.run()", {}, {3: True}),
        ("if a:\n    x = Foo()\nelse:\n    x = Bar()\nx.run()", {5: False}, {5: False}),
        ("x = Foo()\nif a:\n    x = Bar()\n    x.run()\nx.run()", {5: False}, {4: True, 5: False}),
        ("x = Foo()\nf(lambda x: x.run())\nx.run()", {2: False, 3: True}, {2: False}),
        ("for x in Foo():\n    x.run()", {2: False}, {2: False}),
        ("x, y = Foo(), Bar()\nx.run()", {2: True}, {}),
        ("x = Foo() or Bar()\nx.run()", {2: False}, {2: False}),
        ("x = 'text'\nx.run()", {}, {}),
        ("x = os.thing()\nx.run()", {2: False}, {2: False}),
        ("os.run()", {}, {}),
        ("x = os.Thing()\nx.run()", {}, {}),
        ("x = [Foo()]\nx[0].run()", {2: False}, {2: False}),
        ('"""\nx: Bar of the text\n"""\nx = Foo()\nx.run()', {5: True}, {}),
        ("x = await make()  # waits\nx.run()", {2: True}, {}),
    ],
)
def test_a_local_in_python(repository: Repository, body: str, foo: dict[int, bool], bar: dict[int, bool]) -> None:
    lines = ["import os", "from types_of import Foo, Bar, make", "async def use(a, f):"]
    text = "\n".join([*lines, *(f"    {line}" for line in body.split("\n"))])
    code = repository({"types_of.py": TYPES, "use.py": text + "\n"})
    start = len(lines)
    assert _verdicts(code, "Foo.run", "use.py") == {start + line: sure for line, sure in foo.items()}
    assert _verdicts(code, "Bar.run", "use.py") == {start + line: sure for line, sure in bar.items()}


def test_modules_that_import_each_other_end(repository: Repository) -> None:
    files = {f"m{n}.py": "\n".join(f"from m{other} import *" for other in range(8)) for n in range(8)}
    code = repository(
        {
            **files,
            "m3.py": files["m3.py"] + "\ndef deep_inside(): ...\n",
            "use.py": "from m0 import *\ndeep_inside()\n",
        }
    )
    assert _verdicts(code, "deep_inside", "use.py") == {2: True}


def test_a_field_is_what_its_class_declares_or_a_parameter_is_annotated_with(repository: Repository) -> None:
    many = ", ".join(f"parameter_number_{n}: int" for n in range(20))
    text = (
        "from types_of import Foo, Bar\n\nclass Holder:\n    first: Foo\n\n"
        f"    def __init__(self, first, {many}, second: Foo):\n"
        "        self.first = first\n        self.second = second\n\n"
        "    def use(self):\n        self.first.run()\n        self.second.run()\n"
    )
    code = repository({"types_of.py": TYPES, "use.py": text})
    assert _verdicts(code, "Foo.run", "use.py") == {11: True, 12: True}
    assert _verdicts(code, "Bar.run", "use.py") == {}


POLICIES = (
    "class Policy:\n    def ask(self): ...\n\nclass Reject(Policy):\n    def ask(self): ...\n\n"
    "class Accept(Policy):\n    def ask(self): ...\n\nclass Other:\n    def ask(self): ...\n\n"
)


@pytest.mark.feature("U5")
def test_a_field_that_a_setter_gives_anything_is_possibly_of_any_type(repository: Repository) -> None:
    body = (
        "class Client:\n    def __init__(self):\n        self._policy = Reject()\n\n"
        "    def set(self, policy):\n        self._policy = policy\n\n"
        "    def connect(self):\n        self._policy.ask()\n"
    )
    code = repository({"policies.py": POLICIES, "client.py": f"from policies import Reject\n\n{body}"})
    for name in ("Reject", "Accept", "Policy"):
        assert _verdicts(code, f"{name}.ask", "client.py").keys() == {11}, name
    found = {call.symbol.qualified for call in callees(code, find_symbol(code, "Client.connect")[0])}
    assert {"Reject.ask", "Accept.ask"} <= found


@pytest.mark.feature("U5")
def test_a_field_holds_what_any_method_of_its_class_gives_it(repository: Repository) -> None:
    body = (
        "class Client:\n    def __init__(self):\n        self._policy = None\n\n"
        "    def open(self):\n        self._policy = Accept()\n\n"
        "    def connect(self):\n        self._policy.ask()\n"
    )
    code = repository({"policies.py": POLICIES, "client.py": f"from policies import Accept\n\n{body}"})
    assert _verdicts(code, "Accept.ask", "client.py") == {11: True}
    assert _verdicts(code, "Other.ask", "client.py") == {}


def test_results_are_inferred_and_fixtures_give_tests_their_parameters(repository: Repository) -> None:
    code = repository(
        {
            "types_of.py": TYPES,
            "conftest.py": "from types_of import Foo\n\ndef thing():\n    return Foo()\n",
            "tests/test_use.py": "def test_it(thing):\n    thing.run()\n",
        }
    )
    assert _verdicts(code, "Foo.run", "tests/test_use.py") == {2: True}
    assert _verdicts(code, "Bar.run", "tests/test_use.py") == {}


def test_elements_of_lists_are_what_the_list_says(repository: Repository) -> None:
    text = (
        "from types_of import Foo, Bar\n\ndef use(foos: list[Foo], bars: dict[str, Bar]):\n"
        "    for one in foos:\n        one.run()\n    bars['a'].run()\n    foos.run()\n"
    )
    code = repository({"types_of.py": TYPES, "use.py": text})
    assert _verdicts(code, "Foo.run", "use.py") == {5: True}
    assert _verdicts(code, "Bar.run", "use.py") == {6: True}


def test_a_parameter_of_an_inner_function_hides_a_name_only_inside_it(repository: Repository) -> None:
    text = (
        "import { Foo, Bar } from './types';\nexport function use(x: Foo) {\n"
        "  const f = (x: Bar) => {\n    x.run();\n  };\n  x.run();\n}\n"
    )
    types = "export class Foo {\n  run() {}\n}\nexport class Bar {\n  run() {}\n}\n"
    code = repository({"types.ts": types, "use.ts": text})
    assert _verdicts(code, "Foo.run", "use.ts") == {6: True}
    assert _verdicts(code, "Bar.run", "use.ts") == {4: True}


def test_a_path_leads_into_a_type_of_another_file(repository: Repository) -> None:
    """A path goes on inside a module that is written in another file."""
    code = repository(
        {
            "Cargo.toml": '[package]\nname = "paint"\n',
            "src/lib.rs": "mod colour;\nmod wall;\n",
            "src/colour.rs": "pub mod shades {\n    pub enum Dark {\n        Navy,\n    }\n}\n",
            "src/wall.rs": "use crate::colour::shades::Dark::Navy;\n\npub fn paint() -> u8 {\n    Navy as u8\n}\n",
        }
    )
    navy = find_symbol(code, "Dark.Navy")[0]
    sure = {(use.path, use.line) for use in references(code, navy) if use.sure}
    assert sure == {("src/wall.rs", 1), ("src/wall.rs", 4)}


_SHOP = """\
export class Shop {
  close() {}
}
export class Door {
  close() {}
}
export type Options = { limit: number }
"""


@pytest.mark.parametrize(
    ("body", "symbol", "sure"),
    [
        ("export function f(it: Shop | Promise<Shop>) {\n  it.close()\n}", "Shop.close", True),
        ("export function f(it: Shop & Extra) {\n  it.close()\n}", "Shop.close", True),
        ("export function f(make: () => Shop) {\n  make().close()\n}", "Shop.close", True),
        ("const run = (given: Options) => given\nrun({ limit: 1 })", "Options.limit", True),
        ("let kept: Options\nkept = { limit: 1 }", "Options.limit", True),
        ("export function f(door: Door) {\n  door.close()\n}", "Shop.close", None),
    ],
)
def test_types_of_typescript_are_followed(repository: Repository, body: str, symbol: str, sure: bool | None) -> None:
    head = "import { Door, Options, Shop } from './shop'\n"
    code = repository({"shop.ts": _SHOP, "use.ts": head + body + "\n"})
    assert _verdicts(code, symbol, "use.ts").get(3) is sure


@pytest.mark.parametrize(
    "body", ["new(Shop).Close()", "it.(*Shop).Close()", "(&Shop{}).Close()", 'open("a/b").\n\t\tClose()']
)
def test_receivers_of_go_are_followed(repository: Repository, body: str) -> None:
    types = "package shop\n\ntype Shop struct{}\n\nfunc (s *Shop) Close() {}\n\n"
    types += "type Door struct{}\n\nfunc (d *Door) Close() {}\n"
    opened = "\nfunc open(name string) *Shop { return nil }\n"
    code = repository({"shop.go": types + opened, "use.go": f"package shop\n\nfunc use(it any) {{\n\t{body}\n}}\n"})
    assert set(_verdicts(code, "Shop.Close", "use.go").values()) == {True}
    assert _verdicts(code, "Door.Close", "use.go") == {}


def test_a_type_of_a_namespace_is_found_beside_its_constructor(repository: Repository) -> None:
    """The definition of a constructor in a source file is in the namespace too, and means no other type."""
    header = "namespace shop {\nclass Door {\npublic:\n    Door();\n};\n}\n"
    source = '#include "door.h"\nnamespace shop {\nDoor::Door() {}\n}\n'
    use = '#include "door.h"\nusing namespace shop;\nvoid use() {\n    Door door;\n}\n'
    code = repository({"door.h": header, "door.cpp": source, "use.cpp": use})
    door = next(each for each in find_symbol(code, "Door") if each.kind == "class")
    assert {use.line: use.sure for use in references(code, door) if use.path == "use.cpp"} == {4: True}
