"""A team with something to hide, on both platforms: who asked where, and what each person saw of it.

The parts are those that :mod:`bot.app` wires: real engine, indexes and SQLite, behind the real adapters.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field

from bot.app import App
from bot.chat.digest_cards import digest_cards
from bot.chat.messages import Marked, Person, Press, Verb
from bot.chat.service import ChatOptions, ChatService
from bot.chat.wording import closure_notice
from bot.clock import now
from bot.settings import Settings
from discovery.charts import chart_svg
from discovery.digest_html import digest_html
from discovery.digest_markdown import digest_markdown
from store.candidates import candidate_id
from store.records import Candidate, Nearest, Preview, Question, Source, Visibility
from store.sources import IngestRequest
from tests.fakes.discord import discord_server
from tests.fakes.discord_running import connected as discord_connected
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_running import connected as slack_connected

PUBLIC = {
    "vpn.md": "# VPN\n\n## Reset\n\nTo reset the VPN client, press the blue button and sign in again.\n",
    "mail.md": "# Mail\n\n## Quota\n\nThe mailbox quota is 5 GB. Larger files go to the file share.\n",
    "backup.md": "# Backup\n\nThe database is backed up every night at two.\n",
    "expenses.md": "# Expenses\n\nHand in receipts for a business trip within ten days.\n",
}
PRIVATE = {
    "bandplan.md": "# Salaries of engineers\n\nEngineers of band seven earn ninety thousand a year.\n\n"
    "## Bonus\n\nThe bonus of engineers of band seven is eleven thousand a year.\n"
}
QUESTION = "How much do engineers of band seven earn?"
FOLLOW_UP = "What is the bonus of engineers of band seven?"
SECRETS = ("ninety thousand", "eleven thousand", "bandplan", "Salaries of engineers")
"""Words that stand in private documents only: in their text, name and title."""
HIDDEN_CHANNEL = "CHR"
PEOPLE = {"member": "UPUB", "reader": "UREAD", "reader by group": "UGRP", "admin": "UADM", "guest": "UGUEST",
          "outsider": "UOUT"}  # fmt: skip


@dataclass
class Seen:
    """What became visible by one question: to everybody in the place, and to the one who asked alone."""

    openly: str = ""
    alone: str = ""


@dataclass
class World:
    """Everything that was seen, by role and place."""

    settings: Settings
    app: App
    seen: dict = field(default_factory=dict)
    surfaces: dict = field(default_factory=dict)
    facts: dict = field(default_factory=dict)

    def service(self, **options):
        return ChatService(self.app.chat, ChatOptions(**options))


def settings_for(folder, model_cache, readers, **more):
    return Settings(
        data=folder / "data",
        embedding={"cache": model_cache},
        documents={"readers": {"hr": readers}},
        **more,
    )


def opened(folder, settings):
    """The parts over both collections, ingested."""
    app = App(settings)
    for name, texts, visibility in (("default", PUBLIC, Visibility.PUBLIC), ("hr", PRIVATE, Visibility.PRIVATE)):
        docs = folder / name
        docs.mkdir(exist_ok=True)
        for file, text in texts.items():
            (docs / file).write_text(text, encoding="utf-8")
        app.ingestor.run(IngestRequest([docs], collection=name, visibility=visibility))
    return World(settings, app)


def populate(slack):
    slack.person("UPUB")
    slack.person("UREAD")
    slack.person("UGRP")
    slack.person("UADM")
    slack.person("UGUEST", is_restricted=True)
    slack.person("UOUT", team="TOTHER", is_stranger=True)
    slack.groups.update(SREAD=["UGRP"])
    everybody = set(PEOPLE.values())
    slack.channel("C1", "general", members=set(everybody))
    slack.channel(HIDDEN_CHANNEL, "hr", kind="group", members=set(everybody))
    # Anybody can make a channel of this name; the settings name it too.
    slack.channel("CFAKE", "hr-by-name", members=set(everybody))
    for user in everybody:
        slack.direct(user)


class SlackAsking:
    """Asks one question after the other, and notes what each made visible."""

    def __init__(self, slack, service):
        self.slack, self.service = slack, service

    def _open(self, channel):
        return {one["ts"]: json.dumps(one, ensure_ascii=False) for one in self._by_bot(channel)}

    def _by_bot(self, channel):
        return [one for one in self.slack.channels[channel].messages if one.get("bot_id")]

    async def seen(self, user, act):
        """What became visible while something was done, in all channels and to one person."""
        public = [key for key in self.slack.channels if not key.startswith("D")]
        before = {channel: set(self._open(channel).values()) for channel in self.slack.channels}
        whispers = len(self.slack.whispers_to(user))
        result = await act()
        await asyncio.sleep(0.05)
        assert await self.service.settled(40)
        await asyncio.sleep(0.05)

        def new(channel):
            return [text for text in self._open(channel).values() if text not in before[channel]]

        whispered = self.slack.whispers_to(user)[whispers:]
        alone = [*new(f"D{user}"), *(json.dumps(one, ensure_ascii=False) for one in whispered)]
        return Seen("\n".join(text for channel in public for text in new(channel)), "\n".join(alone)), result

    async def ask(self, user, place, question, thread=None):
        async def act():
            if place == "command":
                await self.slack.command("C1", user, question)
                return None
            channel = f"D{user}" if place == "direct" else place
            return await self.slack.ask(channel, user, question, **({"thread": thread} if thread else {}))

        return await self.seen(user, act)


async def asked_on_slack(world):
    """Every role asks in every place; also a follow-up in the thread of its question."""
    async with FakeSlack() as slack:
        populate(slack)
        service = world.service()
        async with slack_connected(slack, service) as platform:
            service.connect(platform)
            asking = SlackAsking(slack, service)
            for role, user in PEOPLE.items():
                for place, channel in PLACES.items():
                    found, asked = await asking.ask(user, channel, QUESTION)
                    world.seen[role, place] = found
                    if place == "public channel":
                        found, _ = await asking.ask(user, channel, FOLLOW_UP, asked)
                        world.seen[role, "follow-up in a thread"] = found
            await aftermath(world, slack, asking)
        return slack


PLACES = {
    "public channel": "C1",
    "channel of that name": "CFAKE",
    "private channel": HIDDEN_CHANNEL,
    "direct message": "direct",
    "command": "command",
}


ASKED_IN_PRIVATE = "Which lawyer looks after the Zephyrion merger?"
OPEN_QUESTION = "Where do I park my bicycle?"
NEAR_PRIVATE = "Which parking lot do engineers of band seven use on Sundays?"
READERS_QUESTION = "How do I book the sauna on the roof?"
READERS_ANSWER = {
    "saunaplan.md": "# Sauna\n\n## Booking\n\nTo book the sauna on the roof, sign the list at the desk.\n"
}


async def aftermath(world, slack, asking):
    """What is kept of it all, and shown later: gaps, digests, suggestions, notices, decisions."""
    app, service = world.app, asking.service
    await asking.ask("UPUB", "direct", ASKED_IN_PRIVATE)
    await asking.ask("UPUB", "C1", OPEN_QUESTION)
    await asking.ask("UREAD", "direct", READERS_QUESTION)
    near = app.engine.ask(Question(NEAR_PRIVATE))
    gaps = {gap.question: gap for gap in app.gaps.list()}
    hidden, shown = gaps[ASKED_IN_PRIVATE], gaps[OPEN_QUESTION]
    world.facts |= {"hidden": hidden, "shown": shown, "near": app.gaps.get(near.gap.id)}
    source = Source("folder:/wiki/bikes.md", "folder", "Bicycles", "/wiki/bikes.md", licence="MIT")
    evidence = Nearest("bikes.md", "", "Bicycles stand behind the house.", 0.7)
    identity = candidate_id("t1", source.key)
    candidate = Candidate(identity, "t1", "bicycle", source, now(), (shown.id, hidden.id),
                          preview=Preview(2, 1, 0.7, evidence=(evidence,)))  # fmt: skip
    app.candidates.suggest(candidate)
    adopted = await service.adopt(
        Marked("slack", "DUPUB", "DUPUB", "9.9", Person("slack:UPUB"), "Ask Ms Miller.", "", Person("slack:UADM"),
               Visibility.PRIVATE)
    )  # fmt: skip
    private = next(one for one in app.candidates.listed() if one.visibility is Visibility.PRIVATE)
    world.facts |= {"candidate": identity, "private candidate": private.id, "adopted": adopted.text}
    await _decisions(world, asking, identity, private.id)
    await _notices(world, slack, asking, gaps[READERS_QUESTION])
    digest = await asyncio.to_thread(app.reporting.make)
    world.surfaces |= {
        "digest as Markdown": digest_markdown(digest),
        "digest as HTML": digest_html(digest),
        "chart": chart_svg(digest.chart),
        "digest as cards": repr(digest_cards(digest)),
    }
    for name, user in PEOPLE.items():
        person = await _person(asking, user)
        for word in ("gaps", "digest", "status", "candidates"):
            shown_now = await service.command(word, person, "C1", Visibility.PUBLIC)
            world.surfaces[f"{word} for the {name}"] = repr(shown_now)
        await slack.open_home(user)
    await asyncio.sleep(0.3)
    world.surfaces["home pages"] = json.dumps(slack.homes)
    world.facts["homes"] = set(slack.homes)


async def _person(asking, user):
    return Person(f"slack:{user}", outsider=user in {"UGUEST", "UOUT"})


async def _decisions(world, asking, identity, private):
    service = asking.service
    for user, subject in (("UPUB", identity), ("UOUT", identity), ("UADM", private)):
        person = await _person(asking, user)
        press = Press("slack", Verb.APPROVE, subject, person, "C1", "1.1", "C1:1.1")
        world.surfaces[f"refusal for {user}"] = repr(await service.press(press))
    admin = Person("slack:UADM")
    world.surfaces["private source by command"] = repr(
        await service.command(f"approve {private[:8]}", admin, "C1", Visibility.PUBLIC)
    )
    await service.press(Press("slack", Verb.SNOOZE, identity, admin, "C1", "1.1", "C1:1.1"))
    asked = [one for one in world.app.questions.of_conversation("DUPUB", 10) if one.text == ASKED_IN_PRIVATE]

    async def escalate():
        press = Press("slack", Verb.ASK_PERSON, asked[-1].id, Person("slack:UPUB"), "C1", "1.1", "C1:1.1")
        return await service.press(press)

    found, words = await asking.seen("UPUB", escalate)
    world.surfaces["question passed on elsewhere"] = found.openly + repr(words)


async def _notices(world, slack, asking, gap):
    """A private document answers what its reader asked: nobody else learns of it, not even by its name."""
    app = world.app
    docs = app.settings.data.parent / "hr"
    for file, text in READERS_ANSWER.items():
        (docs / file).write_text(text, encoding="utf-8")
    await asyncio.to_thread(app.ingestor.run, IngestRequest([docs], collection="hr"))
    (reasked,) = await asyncio.to_thread(app.discovery.closure.verify, [gap.id])
    world.facts["closed"] = reasked.closed
    world.surfaces["what closed a gap"] = repr((app.gaps.get(gap.id).note, app.audit.entries(gap.id)))
    notices = list(app.discovery.notices.take())
    world.facts["told"] = {(one.asker, one.conversation) for one in notices}
    world.surfaces["notices"] = repr([closure_notice("", one.documents) for one in notices])


@dataclass
class DiscordTeam:
    """People and places on the fake server."""

    fake: object
    people: dict
    places: dict
    role: int


async def discord_team(fake):
    role = await fake.role("hr")
    people = {"member": fake.person("Ann"), "reader": fake.person("Rea"), "reader by role": fake.person("Rob", [role]),
              "admin": fake.person("Ada"), "outsider": fake.person("Out", member=False)}  # fmt: skip
    places = {"public channel": fake.general, "private channel": fake.world.channel("hr", private=True),
              "channel of that name": fake.world.channel("hr-by-name")}  # fmt: skip
    return DiscordTeam(fake, people, places, role)


class DiscordAsking:
    """As :class:`SlackAsking`, on Discord."""

    def __init__(self, team, service):
        self.team, self.fake, self.service = team, team.fake, service

    def _all(self):
        own = str(self.fake.world.bot)
        return {
            one["id"]: (channel, json.dumps(one, ensure_ascii=False), one.get("seen_by"))
            for channel, held in self.fake.world.messages.items()
            for one in held.values()
            if one["author"]["id"] == own
        }

    async def ask(self, user, place, question, thread=None):
        before = self._all()
        direct = self.fake.world.direct(user)
        asked = None
        if place == "command":
            await self.fake.command(user, self.fake.general, "ask", question=question)
        elif thread is not None:
            asked = await self.fake.say(user, thread, question)
        elif place == "direct message":
            asked = await self.fake.say(user, direct, question)
        else:
            asked = await self.fake.mention(user, self.team.places[place], question)
        await self.fake.quiet(0.1)
        assert await self.service.settled(40)
        await self.fake.quiet(0.1)
        new = [one for key, one in self._all().items() if before.get(key) != one]
        alone = [text for channel, text, by in new if channel == direct or by == user]
        return Seen(
            "\n".join(text for channel, text, by in new if channel != direct and not by), "\n".join(alone)
        ), asked


async def asked_on_discord(folder, model_cache):
    """Every role asks in every place where it can."""
    async with discord_server() as fake:
        team = await discord_team(fake)
        readers = [f"discord:{team.people['reader']}", f"discord:{team.role}"]
        settings = settings_for(
            folder,
            model_cache,
            readers,
            channels={str(team.places["private channel"]): {"collections": ["default", "hr"]},
                      "hr-by-name": {"collections": ["default", "hr"]}},
            admins={"discord": [str(team.people["admin"])]},
        )  # fmt: skip
        world = opened(folder, settings)
        service = world.service()
        try:
            async with discord_connected(fake, service) as platform:
                service.connect(platform)
                asking = DiscordAsking(team, service)
                for role, user in team.people.items():
                    for place in (*team.places, "direct message", "command"):
                        if role == "outsider" and place != "direct message":
                            continue
                        found, asked = await asking.ask(user, place, QUESTION)
                        world.seen[role, place] = found
                        if place == "public channel" and (thread := fake.thread_of(asked)):
                            found, _ = await asking.ask(user, place, FOLLOW_UP, thread)
                            world.seen[role, "follow-up in a thread"] = found
        finally:
            world.app.close()
        return world
