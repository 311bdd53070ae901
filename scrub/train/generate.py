"""Fills templates with generated names: texts whose names are known."""

import random
import re

import names

LISTS = names.load()
R = random.Random(20260101)
LOCALES = [l for l in LISTS["first"] if l in LISTS["last"] and len(LISTS["first"][l]) >= 40]
GIVEN = sorted({name for by in LISTS["first"].values() for name in by})
GIVEN_WORDS = {name.lower() for name in GIVEN}
FAMILY = sorted({name for by in LISTS["last"].values() for name in by})
STREETS = [name for by in LISTS["street"].values() for name in by]
# Locales with thousands of villages do not outweigh the others.
MOST_PLACES = 700
PLACES = [p for by in LISTS["city"].values() for p in (by if len(by) < 1_300 else R.sample(by, MOST_PLACES))]
COUNTRIES = sorted(set(LISTS["city"]["en"]))
CITIES = """London Paris Berlin Madrid Rome Vienna Tokyo Chicago Boston Seattle Denver Houston Dallas Austin Toronto Montreal
Sydney Melbourne Dublin Oslo Stockholm Helsinki Copenhagen Lisbon Athens Warsaw Prague Budapest Cairo Lagos Nairobi Mumbai
Delhi Bangalore Singapore Seoul Beijing Shanghai Moscow Kyiv Istanbul Dubai California Texas Florida Ohio Bavaria Scotland
Wales England Munich Hamburg Cologne Zurich Geneva Milan Naples Barcelona Valencia Seville Lyon Marseille Manchester Liverpool
Glasgow Edinburgh Leeds Bristol Amsterdam Rotterdam Brussels Antwerp Miami Atlanta Phoenix Portland Detroit Philadelphia
Cleveland Vancouver Calgary Santiago Lima Bogota Washington""".split() + [
    "New York", "Los Angeles", "San Francisco", "Hong Kong", "Buenos Aires", "Rio de Janeiro", "Mexico City", "New Delhi",
    "Cape Town", "Tel Aviv", "Las Vegas", "San Diego", "Kuala Lumpur", "St. Louis",
]  # fmt: skip
PLACE_ENDS = " Springs|ville|ton| City| Falls|burg|ham| Park| Village|field|dorf|hausen| sur Mer|by|stad".split("|")
FAMILY_ENDS = """son dóttir dottir ov ova ev eva sky ski ska enko ić ic ovic uk chuk in ina opoulos idis akis ou iou escu yan
shvili dze oğlu zade sen sson nen wala berg mann stein ström quist elli ini etti ez es eau ard""".split()
PARTICLES = ["van ", "van der ", "de ", "von ", "di ", "del ", "O'", "Mc", "Le ", "da ", "El ", "ten ", "Al-", "bin "]
INITIALS = "ABCDEFGHJKLMNPRSTVW"
AFTER_NAMES = ["Jr.", "Sr.", "III", "MD", "PhD", "II"]
COMPANY_WORDS = """Data Blue Cloud Prime North Star Global United First Bright Open Smart Next Alpha Delta Omega Core Red
Silver Golden Green Solar Quantum Apex Metro Pacific Atlantic Summit Pioneer Liberty Heritage Royal Urban Rapid Pure Clear
Swift Iron Stone River Lake Ocean Mountain Sky Sun Moon Health Care Food Home Auto Trade Media Music Sport Energy Power Water
Air Net Web Soft Logic Tech Bio Med Pharma Fin Pay Credit Invest Capital Insight Vision Wave Link Bridge Path Point Box Lab
Works Craft Hub""".split()
COMPANY_ENDS = """Inc|Inc.|Ltd|Ltd.|LLC|GmbH|AG|Corp|Corp.|Corporation|Group|Holdings|Partners|Associates|Systems|Solutions|
Technologies|Services|Consulting|Industries|Bank|Insurance|Foundation|Institute|University|College|Hospital|Museum|Airlines|
Motors|Media|Studios|Labs|Energy|Pharma|Logistics|Foods|Capital|Ventures|Company|S.A.|SpA|BV|AB|Oy|plc|PLC|& Co.|& Sons|
Incorporated""".replace("\n", "").split("|")
COMPANIES = """Google Microsoft Amazon Apple Siemens Bosch Toyota Samsung Sony Intel IBM Oracle SAP Netflix Facebook Twitter
Nestlé Unilever Pfizer Bayer Shell Walmart Boeing Airbus Volkswagen BMW Renault Deloitte KPMG Vodafone Nokia Ericsson Philips
Spotify Uber Airbnb PayPal Visa Mastercard Barclays HSBC Santander Allianz Reuters Bloomberg NASA FBI CIA WHO NATO UNESCO
Stripe Slack GitHub GitLab Salesforce Adobe Nvidia Tesla""".split()
JOBS = """Nurse,Engineer,Accountant,Teacher,sales manager,software developer,chief executive,Chief Financial Officer,Vice
 President,director,Project Manager,plumber,data analyst,receptionist,Head of Sales,consultant,electrician,journalist,actor,
painter,Marketing Assistant,Leasing agent,truck driver""".replace("\n", "").split(",")
NATIONS = """German French Spanish Italian British American Polish Dutch Swedish Danish Norwegian Finnish Irish Greek Turkish
Russian Ukrainian Indian Chinese Japanese Korean Brazilian Mexican Canadian Australian Egyptian Nigerian Kenyan Czech Hungarian
Swiss Austrian Belgian Portuguese Thai Vietnamese""".split()
THINGS = """Excel,Photoshop,Kubernetes,Docker,PostgreSQL,Firefox,Chrome,Windows,Linux,Android,Visual Studio Code,Jira,
Confluence,Outlook,Python,Rust,Java,TypeScript,React,Redis,Kafka,Terraform,Jenkins,PowerPoint,Acrobat,Node,GraphQL,OpenAPI,
Markdown,Swagger,Grafana,Prometheus,Spark,Hadoop,Ubuntu,Debian,Mustang,Galaxy S9,Playstation,Alexa,Siri""".replace("\n", "").split(",")
ACRONYMS = """IBAN SSN PIN VAT ZIP BIC SWIFT URL IP MAC CVV CVC OTP DOB ID API JWT SQL VIN NHS PAN TIN ITIN ISBN SKU PDF CSV
JSON XML HTML USB VPN CEO CTO FAQ ATM GPS PO CC NaN iban ssn pin url id zip""".split()
PLACEHOLDERS = ["[EMAIL_1]", "[PHONE_2]", "[CARD_1]", "[ADDRESS_1_k3f9]", "[PHONE_1_m2x7]"]
MONTHS = "January February March April May June July August September October November December".split()
STREET_ENDS = "Street St Ave Avenue Road Rd Lane Drive Blvd Court Way Place".split()
STREET_SUFFIXES = "straße strasse weg gasse allee platz straat gatan vägen vej".split()
STREET_STARTS = "rue avenue boulevard Rue Calle Avenida Via Piazza Rua Plaza ul.".split()
LINE_MARKS = ["> ", ">", "| ", "# ", "* ", "   ", "- ", "// ", "\t", "~ "]


def chance(share):
    return R.random() < share


def syllables(count):
    vowels = ["a", "e", "i", "o", "u", "an", "er", "or", "il", "en", "ar"]
    return "".join(R.choice("bcdfghjklmnprstvz") + R.choice(vowels) for _ in range(count))


def hybrid(of):
    """A new name: the beginning of one and the end of another."""
    first, second = R.choice(of).split()[0], R.choice(of).split()[0]
    cut = R.randint(1, max(1, len(first) * 2 // 3))
    rest = R.randint(len(second) // 3, max(len(second) // 3, len(second) - 2))
    name = first[:cut] + second[rest:].lower()
    return name if 3 <= len(name) <= 14 else first


def given(locale):
    own = LISTS["first"][locale]
    if chance(0.15):
        return hybrid(own)
    name = R.choice(own if chance(0.9) else GIVEN)
    return f"{name}-{R.choice(own)}" if chance(0.03) else name


def family(locale):
    if chance(0.10):
        return R.choice(GIVEN).split()[0].rstrip("aeioy") + R.choice(FAMILY_ENDS)
    if chance(0.05):
        return syllables(R.randint(1, 3)).capitalize() + R.choice(["", "", *FAMILY_ENDS])
    own = LISTS["last"].get(locale, [])
    if locale == "is_IS":
        return R.choice(LISTS["first"][locale]).split()[0] + R.choice(["son", "dóttir", "dottir"])
    if len(own) < 15:
        return R.choice(FAMILY)
    name = hybrid(own) if chance(0.2) else R.choice(own)
    if chance(0.04):
        return f"{name}-{R.choice(own)}"
    return R.choice(PARTICLES) + name if chance(0.03) else name


def full(locale):
    first, last = given(locale), family(locale)
    forms = [
        (7, lambda: f"{first} {R.choice(INITIALS)}. {last}"),
        (3, lambda: f"{first} {R.choice(INITIALS)} {last}"),
        (4, lambda: f"{first} {given(locale)} {last}"),
        (2, lambda: f"{R.choice(INITIALS)}. {last}"),
        (2, lambda: f"{first} {last} {R.choice(AFTER_NAMES)}"),
        (2, lambda: f"{first} {last} {family(locale)}"),
        (80, lambda: f"{first} {last}"),
    ]
    return R.choices([form for _, form in forms], [weight for weight, _ in forms])[0]()


def place():
    kind = R.random()
    if kind < 0.35:
        name = R.choice(CITIES)
    elif kind < 0.45:
        name = R.choice(FAMILY).replace(" ", "") + R.choice(PLACE_ENDS)
        name = name[:1].upper() + name[1:]
    else:
        name = R.choice(PLACES)
    return name.upper() if chance(0.04) else name


def organisation():
    who, word = (lambda: R.choice(FAMILY)), (lambda: R.choice(COMPANY_WORDS))
    institutes = ["University", "Bank", "Museum", "City", "Ministry", "Institute"]
    of_city = ["University", "Bank", "Hospital", "Airlines", "Museum", "Orchestra", "Institute"]
    forms = [
        (20, lambda: f"{who()} {R.choice(COMPANY_ENDS)}"),
        (7, lambda: f"{who()}, {who()} and {who()}"),
        (6, lambda: f"{who()}-{who()}"),
        (5, lambda: f"{who()} & {who()}"),
        (12, lambda: f"{word()} {word()} {R.choice(COMPANY_ENDS)}"),
        (10, lambda: word() + word().lower()),
        (8, lambda: f"{word()} {word()}"),
        (6, lambda: f"{R.choice(institutes)} of {R.choice(CITIES)}"),
        (6, lambda: f"{R.choice(CITIES)} {R.choice(of_city)}"),
        (6, lambda: R.choice(COMPANIES)),
        (7, lambda: "".join(R.choice("ABCDEFGHIKLMNOPRSTUVW") for _ in range(R.randint(3, 4)))),
        (7, lambda: syllables(2).capitalize() + R.choice(["ix", "co", "ly", "tech", "soft", "data", "o", "a", "on"])),
    ]
    return R.choices([form for _, form in forms], [weight for weight, _ in forms])[0]()


def street():
    number, who = R.randint(1, 9999), R.choice(FAMILY)
    return R.choice([
        lambda: f"{number} {who} {R.choice(STREET_ENDS)}",
        lambda: f"{number} {R.choice(['Main', 'Oak', 'High', 'Church', 'Park', 'Elm'])} {R.choice(['Street', 'St', 'Road'])}, "
        f"{R.choice(['Apt.', 'Suite', 'Unit'])} {R.randint(1, 900)}",
        lambda: f"{who}{R.choice(STREET_SUFFIXES)} {R.randint(1, 200)}",
        lambda: f"{R.choice(STREET_STARTS)} {R.choice(['de ', '', 'del ', 'di '])}{who} {R.randint(1, 200)}",
        lambda: f"{R.choice(STREETS)} {R.randint(1, 300)}",
        lambda: f"{number} {R.choice(STREETS)}",
    ])()  # fmt: skip


def date():
    day, month, year = R.randint(1, 28), R.randint(1, 12), R.randint(1930, 2025)
    name = R.choice(MONTHS)
    return R.choice(
        [f"{day}/{month}/{year}", f"{year}-{month:02}-{day:02}", f"{name} {day}, {year}", name, str(year), f"{day} {name} {year}"]
    )


def fill(template):
    """A text of a template, and its names: (start, end, kind)."""
    locale = R.choice(LOCALES)
    near = lambda: locale if chance(0.6) else R.choice(LOCALES)
    makers = {
        "P": lambda: R.choice([full, full, full, given, family])(near()),
        "F": lambda: given(near()),
        "L": lambda: family(near()),
        "FL": lambda: full(near()),
        "C": place,
        "N": lambda: R.choice(COUNTRIES),
        "O": organisation,
        "S": street,
        "J": lambda: R.choice(JOBS),
        "D": date,
        "T": lambda: f"{R.randint(100, 999)} {R.randint(100, 999)} {R.randint(1000, 9999)}",
        "M": lambda: f"{R.choice(GIVEN).split()[0].lower()}{R.randint(1, 99)}@example.com",
        "K": lambda: str(R.randint(1, 99999)),
        "NA": lambda: R.choice(NATIONS),
        "PH": lambda: R.choice(PLACEHOLDERS),
        "W": lambda: R.choice(THINGS),
        "A": lambda: R.choice(ACRONYMS),
    }
    kinds = {"P": "P", "F": "P", "L": "P", "FL": "P", "C": "L", "N": "L", "O": "O"}
    text, spans = "", []
    for part in re.split(r"(\{[A-Z]{1,2}\})", template):
        slot = re.fullmatch(r"\{([A-Z]{1,2})\}", part)
        value = makers[slot[1]]() if slot else part
        if slot and slot[1] in kinds:
            spans.append((len(text), len(text) + len(value), kinds[slot[1]]))
        text += value
    return text, spans


def marked_lines(text, spans):
    """The text with a mark before each line, as in quotes and comments."""
    mark, out, moved = R.choice(LINE_MARKS), "", {}
    at = 0
    for line in text.split("\n"):
        out += "\n" * (at > 0) + mark
        for offset in range(len(line) + 1):
            moved[at + offset] = len(out) + offset
        out += line
        at += len(line) + 1
    return out, [(moved[a], moved[b], kind) for a, b, kind in spans]


def without_accents(text, spans):
    out, moved = "", []
    for c in text:
        moved.append(len(out))
        out += names.fold(c)
    moved.append(len(out))
    return out, [(moved[a], moved[b], kind) for a, b, kind in spans]


def varied(text, spans):
    """The text, sometimes in lower case or capitals, without accents, or quoted."""
    if "\n" in text and chance(0.15):
        text, spans = marked_lines(text, spans)
    kind = R.random()
    if kind >= 0.12:
        return text, spans
    if kind >= 0.05:
        return without_accents(text, spans)
    other = text.lower() if kind < 0.035 else text.upper()
    return (other if len(other) == len(text) else text), spans


def swapped(text, spans):
    """The text with other names in the place of its own; equal names stay equal."""
    locale, out, last, new, known = R.choice(LOCALES), "", 0, [], {}
    swap = {"P": chance(0.7), "L": chance(0.4), "O": chance(0.25)}
    for start, end, kind in spans:
        old = text[start:end]
        value = old
        plain = re.fullmatch(r"[A-Z][^\W\d_]+([ ][A-Z][^\W\d_]+)*", old) and not old.isupper()
        if swap[kind] and plain:
            if old in known:
                value = known[old]
            elif kind == "P" and " " not in old:
                value = given(locale) if old.lower() in GIVEN_WORDS else family(locale)
            elif kind == "P":
                value = full(locale)
                known[old.split()[0]], known[old.split()[-1]] = value.split()[0], value.split()[-1]
            elif kind == "L":
                value = R.choice(COUNTRIES) if old in COUNTRIES else place()
            else:
                value = organisation()
            known[old] = value
        out += text[last:start]
        new.append((len(out), len(out) + len(value), kind))
        out += value
        last = end
    return out + text[last:], new
