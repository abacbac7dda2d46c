"""A core that does as it is told: for testing adapters without the engine."""

from __future__ import annotations

from bot.chat.messages import Outgoing


class FakeCore:
    """Records what it was told, and answers each message once.

    Attributes:
        answer: what a message is answered with; a value, or a function of what was heard. None says nothing.
        words: what a click is answered with; the same.
    """

    def __init__(self, answer=None, words=None):
        self.answer = answer or (lambda heard: Outgoing(f"You said: {heard.text}"))
        self.words = words
        self.closing = False
        self.heard, self.withdrawn, self.pressed, self.reacted, self.adopted, self.commands = [], [], [], [], [], []
        self.delivered, self.failed = [], []
        self.shown = {}
        self.cards = ()
        self.before_answer = None
        self._known = set()

    async def hear(self, heard, place):
        self.heard.append(heard)
        if heard.by_bot or not (heard.direct or heard.mentions_bot) or heard.key in self._known:
            return
        self._known.add(heard.key)
        await place.working()
        if self.before_answer:
            await self.before_answer(heard)
        answer = self.answer(heard) if callable(self.answer) else self.answer
        if answer is None or heard.key in self.withdrawn:
            await place.dismiss()
            return
        try:
            self.delivered.append(await place.deliver(answer))
        except Exception as error:
            self.failed.append(error)
            raise

    async def withdraw(self, platform, channel, message):
        self.withdrawn.append(f"{platform}:{channel}:{message}")

    async def press(self, press):
        self.pressed.append(press)
        return self.words(press) if callable(self.words) else self.words

    async def react(self, platform, channel, message, person, helpful):
        self.reacted.append((platform, channel, message, person, helpful))

    async def adopt(self, marked):
        self.adopted.append(marked)
        return Outgoing("Thank you, the admins will decide.", private=True)

    async def command(self, words, person, channel, visibility):
        self.commands.append((words, person, channel, visibility))
        return self.shown.get(words.split()[0] if words else "", ())

    async def home(self, _person):
        return self.cards

    async def collections(self, _person, _channel, beginning):
        return tuple(name for name in ("guides", "handbook") if name.startswith(beginning))
