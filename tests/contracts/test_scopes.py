"""What documents say they are valid for, over each database."""

from __future__ import annotations

from store.scopes import scope_values
from tests.fakes.installation import Installation


def test_all_values_of_each_key_are_known(database, tmp_path):
    here = Installation(tmp_path, database=database)
    assert scope_values(database) == {}
    front = "---\nscope:\n  version: {}\n  os: [linux, macos]\n---\n# Page {}\n\nText about pages.\n"
    here.write({f"p{n}.md": front.format(f"'{n % 2}'", n) for n in range(4)} | {"free.md": "# Free\n\nFor all.\n"})
    assert scope_values(database) == {"os": frozenset({"linux", "macos"}), "version": frozenset({"0", "1"})}
    here.index.close()
