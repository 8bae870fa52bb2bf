"""Lower and upper case by one rule on every engine: 423 pairs of letters below U+0530, one character for one; all others stay.

Engines disagree about the rest (ß, İ, final sigma, Cherokee), and change their minds from version to version.
"""

from __future__ import annotations

CAPITALS = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮĲĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚ"
    "ŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽƁƂƄƆƇƉƊƋƎƏƐƑƓƔƖƗƘƜƝƟƠƢƤƦƧƩƬƮƯƱƲƳƵƷƸƼǄǇǊǍǏǑǓǕǗǙǛǞǠǢǤǦǨǪǬǮǱǴǶǷǸǺǼǾȀȂȄȆȈȊȌȎȐȒȔȖȘȚȜȞȠȢ"
    "ȤȦȨȪȬȮȰȲȻȽɁɃɄɅɆɈɊɌɎͰͲͶͿΆΈΉΊΌΎΏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΪΫϏϘϚϜϞϠϢϤϦϨϪϬϮϷϹϺϽϾϿЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБВГДЕЖЗИ"
    "ЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯѠѢѤѦѨѪѬѮѰѲѴѶѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӀӁӃӅӇӉӋӍӐӒӔӖӘӚӜӞӠӢӤӦӨӪӬӮӰӲӴӶӸӺӼӾԀ"
    "ԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮ"
)
SMALL = (
    "abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįĳĵķĺļľŀłńņňŋōŏőœŕŗřś"
    "ŝşšţťŧũūŭůűųŵŷÿźżžɓƃƅɔƈɖɗƌǝəɛƒɠɣɩɨƙɯɲɵơƣƥʀƨʃƭʈưʊʋƴƶʒƹƽǆǉǌǎǐǒǔǖǘǚǜǟǡǣǥǧǩǫǭǯǳǵƕƿǹǻǽǿȁȃȅȇȉȋȍȏȑȓȕȗșțȝȟƞȣ"
    "ȥȧȩȫȭȯȱȳȼƚɂƀʉʌɇɉɋɍɏͱͳͷϳάέήίόύώαβγδεζηθικλμνξοπρστυφχψωϊϋϗϙϛϝϟϡϣϥϧϩϫϭϯϸϲϻͻͼͽѐёђѓєѕіїјљњћќѝўџабвгдежзи"
    "йклмнопрстуфхцчшщъыьэюяѡѣѥѧѩѫѭѯѱѳѵѷѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӏӂӄӆӈӊӌӎӑӓӕӗәӛӝӟӡӣӥӧөӫӭӯӱӳӵӷӹӻӽӿԁ"
    "ԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯ"
)
_TO_SMALL, _TO_CAPITALS = str.maketrans(CAPITALS, SMALL), str.maketrans(SMALL, CAPITALS)


def lower(text: str) -> str:
    """Return a text in lower case."""
    return text.translate(_TO_SMALL)


def upper(text: str) -> str:
    """Return a text in upper case."""
    return text.translate(_TO_CAPITALS)


# DuckDB has rules of its own, and `translate` over all pairs takes 20 µs a text, however short. So texts of ASCII, and those without a
# character that its own rule changes and ours does not, are changed by its own rule; in all others, only the characters that are not
# such. These are such characters, and a few that are not changed by ours either.
_ODD_CAPITALS = (
    "\u0130\u01c5\u01c8\u01cb\u01f2\u023a\u023e\u03f4\u0531-\u0556\u10a0-\u10cf\u13a0-\u13f7\u1c90-\u1cbf\u1f00-\u1fff\u2126-\u2183"
    "\u24b6-\u24cf\u2c00-\u2cff\ua640-\ua69f\ua720-\ua7ff\uff21-\uff3a\U00010400-\U0001e943"
    + "".join(map(chr, range(0x1E00, 0x1F00, 2)))
)
_ODD_SMALL = (
    "\u00b5\u00df\u0131\u017f\u01c5\u01c8\u01cb\u01f2\u023f\u0240\u0250\u0251\u0252\u025c\u0261\u0265\u0266\u026a"
    "\u026b\u026c\u0271\u027d\u0282\u0287\u029d\u029e\u0345\u03c2\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u03f5"
    "\u0561-\u0587\u10d0-\u10ff\u13f8-\u13ff\u1c80-\u1c8f\u1d79-\u1d8e\u1f00-\u1fff\u214e-\u2184\u24d0-\u24e9\u2c30-\u2d2f\ua640-\ua69f"
    "\ua720-\ua7ff\uab30-\uabbf\ufb00-\ufb17\uff41-\uff5a\U00010400-\U0001e943"
    + "".join(map(chr, range(0x1E01, 0x1F00, 2)))
)


def _duckdb(name: str, odd: str) -> str:
    each = f"(CASE WHEN regexp_matches(letter, '[{odd}]') THEN letter ELSE {name}(letter) END)"
    return (
        f"(CASE WHEN (strlen({{0}}) = length({{0}})) THEN {name}({{0}}) "
        f"WHEN (NOT regexp_matches({{0}}, '[{odd}]')) THEN {name}({{0}}) "
        f"ELSE array_to_string(list_transform(string_split({{0}}, ''), lambda letter: {each}), '') END)"
    )


LOWER_SQL = _duckdb("lower", _ODD_CAPITALS)
UPPER_SQL = _duckdb("upper", _ODD_SMALL)
