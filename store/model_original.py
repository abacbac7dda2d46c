"""A model as sentence-transformers loads it, and what it says about itself.

Loading imports torch (seconds, hundreds of MB): only an export, or a model without a faithful export, gets here.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.embedding import ModelIdentity
from store.embedding_engines import reserved_tokens
from store.errors import ModelError
from store.model_probe import covered_languages

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_UNLIMITED = 100_000
"""Tokens that a model without a stated limit is taken to read at once."""

_QUERY_PROMPTS = ("query",)
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")

_KNOWN_PREFIXES = (
    (re.compile(r"(^|/)(multilingual-)?e5-(small|base|large)(-v2|-unsupervised)?$"), "query: ", "passage: "),
    (re.compile(r"(^|/)bge-[a-z]+-en(-v1\.5)?$"), "Represent this sentence for searching relevant passages: ", ""),
    (re.compile(r"(^|/)bge-[a-z]+-zh(-v1\.5)?$"), "为这个句子生成表示以用于检索相关文章：", ""),
)
"""Prefixes that the authors of widely used models ask for in their model cards but not in the configuration."""


def load_original(name_or_folder: str, *, local: bool) -> Any:
    """The model as sentence-transformers loads it, on the CPU, in fp32.

    Args:
        name_or_folder: a folder, or a hub name.
        local: whether the network must not be touched.

    Raises:
        ModelError: it cannot be fetched or loaded.
    """
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    with warnings.catch_warnings():
        # Notes of foreign libraries to their own developers; what matters is checked on the probes.
        warnings.simplefilter("ignore")
        import torch
        from sentence_transformers import SentenceTransformer

        try:
            model = SentenceTransformer(
                name_or_folder, device="cpu", local_files_only=local, model_kwargs={"dtype": torch.float32}
            )
        except (OSError, ValueError, KeyError, ImportError, RuntimeError, TypeError) as error:
            raise _unloadable(name_or_folder, error, local=local) from error
    return model.eval()


def hub_folder(name: str) -> Path:
    """Where the files of a hub model are kept on this machine; fetches the first of them.

    Comes before :func:`load_original`, so that a wrong name or a missing network shows before torch is imported.

    Raises:
        ModelError: the hub has no such model, or cannot be reached.
    """
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, HFValidationError

    problem: Exception | None = None
    for file_name in ("modules.json", "config.json"):
        try:
            return Path(hf_hub_download(name, file_name)).parent
        except EntryNotFoundError as error:  # not in this model, or offline and not in the cache
            problem = error
        except (OSError, HfHubHTTPError, HFValidationError) as error:
            raise _unloadable(name, error, local=False) from error
    raise _unloadable(name, problem or ValueError("empty"), local=False) from problem


def fast_tokenizer(model: Any) -> Tokenizer:
    """A copy of the model's tokenizer that never cuts nor pads.

    Raises:
        ModelError: the model has only a tokenizer written in Python.
    """
    from tokenizers import Tokenizer

    backend = getattr(model.tokenizer, "backend_tokenizer", model.tokenizer)
    if not isinstance(backend, Tokenizer):
        raise ModelError(
            f"The model has no fast tokenizer (it has a {type(backend).__name__}).",
            "Choose a model with a tokenizer.json.",
        )
    copy = Tokenizer.from_str(backend.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy


def prefixes(name: str, prompts: Mapping[str, str], default: str) -> tuple[str, str]:
    """What to put in front of a question and in front of a document. Pure.

    Args:
        name: the model's name; decides only when no prompt is stated.
        prompts: as the model's configuration states them, by name.
        default: the prompt that the configuration applies to everything, or an empty string.
    """
    if any(prompts.values()):
        return _first(prompts, _QUERY_PROMPTS, default), _first(prompts, _DOCUMENT_PROMPTS, default)
    for pattern, query, document in _KNOWN_PREFIXES:
        if pattern.search(name.casefold()):
            return query, document
    return "", ""


def _first(prompts: Mapping[str, str], names: tuple[str, ...], default: str) -> str:
    return next((prompts[name] for name in names if prompts.get(name)), default)


def read_identity(name: str, revision: str, model: Any, tokenizer: Tokenizer) -> ModelIdentity:
    """What a loaded model says about itself; engine and precision are left at their defaults.

    Args:
        name: as the identity carries it.
        revision: hash of the model's files.
        model: a loaded ``SentenceTransformer``.
        tokenizer: its :func:`fast_tokenizer`.

    Raises:
        ModelError: the model reads so few tokens that its own prefix fills them.
    """
    prompts = dict(model.prompts or {})
    query, document = prefixes(name, prompts, prompts.get(model.default_prompt_name or "", ""))
    return ModelIdentity(
        name=name,
        revision=revision,
        dimension=int(model.get_embedding_dimension()),
        max_tokens=_content_limit(model, tokenizer, document),
        query_prefix=query,
        document_prefix=document,
        pooling=_pooling_name(model),
        normalised=any(type(module).__name__ == "Normalize" for module in model),
        languages=covered_languages(_unknown_counter(model, tokenizer)),
    )


def _content_limit(model: Any, tokenizer: Tokenizer, prefix: str) -> int:
    stated = model.max_seq_length
    limit = int(min(stated, _UNLIMITED)) if stated else _UNLIMITED
    special = tokenizer.num_special_tokens_to_add(is_pair=False)
    content = limit - special - reserved_tokens(tokenizer, prefix)
    if content < 1:
        raise ModelError(
            f"The model reads {limit} tokens, of which its prefix {prefix!r} leaves nothing.", "Choose another model."
        )
    return content


def _unknown_counter(model: Any, tokenizer: Tokenizer) -> Callable[[str], tuple[int, int]]:
    stated = getattr(model.tokenizer, "unk_token_id", None)
    unknown = tokenizer.token_to_id("[UNK]") if stated is None else int(stated)

    def measure(text: str) -> tuple[int, int]:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        return len(ids), 0 if unknown is None else ids.count(unknown)

    return measure


def _pooling_name(model: Any) -> str:
    modes = [module.pooling_mode for module in model if hasattr(module, "pooling_mode")]
    flat = [mode for entry in modes for mode in ([entry] if isinstance(entry, str) else entry)]
    return "+".join(flat) or type(model[0]).__name__


def _unloadable(name: str, error: Exception, *, local: bool) -> ModelError:
    first = str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
    if local:
        return ModelError(f"The model in {name} cannot be loaded: {first}", "Check the folder, or name another model.")
    return ModelError(
        f"The model {name!r} could not be fetched from the hub: {first}",
        "Check the name and the network; without a network, copy the model's folder here and name its path.",
    )
