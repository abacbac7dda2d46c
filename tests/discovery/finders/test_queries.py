"""What is looked for when a topic is."""

from discovery.finders.queries import weighted_stems, words_of
from store.records import Topic

TOPIC = Topic(
    "t1",
    "ingress certificates",
    "How do I renew the certificates of the ingress?",
    ("g1",),
    terms=("certificate", "cert-manager"),
    platforms=("Kubernetes",),
)


def test_words_of_the_question_count_in_full_and_the_topics_other_words_half():
    weights = weighted_stems(TOPIC)
    assert weights["renew"] == weights["certif"] == weights["ingress"] == 1.0
    assert weights["kubernet"] == weights["cert-manager"] == 0.5
    assert "how" not in weights


def test_platforms_come_first_among_the_words_and_each_word_once():
    assert words_of(TOPIC) == ["Kubernetes", "certificate", "cert-manager", "cert", "manager", "renew", "ingress"]


def test_the_label_speaks_for_a_topic_without_question_and_terms():
    assert words_of(Topic("t", "ingress", "", ("g",))) == ["ingress"]
    assert weighted_stems(Topic("t", "ingress", "", ("g",))) == {"ingress": 0.5}


def test_a_topic_that_may_not_be_told_has_no_words():
    assert words_of(Topic("t", "", "", ("g",))) == []
    assert weighted_stems(Topic("t", "", "", ("g",))) == {}
