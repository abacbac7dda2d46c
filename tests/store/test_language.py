"""A few words tell the language, and a foreign name in a sentence does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.language import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How do I reset the VPN?", "en"),
        ("reset vpn", "en"),
        ("kubectl get pods -n default", "en"),
        ("Wie setze ich das VPN zurück?", "de"),
        ("Comment est-ce que je réinitialise le mot de passe ?", "fr"),
        ("¿Cómo puedo restablecer la contraseña de mi cuenta?", "es"),
        ("Come posso reimpostare la password del mio account?", "it"),
        ("Hoe kan ik het wachtwoord van mijn account wijzigen?", "nl"),
        ("如何重置密码？", "zh"),
        ("重置 VPN 密码", "zh"),
        ("VPNをリセットするにはどうすればよいですか", "ja"),
        ("東京の天気は", "ja"),
        ("비밀번호를 재설정하려면 어떻게 하나요?", "ko"),
        ("Как сбросить пароль?", "ru"),
        ("Πώς κάνω επαναφορά;", "el"),
        ("איך לאפס סיסמה", "he"),
        ("كيف أعيد تعيين كلمة المرور", "ar"),
        ("पासवर्ड कैसे रीसेट करें", "hi"),
        ("รีเซ็ตรหัสผ่านอย่างไร", "th"),
        ("What does the error 错误 mean in the build log?", "en"),
        ("How do I configure the Straße field in the form?", "en"),
        ("die VPN", "en"),
        ("I need to cancel a transaction.", "en"),
        ("Can I order a virtual card?", "en"),
        ("help me set a timer please", "en"),
        ("give me a cool fact about seattle", "en"),
        ("Will a transfer incur a fee?", "en"),
        ("Ho bisogno di annullare una transazione.", "it"),
        ("¿Me puede decir cómo se cancela una tarjeta?", "es"),
    ],
)
def test_languages_are_told_apart(text, language):
    """B054."""
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "   ", "123", "?!", "👍", "\u200b"])
def test_a_text_without_letters_is_of_the_default_language(text):
    assert detect_language(text) == "en"
    assert detect_language(text, "de") == "de"


@given(st.text(max_size=300))
def test_every_text_gets_a_code_of_two_letters(text):
    code = detect_language(text)
    assert len(code) == 2
    assert code.islower()
