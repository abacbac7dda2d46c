"""What an endpoint sends is believed only as far as it can be checked."""

import base64
import json
from datetime import UTC, datetime

import numpy as np
import pytest

from store.errors import EndpointError
from store.remote_embedding_wire import read_info, read_openai, read_tei, read_tokens, refusal, seconds_of

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


def openai(*rows):
    return json.dumps({"data": [{"index": place, "embedding": row} for place, row in rows]}).encode()


def b64(*values):
    return base64.b64encode(np.array(values, dtype="<f4").tobytes()).decode()


def test_vectors_come_in_the_order_of_their_index_not_of_their_arrival():
    rows = read_openai(openai((2, [3, 3]), (0, [1, 1]), (1, [2, 2])), 3)
    assert rows.tolist() == [[1, 1], [2, 2], [3, 3]]


def test_base64_and_numbers_give_the_same():
    assert read_openai(openai((0, b64(0.5, -1.25))), 1).tolist() == [[0.5, -1.25]]
    assert read_tei(b"[[0.5, -1.25]]", 1).tolist() == [[0.5, -1.25]]


def test_a_single_vector_may_leave_its_number_out():
    assert read_openai(b'{"data": [{"embedding": [1, 2]}]}', 1).tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (openai((0, [1]), (0, [2])), "numbered"),
        (openai((0, [1]), (2, [2])), "numbered"),
        (b'{"data": [{"embedding": [1]}, {"embedding": [2]}]}', "numbered"),
        (openai((0, [1])), "1 vectors for 2 texts"),
        (openai((0, [1]), (1, [1, 2])), "dimensions"),
        (openai((0, []), (1, [])), "dimensions"),
        (b'{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}', "NaN"),
        (openai((0, [None]), (1, [1])), "NaN"),
        (openai((0, [1e400]), (1, [1])), "NaN"),
        (openai((0, [0, 0]), (1, [1, 0])), "zero"),
        (openai((0, "a*"), (1, "b")), "cannot be read"),
        (openai((0, b64(1)[:-2]), (1, b64(1))), "cannot be read"),
        (openai((0, ["x"]), (1, [1])), "cannot be read"),
        (openai((0, {"a": 1}), (1, [1])), "neither"),
        (openai((0, [[1]]), (1, [[1]])), "neither"),
        (b'{"data": {}}', "no list"),
        (b"[1, 2]", "no list"),
        (b"<html>Bad gateway</html>", "not JSON: '<html>"),
        (b"\xff\xfe", "not JSON"),
        (b"", "not JSON"),
    ],
)
def test_what_is_no_set_of_vectors_is_refused_and_shown(body, says):
    with pytest.raises(EndpointError, match=says) as caught:
        read_openai(body, 2)
    assert "embedding.base_url" in caught.value.next_step
    assert not caught.value.again


@pytest.mark.parametrize("body", [b'{"error": "x"}', b"[[1], [1, 2]]", b"[[1]]", b"null"])
def test_the_same_holds_for_text_embeddings_inference(body):
    with pytest.raises(EndpointError):
        read_tei(body, 2)


def test_special_tokens_do_not_count():
    row = [
        {"id": 101, "special": True, "start": None, "stop": None},
        {"id": 7, "special": False, "start": 0, "stop": 3},
    ]
    assert read_tokens(json.dumps([row]).encode(), 1) == [[(0, 3)]]
    with pytest.raises(EndpointError, match="tokens of 2 texts"):
        read_tokens(b"[[]]", 2)
    with pytest.raises(EndpointError, match="cannot be read"):
        read_tokens(b"[[1]]", 1)


def test_only_text_embeddings_inference_is_taken_for_it():
    said = {"model_id": "m", "max_input_length": 512, "max_client_batch_size": 32, "version": "1.9"}
    info = read_info(json.dumps(said).encode())
    assert (info.model, info.max_input_tokens, info.max_batch) == ("m", 512, 32)
    for other in (b"{}", b'{"model_id": "m"}', b"[]", b"Not found", b'{"max_input_length": null}'):
        assert read_info(other) is None


@pytest.mark.parametrize(
    ("status", "again", "too_much", "advice"),
    [
        (429, True, False, "later"),
        (503, True, False, "later"),
        (424, True, False, "later"),
        (413, False, True, "max_tokens"),
        (422, False, True, "max_tokens"),
        (401, False, False, "EMBEDDING_API_KEY"),
        (403, False, False, "EMBEDDING_API_KEY"),
        (404, False, False, "embedding.base_url"),
        (302, False, False, "embedding.base_url"),
    ],
)
def test_a_status_says_whether_another_attempt_can_help(status, again, too_much, advice):
    error = refusal(status, b'{"error": {"message": "no such thing"}}', "", NOW)
    assert (error.again, error.too_much) == (again, too_much)
    assert advice in error.next_step
    assert f"HTTP {status}: no such thing" in error.problem


@pytest.mark.parametrize(
    "body", [b'{"error": "busy", "error_type": "Overloaded"}', b'{"message": "busy"}', b"busy", b'{"detail": "busy"}']
)
def test_errors_are_quoted_in_whichever_form_they_come(body):
    assert "HTTP 429: busy" in refusal(429, body, "", NOW).problem


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("0.5", 0.5),
        ("Mon, 01 Jun 2026 12:00:30 GMT", 30),
        ("Mon, 01 Jun 2026 11:00:00 GMT", 0),
        ("-3", 0),
        ("nan", 0),
        ("soon", 0),
        ("", 0),
        ("1e9", 3600),
    ],
)
def test_a_time_to_wait_is_a_number_or_a_date(header, seconds):
    assert seconds_of(header, NOW) == seconds
