"""One topic, one key: wordings merge, different things stay apart."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discovery.platforms import load_platforms
from discovery.topics import near_duplicate, topic_id, topic_key
from store.text import is_blank


@pytest.mark.parametrize(
    "wordings",
    [
        ["deploying", "deployment", "How do I deploy?", "Deployments?"],
        [
            "How do I reset the VPN?",
            "how to reset vpn",
            "Reset VPN please",
            "hi, could you tell me how I can reset my VPN? thanks!",
            "VPN reset",
            "hey team, does anyone know how to reset the VPN",
        ],
        ["Upgrading k8s clusters", "How do we upgrade a Kubernetes cluster?", "kubernetes cluster upgrade"],
        [
            "etcd restore",
            "Do we have a runbook for restoring etcd?",
            "Is there any documentation on etcd restore?",
            "any guide for etcd restore",
        ],
        ["node_exporter port", "node exporter port", "Node-Exporter ports"],
        ["Postgres backups", "PostgreSQL backup"],
        ["v2 API", "2 api"],
        ["HTTP/2 support", "http 2 support"],
        ["FooBar errors", "foobar error"],
        ["如何重置密码？", "怎么重置密码", "你好，请问怎么重置密码？", "有没有关于如何重置密码的文档", "如何重置密碼"],
        ["微信登录失败", "WeChat 登录失败"],
        ["VPN isn't connecting", "VPN does not connect", "Why can't the VPN connect?"],
        ["Wie setze ich mein VPN zurück?", "Wie setze ich das VPN zurück, bitte?"],
    ],
)
def test_wordings_of_one_question_share_a_key(wordings):
    """B085 (key side): the same question, asked again in other words, joins one gap instead of opening many."""
    assert len({topic_key(wording) for wording in wordings}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Kubernetes networking", "Kubernetes storage"),
        ("VPN on Windows 10", "VPN on Windows 11"),
        ("VPN on Windows", "VPN on Linux"),
        ("upgrade to 4.1.1", "upgrade to 4.1.2"),
        ("How do I enable SSO?", "How do I disable SSO?"),
        ("Why does the VPN connect?", "Why doesn't the VPN connect?"),
        ("C++ build", "C# build"),
        ("KubePodNotReady", "KubePodCrashLooping"),
        ("GitHub Actions cache", "GitHub cache"),
        ("重置密码", "修改密码"),
        ("为什么能登录", "为什么不能登录"),
        ("Java heap", "JavaScript heap"),
        ("iPhone setup", "iPad setup"),
    ],
)
def test_different_questions_have_different_keys(one, other):
    assert topic_key(one) != topic_key(other)


def test_the_key_names_the_language_first():
    assert topic_key("How to deploy the app on k8s?") == "en:app deploy kubernet"
    assert topic_key("怎么重置密码") == "zh:密码 重置"
    assert topic_key("Wie setze ich mein VPN zurück?").startswith("de:")


@pytest.mark.parametrize("question", ["what is it and how", "this?", "??", "...", "怎么", "的", "🦒", "not"])
def test_a_question_without_topic_words_still_has_a_key(question):
    """B083: stop words or symbols alone fall back to what was written, never to a blank."""
    language, _, topic = topic_key(question).partition(":")
    assert language
    assert topic.strip()


def test_the_id_is_the_md5_of_the_key():
    assert topic_id("en:deploy") == hashlib.md5(b"en:deploy").hexdigest()
    assert len(topic_id("zh:密码\ud800")) == 32


def test_learned_names_are_kept_whole():
    learned = load_platforms().with_learned({"OrbitDesk"})
    assert topic_key("How do I install OrbitDesk?", learned) == "en:instal orbitdesk"


WORDS = [
    "vpn",
    "reset",
    "kubernetes",
    "k8s",
    "deploying",
    "timeout",
    "4.1.1",
    "docker",
    "invoice",
    "grafana",
    "postgres",
    "quota",
    "x509",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7), st.randoms(use_true_random=False))
def test_the_order_of_the_words_does_not_matter(words, random):
    shuffled = list(words)
    random.shuffle(shuffled)
    assert topic_key(" ".join(words)) == topic_key(" ".join(shuffled))


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text_has_a_stable_key(text):
    key = topic_key(text)
    assert key == topic_key(text)
    assert len(topic_id(key)) == 32
    assert is_blank(text) or key.partition(":")[2].strip()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("How do I reset the VPN?", "I forgot my VPN login, how can I set a new one?"),
        ("Deploy to k8s", "Rolling something out on Kubernetes"),
        ("how do I rotate the api key", "How to rotate an API key"),
    ],
)
def test_similar_questions_about_the_same_thing_are_duplicates(first, second):
    found = near_duplicate(first, second, 0.91, 0.85)
    assert found.same
    assert "0.91" in found.reason
    assert "0.85" in found.reason


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ("Install the agent on Windows", "Install the agent on Linux", "different platforms: Windows and Linux"),
        ("Upgrade to version 4.1", "Upgrade to version 4.2", "different numbers: 4.1 and 4.2"),
        ("VPN on Windows 10", "VPN on Windows 11", "different numbers: 10 and 11"),
        ("Why does the VPN connect?", "Why doesn't the VPN connect?", "only one of them is negated"),
        ("为什么能登录", "为什么不能登录", "only one of them is negated"),
        ("How do I enable SSO?", "How do I disable SSO?", "opposite words: enabl and disabl"),
        ("How do I remove a user?", "How do I add a user?", "opposite words: remov and add"),
        (
            "What does KubePodNotReady mean?",
            "What does KubePodCrashLooping mean?",
            "only one of them names KubePodNotReady",
        ),
        ("How do I renew the VPN token?", "How do I renew the SSO token?", "only one of them names VPN"),
        ("What is max_retries?", "What is max_delay?", "only one of them names max_retries"),
    ],
)
def test_close_vectors_do_not_merge_different_questions(first, second, why):
    found = near_duplicate(first, second, 0.99, 0.85)
    assert not found.same
    assert found.reason == why
    assert not near_duplicate(second, first, 0.99, 0.85).same


@pytest.mark.parametrize("similarity", [0.8499, -1.0, float("nan")])
def test_a_low_similarity_is_never_a_duplicate(similarity):
    assert not near_duplicate("reset VPN", "VPN reset", similarity, 0.85).same


def test_asking_yes_or_no_is_no_negation():
    assert near_duplicate("是不是支持离线安装", "支持离线安装", 0.95, 0.9).same
    assert near_duplicate("Does it scale or not?", "Does it scale?", 0.95, 0.9).same
