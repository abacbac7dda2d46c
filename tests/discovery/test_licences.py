"""Licences: recognised by their text, judged by the policy."""

import pytest

from discovery.licences import DEFAULT_ALLOWED, Standing, recognise, standing

MIT = """MIT License

Copyright (c) 2024 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software.

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.
"""
MIT_0 = MIT.partition("The above")[0]
BSD_2 = """Redistribution and use in source and binary forms, with or without modification, are permitted.
1. Redistributions of source code must retain the above copyright notice.
2. Redistributions in binary form must reproduce the above copyright notice.
"""
BSD_3 = BSD_2 + "3. Neither the name of the copyright holder may be used to endorse or promote products.\n"


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        (MIT, "MIT"),
        (MIT.replace("\n", "\r\n"), "MIT"),
        (MIT_0, "MIT-0"),
        (BSD_2, "BSD-2-Clause"),
        (BSD_3, "BSD-3-Clause"),
        (
            "                                 Apache License\n                           Version 2.0, January 2004\n",
            "Apache-2.0",
        ),
        ("GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007", "GPL-3.0"),
        ("GNU AFFERO GENERAL PUBLIC LICENSE\n Version 3, 19 November 2007", "AGPL-3.0"),
        ("Creative Commons Attribution-ShareAlike 4.0 International Public License", "CC-BY-SA-4.0"),
        ("Creative Commons Attribution 4.0 International Public License", "CC-BY-4.0"),
        ("Attribution-NonCommercial-ShareAlike 4.0 International", "CC-BY-NC-SA-4.0"),
        ("CC0 1.0 Universal", "CC0-1.0"),
        ("SPDX-License-Identifier: MIT OR Apache-2.0\n", "MIT OR Apache-2.0"),
        ("All rights reserved. Do not copy.", ""),
        ("", ""),
    ],
)
def test_a_licence_is_known_by_its_sentences(text, licence):
    assert recognise(text) == licence


@pytest.mark.parametrize(
    "licence", [*DEFAULT_ALLOWED, "mit", "GPL-3.0 OR MIT", "MIT AND Apache-2.0", "(MIT OR GPL-2.0)"]
)
def test_permissive_licences_and_creative_commons_are_allowed(licence):
    assert standing(licence) is Standing.ALLOWED


@pytest.mark.parametrize("licence", ["GPL-3.0", "CC-BY-NC-4.0", "MIT AND GPL-3.0", "Proprietary-1"])
def test_what_is_not_on_the_list_is_refused(licence):
    assert standing(licence) is Standing.REFUSED


@pytest.mark.parametrize("licence", ["", " ", "NOASSERTION", "other", "none"])
def test_no_licence_is_unknown_and_neither_allowed_nor_refused(licence):
    assert standing(licence) is Standing.UNKNOWN


def test_the_list_is_configurable():
    assert standing("GPL-3.0", ["gpl-3.0"]) is Standing.ALLOWED
    assert standing("MIT", ["gpl-3.0"]) is Standing.REFUSED
