"""Who reads and decides what; whatever is not allowed in so many words is refused."""

from __future__ import annotations

import pytest

from bot.chat.access import Channel, Reach, channel_of, is_admin, reach, visibility_of
from bot.chat.messages import Person
from store.records import Visibility

KNOWN = {"docs": Visibility.PUBLIC, "hr": Visibility.PRIVATE, "legal": Visibility.PRIVATE}
READERS = {"hr": ["slack:U1"], "legal": ["slack:S7"]}
ANYBODY = Person("slack:U5")


def test_without_settings_only_public_collections_are_searched():
    assert reach(Channel(), ANYBODY, KNOWN, READERS) == Reach(("docs",))


def test_a_private_collection_named_for_a_channel_is_meant_for_it():
    assert reach(Channel(collections=("hr",)), ANYBODY, KNOWN, READERS) == Reach(("hr",))


def test_readers_reach_private_collections_by_name_or_group_for_themselves():
    assert reach(Channel(), Person("slack:U1"), KNOWN, READERS) == Reach(("docs",), ("hr",))
    assert reach(Channel(), Person("slack:U2", ("S7",)), KNOWN, READERS) == Reach(("docs",), ("legal",))


def test_in_a_direct_message_there_is_nobody_to_hide_it_from():
    assert reach(Channel(), Person("slack:U1"), KNOWN, READERS, alone=True) == Reach(("docs", "hr"))


def test_a_person_of_another_platform_with_the_same_id_is_another_person():
    assert reach(Channel(), Person("discord:U1"), KNOWN, READERS) == Reach(("docs",))


def test_people_from_outside_read_nothing_private():
    assert reach(Channel(), Person("slack:U1", outsider=True), KNOWN, READERS) == Reach(("docs",))


def test_choosing_never_widens_the_reach():
    assert reach(Channel(), ANYBODY, KNOWN, READERS, ("hr",)) == Reach(())
    assert reach(Channel(), Person("slack:U1"), KNOWN, READERS, ("hr",)) == Reach((), ("hr",))


def test_a_collection_that_does_not_exist_any_more_is_not_searched():
    assert reach(Channel(collections=("gone", "docs")), ANYBODY, KNOWN, READERS) == Reach(("docs",))


@pytest.mark.parametrize(
    ("place", "searched", "expected"),
    [
        (Visibility.PUBLIC, ["docs"], Visibility.PUBLIC),
        (Visibility.PUBLIC, ["docs", "hr"], Visibility.PRIVATE),
        (Visibility.PRIVATE, ["docs"], Visibility.PRIVATE),
        (Visibility.PUBLIC, ["unknown"], Visibility.PRIVATE),
    ],
)
def test_a_question_is_as_private_as_its_place_and_its_sources(place, searched, expected):
    assert visibility_of(place, searched, KNOWN) is expected


@pytest.mark.parametrize("admins", [[], ["", " "], ["slack:U2"], ["discord:U1"], ["U1"]])
def test_who_is_not_named_is_no_admin(admins):
    assert not is_admin(Person("slack:U1"), admins)


def test_admins_are_named_by_id_or_group():
    assert is_admin(Person("slack:U1"), ["slack:U1"])
    assert is_admin(Person("discord:3", ("77",)), ["discord:77"])


def test_nobody_from_outside_and_nobody_unknown_is_an_admin():
    assert not is_admin(Person("slack:U1", outsider=True), ["slack:U1"])
    assert not is_admin(Person(""), ["", "slack:"])


def test_a_channel_is_found_by_id_then_by_name_then_by_default():
    channels = {"C1": Channel(("a",)), "ops": Channel(("b",)), "default": Channel(("c",))}
    assert channel_of(channels, "C1", "ops").collections == ("a",)
    assert channel_of(channels, "C2", "#ops").collections == ("b",)
    assert channel_of(channels, "C3", "").collections == ("c",)
    assert channel_of({}, "C3", "x") == Channel()
