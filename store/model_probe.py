"""What a model is tried on before it is trusted: probe sentences, and which scripts its vocabulary covers. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

PROBES = (
    "How do I reset my password?",
    "rollback",
    "The rollback window is 45 minutes; after that a new release has to be cut from the main branch.",
    "THE QUICK BROWN FOX, written in Capitals: Are They Folded?",
    "Crème brûlée, naïve façade, Ærøskøbing and the price of 12,50 €",
    "def retry(call, attempts=3):\n    for attempt in range(attempts):\n        return call(timeout=2 ** attempt)",
    "kubectl get pods -n kube-system --field-selector=status.phase!=Running -o json | jq '.items[].metadata.name'",
    "| region | retention |\n|---|---|\n| eu-west-1 | 30 days |\n| us-east-2 | 7 days |",
    "如何重置我的密码？请联系管理员，或者在登录页面点击忘记密码。",
    "Как восстановить пароль от учётной записи?",
    "ok 👍 see https://example.com/docs/v2.1#install_guide",
    (
        "An incident is closed when the service has met its objective for one hour, the timeline is written down, and "
        "everybody who was paged knows that it is over. The review happens within five working days. It looks for what "
        "made the mistake easy, not for who made it, and ends with at most three changes that somebody owns."
    ),
)
"""Short and long, prose and code, several scripts: where an export differs, one of these shows it."""

_UNKNOWN_SHARE = 0.05


class Script(NamedTuple):
    """One writing system, a text in it, and how densely a vocabulary that knows it would pack that text.

    A vocabulary can hold the single letters of a script without one word of it, and a byte-level vocabulary spells
    anything without an unknown token; both show as few characters per token.
    """

    language: str
    sample: str
    characters_per_token: float


SCRIPTS = (
    Script(
        "zh", "如果部署失败，请先检查服务器的日志，然后重新启动应用程序并通知管理员。数据库备份每天晚上自动完成。", 0.6
    ),
    Script(
        "ru", "Если развёртывание не удалось, сначала проверьте журнал сервера и сообщите администратору об ошибке.", 2
    ),
    Script("el", "Αν η εγκατάσταση αποτύχει, ελέγξτε πρώτα το αρχείο καταγραφής και ενημερώστε τον διαχειριστή.", 2),
    Script("ar", "إذا فشل النشر، تحقق أولا من سجل الخادم ثم أعد تشغيل التطبيق وأخبر المسؤول عن المشكلة.", 2),
    Script("he", "אם הפריסה נכשלה, בדקו תחילה את יומן השרת ולאחר מכן הפעילו מחדש את היישום והודיעו למנהל.", 2),
    Script("hi", "यदि तैनाती विफल हो जाए तो पहले सर्वर का लॉग देखें और फिर प्रशासक को समस्या के बारे में बताएं।", 2),
    Script(
        "ko", "배포에 실패하면 먼저 서버 로그를 확인하고 애플리케이션을 다시 시작한 다음 관리자에게 알려 주세요.", 1.2
    ),
    Script("th", "หากการติดตั้งล้มเหลว ให้ตรวจสอบบันทึกของเซิร์ฟเวอร์ก่อน แล้วแจ้งผู้ดูแลระบบเกี่ยวกับปัญหา", 2),
    Script("ja", "サーバーのログをもういちどたしかめてから、アプリケーションをさいきどうしてください。", 1.2),
)
_MULTILINGUAL = frozenset({"zh", "ru", "ar"})


def covered_languages(measure: Callable[[str], tuple[int, int]]) -> tuple[str, ...]:
    """Languages whose script a vocabulary can read.

    A script counts as covered when fewer than 5 % of its sample's tokens are unknown and a token holds as many
    characters as :data:`SCRIPTS` asks. Latin script stands for English alone: which further languages an alphabet
    that all models know was trained on, the vocabulary does not tell.

    Args:
        measure: text → (number of tokens, how many of them are unknown).

    Returns:
        ``("*",)`` when Chinese, Cyrillic and Arabic are all covered, else ``en`` and one code a script.
    """
    covered = [script.language for script in SCRIPTS if _covers(script, *measure(script.sample))]
    return ("*",) if set(covered) >= _MULTILINGUAL else ("en", *covered)


def _covers(script: Script, tokens: int, unknown: int) -> bool:
    characters = len(script.sample.replace(" ", ""))
    dense = characters >= script.characters_per_token * tokens
    return tokens > 0 and unknown < _UNKNOWN_SHARE * tokens and dense


def covers(languages: tuple[str, ...], code: str) -> bool:
    """Whether a model with these languages reads text in the language ``code``. Pure.

    Args:
        languages: as :attr:`store.embedding.ModelIdentity.languages`; empty means unknown.
        code: ISO 639-1, a region may follow (``zh-CN``); empty means unknown.

    Returns:
        True also where either side is unknown: a question is only set apart when that is certain.
    """
    primary = code.replace("_", "-").split("-")[0].casefold()
    return not primary or not languages or "*" in languages or primary in languages
