"""Settings: a TOML file, overridden by ``GAPLIGHT_SECTION__KEY``; secrets from the environment only.

Read once, in a function, by whoever starts the program; everything below gets plain values.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from bot.credentials import CREDENTIALS, credential
from bot.digest_settings import DigestSettings
from bot.discovery_settings import DiscoverySettings, GithubSettings
from bot.embedding_settings import EmbeddingSettings
from bot.llm_settings import LlmSettings
from bot.section import RemoteUrl, Section
from bot.topics_settings import TopicsSettings
from bot.vectors_settings import VectorsSettings
from store.errors import ConfigurationError
from store.net_addresses import masked
from store.records import Rule

_PREFIX = "GAPLIGHT_"
DEFAULT_CONFIG = Path("gaplight.toml")
DEFAULT_DATA = Path(".gaplight")
_FROM_ENVIRONMENT = "secret_database_url"


class DocumentsSettings(Section):
    """``[documents]``: what is ingested when nothing else is said, and who may read private collections.

    ``readers`` maps a private collection to the people, groups and roles that may read it wherever they ask, such as
    ``slack:U1``, ``slack:S1`` (a user group), ``discord:1`` (a person or a role).
    """

    collection: str = "default"
    paths: tuple[Path, ...] = ()
    readers: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class DatabaseSettings(Section):
    """``[database]``: an SQLAlchemy URL; empty means SQLite in the data folder. ``DATABASE_URL`` wins."""

    url: str = ""


class AnswerSettings(Section):
    """``[answer]``: how much is retrieved and shown, quoted or written by the language model of ``[llm]``."""

    mode: Literal["extractive", "generative"] = "extractive"
    passages: int = Field(default=10, ge=1, le=50)
    per_document: int = Field(default=3, ge=1)
    max_characters: int = Field(default=1200, ge=200, le=10000)


class GateSettings(Section):
    """``[gate]``: when to refuse. ``support`` in [0, 1]; None takes the calibrated or built-in value."""

    mode: Literal["enforce", "shadow", "off"] = "enforce"
    support: float | None = Field(default=None, ge=0, le=1)


class RulesSettings(Section):
    """``[rules]``: thresholds of the seven rules and tags that are switched off."""

    relevant_score: float = Field(default=0.3, ge=-1, le=1)
    min_distinct_documents: int = Field(default=2, ge=1)
    related_low: float = Field(default=0.0, ge=-1, le=1)
    related_high: float = Field(default=0.5, ge=-1, le=1)
    min_related_passages: int = Field(default=3, ge=1)
    general_answer_length: int = Field(default=200, ge=0)
    min_supporting_chunks: int = Field(default=2, ge=1)
    disabled: tuple[Rule, ...] = ()


class GapsSettings(Section):
    """``[gaps]``: merging and counting. ``merge_similarity``: cosine from which two wordings mean the same."""

    merge_similarity: float = Field(default=0.9, ge=0, le=1)
    repeat_minutes: int = Field(default=10, ge=0)


class PrivacySettings(Section):
    """``[privacy]``: how long questions are kept (0 = for ever), and whether secrets are masked for models and reports.

    What is written to the database is masked in any case.
    """

    retention_days: int = Field(default=0, ge=0)
    redact: bool = True


class ChannelSettings(Section):
    """``[channels.NAME]``: what a channel may search, and who is asked there when the documents don't know.

    ``NAME`` is the platform's id of the channel, or its name; ``default`` holds for channels without a table.
    ``experts`` are raw ids of people, user groups or roles.
    """

    collections: tuple[str, ...] = ()
    scope: dict[str, str | tuple[str, ...]] = Field(default_factory=dict)
    auto_answer: bool = False
    auto_answers_per_hour: int = Field(default=20, ge=1)
    language: str = ""
    experts: tuple[str, ...] = ()


class AdminsSettings(Section):
    """``[admins]``: raw ids of people, user groups or roles that decide on sources. Empty means nobody."""

    slack: tuple[str, ...] = ()
    discord: tuple[str, ...] = ()


class SlackSettings(Section):
    """``[slack]``: ``mode`` is ``socket`` (needs SLACK_APP_TOKEN) or ``http`` (needs SLACK_SIGNING_SECRET)."""

    api_url: RemoteUrl = "https://slack.com/api/"
    mode: Literal["socket", "http"] = "socket"
    answer_outsiders: bool = False


class DiscordSettings(Section):
    """``[discord]``: ``guilds`` are servers that alone get the commands; empty for all servers and direct messages."""

    api_url: RemoteUrl = ""
    guilds: tuple[int, ...] = ()
    answer_outsiders: bool = False


class ServerSettings(Section):
    """``[server]``: where health is told and Slack's HTTP deliveries arrive, how much is done at once, and the log."""

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    workers: int = Field(default=2, ge=1, le=32)
    stop_seconds: float = Field(default=30, ge=0)
    log_format: Literal["text", "json"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "info"


class Settings(BaseSettings):
    """Everything that can be configured."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_ignore_empty=True,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        nested_model_default_partial_update=True,
    )

    data: Path = DEFAULT_DATA
    documents: DocumentsSettings = DocumentsSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    vectors: VectorsSettings = VectorsSettings()
    database: DatabaseSettings = DatabaseSettings()
    answer: AnswerSettings = AnswerSettings()
    gate: GateSettings = GateSettings()
    rules: RulesSettings = RulesSettings()
    gaps: GapsSettings = GapsSettings()
    privacy: PrivacySettings = PrivacySettings()
    channels: dict[str, ChannelSettings] = Field(default_factory=dict)
    llm: LlmSettings = LlmSettings()
    topics: TopicsSettings = TopicsSettings()
    discovery: DiscoverySettings = DiscoverySettings()
    digest: DigestSettings = DigestSettings()
    admins: AdminsSettings = AdminsSettings()
    server: ServerSettings = ServerSettings()
    slack: SlackSettings = SlackSettings()
    discord: DiscordSettings = DiscordSettings()
    github: GithubSettings = GithubSettings()
    secret_database_url: SecretStr | None = Field(default=None, exclude=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the signature is pydantic's
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment wins over the file, whose values are given as arguments."""
        return env_settings, init_settings

    @property
    def database_url(self) -> str:
        """``DATABASE_URL``, else ``database.url``, else SQLite in the data folder."""
        if self.secret_database_url:
            return self.secret_database_url.get_secret_value()
        return self.database.url or f"sqlite:///{self.data.absolute() / 'gaplight.db'}"

    @property
    def model_cache(self) -> Path:
        """Where prepared models are kept: shared by all data folders of this user."""
        if self.embedding.cache:
            return self.embedding.cache.expanduser()
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        return Path(home).expanduser() / "gaplight" / "models"


def load_settings(config: Path | None = None, data: Path | None = None) -> Settings:
    """Read the settings file and the environment.

    Args:
        config: the file; None takes ``gaplight.toml`` when it exists.
        data: overrides the data folder.

    Raises:
        ConfigurationError: the file is missing, is not TOML, or has an unknown or wrong value; names it.
    """
    values = _read(config)
    if _FROM_ENVIRONMENT in values:
        raise ConfigurationError(
            f"{config or DEFAULT_CONFIG} holds a secret, {_FROM_ENVIRONMENT!r}.",
            "Put it into the environment as DATABASE_URL.",
        )
    if data is not None:
        values["data"] = data
    if secret := credential("DATABASE_URL"):
        values[_FROM_ENVIRONMENT] = SecretStr(secret)
    _refuse_unknown_variables()
    try:
        settings = Settings(**values)
        # The environment wins over the file, and what is said for this one call over both.
        return settings if data is None else settings.model_copy(update={"data": data})
    except ValidationError as error:
        raise _explained(error, config or DEFAULT_CONFIG) from error
    except SettingsError as error:
        raise _undecoded(error) from error


def _undecoded(error: SettingsError) -> ConfigurationError:
    """Pydantic names the section alone: the variable is the one with the text that is no JSON. It is not shown."""
    text = getattr(error.__cause__, "doc", None)
    names = (name for name, value in sorted(os.environ.items()) if name.upper().startswith(_PREFIX) and value == text)
    return ConfigurationError(
        f"The value of {next(names, f'a {_PREFIX} variable')} is not JSON, as which lists and tables are written.",
        'Write a list as ["U1", "U2"], and a table as {"key": "value"}, or use gaplight.toml.',
    )


def _refuse_unknown_variables() -> None:
    """A typing error in the name of a variable must not pass in silence; inside a section pydantic sees to that."""
    for name in os.environ:
        section = name.removeprefix(_PREFIX).partition("__")[0].lower()
        # Variables of the test suite say where its server is; they are no settings.
        if name.startswith(_PREFIX) and section not in Settings.model_fields and not section.startswith("test_"):
            raise ConfigurationError(f"There is no setting for the variable {name}.", _instead_of(section))


def _instead_of(section: str) -> str:
    secret = section.upper()
    if secret.removesuffix("_FILE") in CREDENTIALS:
        return f"Secrets have no prefix: it is {secret}."
    close = difflib.get_close_matches(section, Settings.model_fields, n=1)
    return f"Did you mean {_PREFIX}{close[0].upper()}?" if close else "See docs/configuration.md for the keys."


def _read(config: Path | None) -> dict[str, Any]:
    path = config or DEFAULT_CONFIG
    if not path.exists():
        if config is None:
            return {}
        raise ConfigurationError(f"The settings file {path} does not exist.", "Make one with `gaplight init`.")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}.", "Correct the line that it names.") from error
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.", "Check its permissions.") from error


def _explained(error: ValidationError, path: Path) -> ConfigurationError:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        close = difflib.get_close_matches(str(first["loc"][-1]), _known_keys(first["loc"][:-1]), n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "Remove it, or see docs/configuration.md for the keys."
        return ConfigurationError(
            f"There is no setting {key!r} ({path} or a GAPLIGHT_ variable).", _secret_at(first["loc"]) or hint
        )
    said = first["msg"].removeprefix("Value error, ")
    return ConfigurationError(
        f"The setting {key} is {masked(repr(first['input']))}: {masked(said)}.",
        f"Correct it in {path} or its GAPLIGHT_ variable.",
    )


def _secret_at(place: tuple[int | str, ...]) -> str:
    """What to do with a secret in the file, such as ``bot_token`` of ``[slack]``; empty where it is none."""
    written = {"_".join(map(str, place[-count:])).upper() for count in (1, 2)}
    names = sorted(written.intersection(CREDENTIALS))
    return f"Secrets do not belong there: put it into the environment as {names[0]}." if names else ""


def _known_keys(section: tuple[int | str, ...]) -> list[str]:
    fields: Mapping[str, Any] = Settings.model_fields
    for part in section:
        annotation = fields[str(part)].annotation if str(part) in fields else None
        fields = annotation.model_fields if isinstance(annotation, type) and issubclass(annotation, BaseModel) else {}
    return list(fields)
