"""Vectors of texts: what every engine promises, shown on the real default model."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from store.embedding import ModelIdentity, split_in_windows, unit_length
from store.embedding_engines import OnnxEmbedder
from store.errors import ModelError, UsageError
from store.model_files import open_tokenizer
from store.models import prepare

WORDS = [
    "rollback",
    "window",
    "deploy",
    "server",
    "restart",
    "database",
    "backup",
    "queue",
    "alert",
    "latency",
    "token",
    "region",
    "cluster",
    "page",
]


def words(count, start=0):
    return " ".join(WORDS[(start + place * 7 + place // 5) % len(WORDS)] for place in range(count))


class FixedSession:
    """Stands in for ONNX Runtime: gives the same output for every text."""

    def __init__(self, output):
        self.output = np.asarray([output], dtype=np.float32)

    def run(self, _names, _inputs):
        return [self.output]


@pytest.fixture(scope="module")
def tokenizer(model_cache):
    return open_tokenizer(prepare(cache=model_cache).folder)


def fake(tokenizer, output, **changes):
    identity = ModelIdentity("fake", "0", len(output), 254)
    return OnnxEmbedder(replace(identity, **changes), FixedSession(output), tokenizer, threads=2)


def test_vectors_are_unit_length_float32_in_input_order(minilm):
    texts = [words(30), "short", words(200), "reset the password"]
    vectors = minilm.embed_documents(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, minilm.identity.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(minilm.embed_documents([text])[0], vector, atol=1e-6)


def test_related_texts_score_higher_than_unrelated_ones(minilm):
    question = minilm.embed_queries(["How do I undo a deployment?"])
    near, far = minilm.embed_documents(["Roll back a release with one command.", "The canteen serves soup on Mondays."])
    assert question[0] @ near > question[0] @ far + 0.2


def test_no_text_gives_no_rows(minilm):
    assert minilm.embed_documents([]).shape == (0, 384)
    assert minilm.embed_queries([]).shape == (0, 384)


def test_a_vector_does_not_depend_on_its_neighbours(minilm):
    """int8 scales activations by the largest value of a batch, and padding moves sums: neither may show."""
    text = "The rollback window is 45 minutes."
    alone = minilm.embed_documents([text])[0]
    crowd = [words(count, start=count) for count in (3, 10, 60, 120, 200)]
    among = minilm.embed_documents([*crowd[:3], text, *crowd[3:]])[3]
    assert np.abs(alone - among).max() <= 1e-5
    assert np.abs(alone - minilm.embed_queries([text, crowd[4]])[0]).max() <= 1e-5


def test_sixteen_threads_get_the_vectors_of_a_serial_run(minilm):
    """B049: no error, and every vector as if it were alone; 200 calls a thread run on a smaller model."""
    texts = [words(length, start) for start, length in enumerate([3, 5, 8, 12, 20, 60, 180, 400])]
    serial = np.vstack([minilm.embed_queries([text]) for text in texts])

    def run(thread):
        places = [(thread + call) % 5 for call in range(12)] + [thread % len(texts)]
        return max(np.abs(minilm.embed_queries([texts[place]])[0] - serial[place]).max() for place in places)

    with ThreadPoolExecutor(16) as pool:
        assert max(pool.map(run, range(16))) <= 1e-5


def test_counting_from_many_threads_is_exact(minilm):
    """B049: the tokenizer is shared by all threads."""
    texts = [words(length) for length in range(3, 403, 16)]
    serial = [minilm.count_tokens(text) for text in texts]
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda _: minilm.count_tokens_many(texts), range(32)))
    assert all(result == serial for result in results)


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "?", "\n\t", "\u00ad\ufeff", "🙂", "\x00"])
def test_invisible_text_is_refused_on_both_sides(minilm, text):
    """B051: no vector that scores high with everything."""
    with pytest.raises(UsageError, match="nothing that can be read"):
        minilm.embed_queries([text])
    with pytest.raises(UsageError, match="Text 2 of 2"):
        minilm.embed_documents(["fine", text])


@pytest.mark.parametrize("bad", [[np.nan, 1, 0], [np.inf, 1, 0], [0, 0, 0]])
def test_a_vector_without_direction_is_never_returned(tokenizer, bad):
    """B051: NaN wins comparisons because they are false; it must not get out."""
    embedder = fake(tokenizer, bad)
    with pytest.raises(ModelError, match="NaN, infinite or zero"):
        embedder.embed_queries(["hello"])
    with pytest.raises(ModelError):
        embedder.embed_documents(["hello", "world"])


def test_unit_length_keeps_directions():
    assert np.allclose(unit_length(np.array([[3.0, 4.0], [-0.5, 0]])), [[0.6, 0.8], [-1, 0]])


def test_a_document_up_to_the_limit_is_read_to_its_end(minilm):
    """B048: the last of max_tokens tokens still moves the vector."""
    limit = minilm.identity.max_tokens
    full = " ".join(["river"] * (limit - 1) + ["apple"])
    assert minilm.count_tokens(full) == limit
    other = " ".join(["river"] * (limit - 1) + ["banana"])
    first, second = minilm.embed_documents([full, other])
    assert first @ second < 0.9999


@pytest.mark.parametrize("filler", ["filler text ", "部署说明"])
def test_a_document_over_the_limit_is_refused_with_both_lengths(minilm, filler):
    """B048: nothing behind the limit is cut without a word, in Chinese neither."""
    text = filler * 300 + "rollback window is 45 minutes"
    with pytest.raises(UsageError) as caught:
        minilm.embed_documents(["fine", text])
    assert str(minilm.count_tokens(text)) in caught.value.problem
    assert str(minilm.identity.max_tokens) in caught.value.problem
    assert "chunks" in caught.value.next_step


def test_the_end_of_a_long_question_counts(minilm, caplog):
    """B048 on the side of the question: it is read in windows, and that is reported."""
    fact = minilm.embed_documents(["The rollback window is 45 minutes."])[0]
    filler = "We had lunch and talked about the weather in town. " * 60
    scores = minilm.embed_queries([filler + "How long is the rollback window?", filler]) @ fact
    assert scores[0] > scores[1] + 0.02
    assert "windows" in caplog.text
    assert "weather" not in caplog.text


def test_a_long_question_leaves_its_neighbours_alone(minilm):
    long = "Why does the deployment hang? " * 100
    together = minilm.embed_queries(["first question", long, "last question"])
    assert np.allclose(together[0], minilm.embed_queries(["first question"])[0], atol=1e-6)
    assert np.allclose(together[2], minilm.embed_queries(["last question"])[0], atol=1e-6)
    assert np.allclose(together[1], minilm.embed_queries([long])[0], atol=1e-6)


def character_offsets(text):
    return [(place, place + 1) for place in range(len(text))]


def test_windows_join_to_the_text_and_fit():
    for text in ("word " * 100, "中" * 333, "x" * 50, "a b"):
        pieces = split_in_windows(text, 20, character_offsets)
        assert "".join(pieces) == text
        assert all(0 < len(piece) <= 20 for piece in pieces)


def test_windows_break_between_words():
    pieces = split_in_windows("alpha beta gamma delta epsilon zeta eta theta", 20, character_offsets)
    assert len(pieces) > 2
    assert [word for piece in pieces for word in piece.split()] == "".join(pieces).split()


def test_counting_leaves_out_special_tokens(minilm):
    assert minilm.count_tokens("hello world") == 2
    assert minilm.count_tokens("") == 0
    assert minilm.count_tokens_many(["hello world", "", "hello"]) == [2, 0, 1]


def test_broken_characters_are_embedded_like_their_clean_form(minilm):
    """Lone surrogates and NUL come out of chat clients and PDFs; the tokenizer itself would fail on them."""
    broken, sound = minilm.embed_queries(["reset\ud83d my\x00 password", "reset my password"])
    assert np.allclose(broken, sound, atol=1e-6)


def test_prefixes_go_to_their_own_side(model_cache, minilm, tokenizer):
    """B052: a model that asks for prefixes gets the question's before questions, the document's before documents."""
    identity = replace(minilm.identity, query_prefix="query: ", document_prefix="passage: ", max_tokens=250)
    prefixed = OnnxEmbedder(identity, minilm._session, tokenizer, threads=1)
    plain = minilm.embed_documents(["query: reset it", "passage: reset it"])
    assert np.allclose(prefixed.embed_queries(["reset it"])[0], plain[0], atol=1e-6)
    assert np.allclose(prefixed.embed_documents(["reset it"])[0], plain[1], atol=1e-6)
    assert prefixed.count_tokens("reset it") == 2


def test_progress_counts_up_to_the_number_of_documents(minilm):
    seen = []
    minilm.embed_documents([words(4, place) for place in range(70)], progress=seen.append)
    assert seen == [32, 64, 70]


def test_the_fingerprint_follows_what_changes_vectors():
    identity = ModelIdentity("a", "r", 3, 10)
    assert replace(identity, name="b", engine="sentence-transformers", languages=("*",)).fingerprint == (
        identity.fingerprint
    )
    changes = {"revision": "s", "dimension": 4, "max_tokens": 9, "query_prefix": "q", "document_prefix": "d"}
    changes |= {"pooling": "cls", "normalised": False, "precision": "int8"}
    prints = {replace(identity, **{key: value}).fingerprint for key, value in changes.items()}
    assert len(prints | {identity.fingerprint}) == len(changes) + 1


def test_an_identity_survives_its_manifest():
    identity = ModelIdentity("a", "r", 3, 10, query_prefix="为", languages=("en", "zh"))
    assert ModelIdentity.from_json(json.loads(json.dumps(identity.as_json()))) == identity


def test_loading_and_asking_imports_no_torch(model_cache, minilm):
    """B047: at run time no heavy library is imported and no network is needed."""
    code = (
        "import json, socket, sys\n"
        "from pathlib import Path\n"
        "def refuse(*_args, **_kwargs): raise OSError('network')\n"
        "socket.socket.connect = refuse\n"
        "socket.getaddrinfo = refuse\n"
        "from store.models import load\n"
        "vectors = load(cache=Path(sys.argv[1])).embed_queries(['How do I reset my password?'])\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'huggingface_hub', 'onnx'} & set(sys.modules)\n"
        "print(json.dumps([sorted(heavy), vectors.tolist()]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(model_cache)], capture_output=True, text=True, check=True)
    heavy, vectors = json.loads(done.stdout)
    assert heavy == []
    assert np.allclose(vectors, minilm.embed_queries(["How do I reset my password?"]), atol=1e-6)


def test_importing_the_modules_is_light():
    code = (
        "import sys, store.models, store.embedding\n"
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'onnxruntime', 'tokenizers', 'filelock'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
