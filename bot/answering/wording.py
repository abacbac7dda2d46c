"""What the bot says when it does not answer. Pure; English and Chinese, by the language of the question.

The sentences say plainly that the documents were searched and what was missing: they are read by people and by the
rule on weak answers alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from store.records import AbstainReason, Passage, ScopeFilter

_ENGLISH: Mapping[AbstainReason, str] = {
    AbstainReason.EMPTY_INDEX: "No documents are indexed yet, so there is nothing to answer from.",
    AbstainReason.NO_RELEVANT_PASSAGES: "No relevant passages were found in the documents.",
    AbstainReason.INSUFFICIENT_EVIDENCE: (
        "The documents touch on this, but nothing relevant enough to answer it was found in them."
    ),
    AbstainReason.SCOPE_CONFLICT: (
        "The documents give different answers for different scopes. Please say which one you mean."
    ),
    AbstainReason.OUT_OF_SCOPE: (
        "The search does not cover the language of this question. Please ask in a language the documents are in."
    ),
    AbstainReason.AMBIGUOUS_EVIDENCE: "Several documents could answer this and they disagree.",
    AbstainReason.UNSUPPORTED_CITATION: "An answer was written, but its sources do not support it.",
    AbstainReason.UNGROUNDED_ANSWER: "An answer was written, but it is not grounded in the documents.",
    AbstainReason.NOT_A_QUESTION: "I did not find a question in this. Ask me something about your documents.",
    AbstainReason.UNAVAILABLE: "The search is not available at the moment. Please try again later.",
}
_CHINESE: Mapping[AbstainReason, str] = {
    AbstainReason.EMPTY_INDEX: "还没有索引任何文档，无法回答。",
    AbstainReason.NO_RELEVANT_PASSAGES: "文档中没有找到相关内容。",
    AbstainReason.INSUFFICIENT_EVIDENCE: "文档提到了相近的内容，但没有找到足以回答这个问题的信息。",
    AbstainReason.SCOPE_CONFLICT: "文档对不同的适用范围给出了不同的答案，请说明您指的是哪一个。",
    AbstainReason.OUT_OF_SCOPE: "搜索不支持这个问题所用的语言，请用文档的语言提问。",
    AbstainReason.AMBIGUOUS_EVIDENCE: "有多份文档可以回答这个问题，但它们的说法不一致。",
    AbstainReason.UNSUPPORTED_CITATION: "生成的答案没有得到来源的支持。",
    AbstainReason.UNGROUNDED_ANSWER: "生成的答案没有文档依据。",
    AbstainReason.NOT_A_QUESTION: "没有看到问题。请就您的文档提问。",
    AbstainReason.UNAVAILABLE: "搜索暂时不可用，请稍后再试。",
}
_NEAREST = 3


def abstention(reason: AbstainReason, passages: Sequence[Passage] = (), language: str = "en") -> str:
    """Why there is no answer, and the documents that came closest.

    Args:
        reason: what the gate decided.
        passages: what was retrieved, best first; empty lists nothing.
        language: ISO 639-1 code of the question.
    """
    chinese = language == "zh"
    sentence = (_CHINESE if chinese else _ENGLISH)[reason]
    places = list(dict.fromkeys(_place(passage) for passage in passages))[:_NEAREST]
    if not places:
        return sentence
    heading = "最接近的文档：" if chinese else "Closest documents:"
    return "\n".join([sentence, "", heading, *(f"- {place}" for place in places)])


def nothing_in_scope(scope: ScopeFilter, language: str = "en") -> str:
    """That no document carries the facts that were asked for, such as a version that nobody wrote about."""
    facts = ", ".join(f"{key} = {' | '.join(values)}" for key, values in scope.items())
    return f"没有适用于 {facts} 的文档。" if language == "zh" else f"No document is marked as valid for {facts}."


def small_talk(language: str = "en") -> str:
    """A short answer to a greeting or thanks."""
    return "您好！请就您的文档提问。" if language == "zh" else "Hello! Ask me anything about your documents."


def clarification(language: str = "en") -> str:
    """The request for a question that says what it is about."""
    if language == "zh":
        return "请说明您想了解什么，例如产品、命令或错误信息的名称。"
    return "Please say what this is about: name the product, command or error message you mean."


def _place(passage: Passage) -> str:
    return f"{passage.document} › {passage.section}" if passage.section else passage.document
