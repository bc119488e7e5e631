"""Which language a text is in: by its script, then, among languages of one script, by their small words and own letters.

No model and no library: a language's fifty commonest words make up about half of any text in it, so two or three
sentences settle the matter. Where nothing points anywhere ("OK 5") the language is None.

>>> detect("Der Hund schläft nicht auf dem Sofa."), detect("राम घर जा रहा है"), detect("तो घरी आहे आणि पुस्तक वाचतो")
('de', 'hi', 'mr')
>>> is_in("这是一只狗。", "zh-cn"), is_in("Obrigado", "de"), detect("42!")
(True, False, None)
"""

from __future__ import annotations

import re
from collections import Counter

LONGEST = 50_000  # characters that are looked at
CLOSE = 0.85  # so near the best, a language is one too: Danish and Norwegian share most words
SCRIPTS = {
    "latin": "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff",
    "cyrillic": "\u0400-\u052f",
    "arabic": "\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff",
    "devanagari": "\u0900-\u097f",
    "han": "\u3400-\u4dbf\u4e00-\u9fff",
    "kana": "\u3041-\u30ff",
    "ko": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "bn": "\u0980-\u09ff",
    "pa": "\u0a00-\u0a7f",
    "gu": "\u0a80-\u0aff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f",
    "th": "\u0e00-\u0e7f",
    "el": "\u0370-\u03ff",
    "he": "\u0590-\u05ff",
}
_RUNS = {script: re.compile(f"[{chars}]+") for script, chars in SCRIPTS.items()}

# Small words, and behind the bar the letters that only this language (or few) of its script has.
TABLE = {
    "latin": {
        "en": "the of and to in is that it was for on are as with his they at be this have from or had by but what there we when your "
        "can said you not my will all has do an if so were which their would about how our out up i he she her him its no more "
        "who me them these those than "
        "then been some any just into over such only also new first after made may write make like good get name short here very|",
        "de": "der die das und ist nicht ein eine einen einem zu den von mit sich des auf für dem im es an werden aus er hat dass sie nach "
        "bei oder auch als wie ich wir ihr so man aber noch nur sind war zum zur kann über wenn mein sein haben|äöüß",
        "fr": "le la les de des et est un une que qui dans pour pas sur au aux avec son ce il elle sont nous vous plus par mais ou donc je "
        "ne se sa ses cette du en on mon ma leur comme être c'est d'une d'un l'on|çèêœùëî",
        "es": "el la los las de y que en un una es por con para del se su al lo como más pero sus le ya o este sí porque entonces muy no "
        "son fue está mi me si sin sobre también hay nos yo mis tus gusta|ñ¿¡áíóú",
        "it": "il lo la gli le di e che è un una per non con sono del della si da come più ma anche nel alla quindi dei delle i al questo "
        "mi ci ho ha era molto perché essere o se suo dal sul nella|àòù",
        "pt": "o a os as de e que em um uma é por com para do da se seu sua não mais como mas ao dos das ou então no na nos nas você ele "
        "ela são foi está isso muito também eu me pelo pela|ãõçâê",
        "nl": "de het een en van in is dat op te zijn met voor niet aan er die maar om ook als bij nog naar uit dan wat ik je wij hij ze "
        "heeft hebben wordt deze dit was kan door over geen meer|",
        "sv": "och att det som en på är av för med den till inte om har de ett han hon jag vi var men så från kan sig ska eller när "
        "denna mycket vid också mig du|åäö",
        "da": "og at det som en på er af for med den til ikke om har de et han hun jeg vi var men så fra kan sig skal eller når denne "
        "meget ved også mig du hvor være|æøå",
        "no": "og at det som en på er av for med den til ikke om har de et han hun jeg vi var men så fra kan seg skal eller når denne "
        "mye ved også meg du hvor være|æøå",
        "fi": "ja on ei se että hän oli mutta kun niin ovat tai myös kuin jos joka sen olla voi ole minä sinä me he tämä siitä mitä nyt "
        "sitten vain vielä hyvin hänen olen mukaan jotka kanssa jälkeen|äöy",
        "et": "ja on ei see et ta oli aga kui siis või ka mis kes seda ma sa me nad oma selle ning nagu saab väga olen pole|õäöü",
        "pl": "i w nie na się z do to że jest o jak ale po co tak za od przez dla czy był być są ich jego tym oraz jako może już jestem "
        "mnie ten tego|ąęłńśźżć",
        "cs": "a se v na je že to s z do o i jako ale za by jsem pro co tak jeho po která který jsou nebo být už bylo od při také|ěřůčžý",
        "sk": "a sa v na je že to s z do o aj ako ale za by som pre čo tak jeho po ktorá ktorý sú alebo byť už bolo od pri tiež|ľĺŕôäč",
        "sl": "in je v na se da za so z ki pa ne s po bi kot ali tudi od do pri sem ima bil lahko še zelo|čšž",
        "hr": "i je u na se da za su s koji a ne od kao što ili to bi iz sam će nije ali po biti ima vrlo|čćđšž",
        "hu": "a az és hogy nem is egy van ez azt meg csak már de ha volt mint vagy el még lehet kell nagyon ki minden lesz|őűáéö",
        "ro": "și de la în a cu o pe nu că este un din care mai pentru se sunt ce dar sau au fost lui prin după foarte îi acest|ășțîâ",
        "tr": "ve bir bu da de için ile çok ne o gibi daha en var mi ama olarak olan kadar sonra ben sen değil her ya ki şey|ğışçö",
        "id": "yang dan di dengan untuk dari ini itu tidak pada adalah ke dalam akan juga saya anda oleh atau ada mereka sebagai bisa "
        "karena kami dia tersebut lebih|",
        "vi": "và của là có được cho không trong một các người những để với này khi đã từ về ra tôi bạn cũng như sẽ "
        "rất|ăơưđạảấầậắặếềệọồộớờợụứừựỳ",
        "sw": "na ya wa kwa ni la za katika kuwa hii cha yake au kama hiyo si lakini pia kila wake watu wao sana hivyo kutoka yangu "
        "vya huu mimi wewe yako baada ili hakuna|",
        "so": "iyo waa oo ka ku in ay u la ah ayaa si waxaa uu loo wax kale ama ee lagu kuwa|",
        "tl": "ang ng sa na mga ay at ko si ito hindi niya para kung may siya ako namin kanyang isang rin lang|",
        "lt": "ir yra kad į iš su ne kaip tai bet jis jo ar už per buvo dėl taip nuo aš labai|ėįųūšž",
        "lv": "un ir ka ar no uz par ne kā tas bet viņš viņa vai pie bija es ļoti arī lai|āēīūļņģķ",
        "sq": "dhe në të e i me për një që nga është nuk se si do ka por më kjo ky|ëç",
        "cy": "yn y a i o yr ar mae ei am gan fod eu wedi fel nid oedd ac ond hefyd|ŵŷ",
        "af": "die en van in is dat 'n nie het te met op vir sy wat om hy aan as ook maar sal kan hulle ons|",
        "ca": "el la els les de i que en un una és per amb del no se al com més però seu són va o també aquest|çïŀ",
    },
    "cyrillic": {
        "ru": "и в не на что я с он как это по но из у за так же от для бы его она они мы вы о к то был быть или все есть очень если|ыэё",
        "uk": "і в не на що я з він як це по але із у за так же від для б його вона вони ми ви та до був бути або є дуже якщо|їієґ",
        "bg": "и в не на че аз с той като това по но от у за така са се да ще е го тя те ние вие или към беше бъде има много ако със във "
        "които която този тази му си|ъ",
        "mk": "и во не на дека јас со тој како ова по но од за така се да ќе е го таа тие ние или кон беше има многу ако|ѓќѕјљњ",
        "sr": "и у не на да је се за су са који а од као што или то би из сам ће није али по бити има|ђћљњјџ",
    },
    "arabic": {
        "ar": "في من على أن إلى هذا هذه التي الذي كان لا ما عن مع هو هي لم قد كل بعد أو و ثم إن كما لكن بين ذلك يمكن كانت أنا يا|ةىأإؤ",
        "fa": "و در به از که این را با است برای آن می بر تا یک ها هم شد خود بود یا اما ما شما من او نیز باید کرد هر نمی دارد های|پچژگکی",
        "ur": "کے میں کی ہے اور سے کا کو اس پر یہ ہیں نے کہ جو تو بھی ایک نہیں کر ہم وہ تھا ہو گا آپ اپنے لیے تھے تھی ہوتا|ٹڈڑںےہھپچگکی",
    },
    "devanagari": {
        "hi": "के में है की से का को और यह पर हैं ने कि जो तो भी एक नहीं कर हम वह था हो इस लिए थे थी ही या मैं आप "
        "अपने साथ करने रहा जा कुछ मुझे हूँ हूं गया यहाँ वे उन|़",
        "mr": "आणि आहे आहेत या ते हे तो ती च व ला एक नाही मध्ये होते होता होती की पण साठी मी तुम्ही आपण करून केले असे त्या त्याच्या हा ही "
        "काही आम्ही झाला करणे असतो माझ्या मला तुला त्याला|ळ",
        "ne": "छ र को मा हो छन् यो लाई ले पनि भने गर्न एक थियो गरेको हुन् तर त्यो म हामी तपाईं उनी हुन्छ गर्ने बाट यस के भएको छैन छु "
        "थिए लागि सबै मलाई मन पर्छ|",
    },
}
# Endings that mark a language where small words are few; a short sentence may have nothing else.
ENDINGS_OF = {
    "latin": {
        "en": "ing tion ly ness",
        "de": "ung keit heit lich isch",
        "fr": "tion ment eux euse",
        "es": "ción mente ando iendo ar",
        "it": "zione mente ando endo zioni",
        "pt": "ção mente ando endo ões ar",
        "fi": "ssa ssä sta stä lla llä nen vat vät uu",
        "hu": "ban ben nak nek ról ről tól től",
        "tr": "yor lar ler dır dir mak mek",
        "sw": "nda isha ani eni",
        "id": "kan nya",
    },
    "cyrillic": {
        "ru": "ый ий ая ого ему ться ет ют ешь ть ую",
        "bg": "ата ията ът ят ите ето ото та",
        "uk": "ий ої ться ти ють ій",
    },
    "devanagari": {
        "hi": "ता ती ना ने ते ओं ों",
        "mr": "तो तात ला ले च्या ात णे ून ांनी तील ाचे ाची ाचा",
        "ne": "न्छ छन् को मा लाई ेको हरू नु पर्छ दछ",
    },
}
ENDINGS = {script: {code: tuple(ends.split()) for code, ends in rows.items()} for script, rows in ENDINGS_OF.items()}
SMALL = {script: {code: frozenset(line.split("|")[0].split()) for code, line in rows.items()} for script, rows in TABLE.items()}
LETTERS = {script: {code: frozenset(line.split("|")[1]) for code, line in rows.items()} for script, rows in TABLE.items()}
SHARED = {script: Counter(word for words in rows.values() for word in words) for script, rows in SMALL.items()}
OWNERS = {script: Counter(letter for letters in rows.values() for letter in letters) for script, rows in LETTERS.items()}
KNOWN = frozenset(code for rows in TABLE.values() for code in rows) | {"zh", "ja"} | {code for code in SCRIPTS if len(code) == 2}


def plain_code(code: str) -> str:
    """``zh-cn`` and ``ZH_tw`` are ``zh``; ``nb`` and ``nn`` are ``no``."""
    code = re.split("[-_]", code.strip().lower())[0]
    return {"nb": "no", "nn": "no", "bs": "hr", "ms": "id", "fil": "tl", "iw": "he"}.get(code, code)


def detect(text: str) -> str | None:
    """The text's language, ISO 639-1, or None where nothing tells it."""
    found = candidates(text)
    return found[0] if found else None


def is_in(text: str, code: str) -> bool:
    """Is the text in this language, or in one that can not be told from it?"""
    return plain_code(code) in candidates(text)


def candidates(text: str) -> list[str]:
    """Languages that the text may be in, the likeliest first; none where nothing tells."""
    text = text[:LONGEST]
    script = script_of(text)
    if script is None:
        return []
    if script not in TABLE:
        return [script]
    scores = scored(text, script)
    best = max(scores.values(), default=0.0)
    ranked = sorted(scores, key=lambda code: -scores[code])
    return [code for code in ranked if best > 0 and scores[code] >= CLOSE * best]


def clearly_not(text: str, code: str) -> bool:
    """Is the text, beyond a doubt, in another language? Two small words that ``code`` lacks are needed, or another script.

    >>> clearly_not("la casa es de mi padre", "en"), clearly_not("Bonjour", "en")
    (True, False)
    """
    text = text[:LONGEST]
    script, code = script_of(text), plain_code(code)
    if script not in TABLE or code not in TABLE[script]:
        return script not in (None, code)
    scores = scored(text, script)
    best = max(scores, key=lambda other: scores[other])
    return scores[best] >= 1.2 and scores[best] > 1.5 * scores[code]


def script_of(text: str) -> str | None:
    """The script of most letters; Chinese and Japanese by how much kana there is."""
    sizes = {script: sum(map(len, runs.findall(text))) for script, runs in _RUNS.items()}
    kana, han = sizes.pop("kana"), sizes.pop("han")
    sizes["ja" if kana * 10 > han else "zh"] = 2 * (kana + han)  # a character there says what two letters say
    best = max(sizes, key=lambda script: sizes[script])
    return best if sizes[best] else None


def scored(text: str, script: str) -> dict[str, float]:
    """A score a language: its small words and letters, each worth less the more languages have it."""
    words = Counter(word.replace("’", "'") for word in _words(text.lower(), script))
    scores = dict.fromkeys(SMALL[script], 0.0)
    for code, small in SMALL[script].items():
        scores[code] += sum(words[word] / SHARED[script][word] ** 0.5 for word in small if word in words)
    for letter in OWNERS[script].keys() & set("".join(words)):
        times = min(sum(n for word, n in words.items() if letter in word), sum(words.values()) // 4 + 1)
        for code, letters in LETTERS[script].items():
            scores[code] += 0.7 * times / OWNERS[script][letter] if letter in letters else 0.0
    for code, endings in ENDINGS.get(script, {}).items():
        scores[code] += 0.4 * sum(n for word, n in words.items() if len(word) > 3 and word.endswith(endings))
    return scores


def _words(text: str, script: str) -> list[str]:
    """Words of one script, its marks and inner apostrophes with them."""
    chars = SCRIPTS[script]
    return re.findall(f"[{chars}]+(?:['’][{chars}]+)*", text)
