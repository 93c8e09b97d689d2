"""Meanings of column headings: sizes, shares, starts and ends of a flow, and other quantities."""

import itertools
import re
import unicodedata
from collections.abc import Mapping, Sequence

from shortflow.imports.units import of_text

START, SOURCE, DESTINATION, SIZE = "start", "source", "destination", "bytes"
SHARE, SUMS, COUNTS, BYTE_SHARE = "share", "sums", "counts", "byte share"
INDEX, GENERIC, OTHER = "index", "generic", "other"

FLOW: Mapping[str, Sequence[str]] = {
    START: (
        *("start", "start_s", "start_time", "starttime", "ts", "time", "timestamp", "firstseen", "first_seen", "first"),
        *("arrival", "arrival_time", "arrival_s"),
        *("beginn", "startzeit", "anfang", "zeit", "zeitstempel", "debut", "heure_de_debut", "horodatage", "temps"),
        *("heure", "inicio", "hora_de_inicio", "comienzo", "tiempo", "hora", "marca_de_tiempo"),
    ),
    SOURCE: (
        *("source", "src", "sa", "srcaddr", "src_addr", "src_ip", "srcip", "ip_src", "source_ip", "src_host", "sip"),
        *("quelle", "quelladresse", "quell_ip", "quell_adresse", "absender", "sender", "ip_source", "adresse_source"),
        *("from", "expediteur", "origen", "ip_origen", "ip_de_origen", "direccion_origen", "direccion_de_origen"),
    ),
    DESTINATION: (
        *("destination", "dst", "dest", "da", "dstaddr", "dst_addr", "dst_ip", "dstip", "ip_dst", "destination_ip"),
        *(
            "to",
            "receiver",
            "dst_host",
            "dip",
            "ziel",
            "zieladresse",
            "ziel_ip",
            "ziel_adresse",
            "empfanger",
            "empfaenger",
        ),
        *("ip_destination", "adresse_destination", "destinataire", "destino", "ip_destino", "ip_de_destino"),
        *("direccion_destino", "direccion_de_destino"),
    ),
    SIZE: (
        *("bytes", "size", "size_bytes", "flow_size", "ibyt", "in_bytes", "octets", "doctets", "byt", "nbytes"),
        *("totbytes", "tot_bytes", "total_bytes", "bytes_total", "grosse", "groesse", "volumen", "datenmenge"),
        *("taille", "volume", "octetos", "tamano", "kbytes", "mbytes", "bits", "kbits", "srcbytes", "src_bytes"),
        *("bytes_sent", "sent_bytes", "orig_bytes"),
    ),
}
"""Headings of a trace, in lower case without accents. German, French and Spanish headings follow the English ones."""
FURTHER: Mapping[str, Sequence[str]] = {
    "class": ("class",),
    "deadline": ("deadline",),
    "back": ("obyt", "out_bytes", "dstbytes", "dst_bytes", "bytes_received", "received_bytes", "resp_bytes"),
}
"""Further headings. `back` is the bytes of the other direction, in flows of nfdump, Argus, Zeek and firewalls."""
ONE_WAY = ("ibyt", "in_bytes", "srcbytes", "src_bytes", "bytes_sent", "sent_bytes", "orig_bytes")
PROTOCOLS = ("proto", "protocol", "pr", "prot", "l4_proto", "ip_proto", "protokoll", "protocole", "protocolo")
BYTES = ("ibyt", "obyt", "byt", "doctets")
"""Abbreviations whose unit is bytes."""

_TIME_UNIT = re.compile(r"[ _(\[]+(ps|ns|us|ms|s|sec|seconds|sekunden|secondes|segundos)[)\]]*$")
_TIMES = re.compile(
    r"(?i)(?<!completion )(?<!finish )(?<!end )\b(?:(?:start|arrival)[ _]times?|times?|timestamps?|starts?|arrivals?)\b"
    r"(?: (?:units?|are|is|given|of|flows?|starts?|the))*\s*[:=]?\s*(?:in\s+)?[(\[]?"
    r"(ps|ns|us|µs|ms|s|(?:nano|micro|milli)?seconds?)\b"
)
"""Starts with their unit in a comment, except completion times."""
_SIZE_UNIT = re.compile(
    r"[ _(\[]+((in|en)_)?(([kmgt]i?|kilo|mega|giga|tera)?(b|bytes?|octets?|bits?)|[kmg]i?o|packets|pkts|pakete|paquets|"
    r"paquetes)[)\]]*$"
)
_THING = r"(?:flow|message|msg|response|request|object|file|transfer|rpc|payload|data|job|query|total|num|n)s?"
_SIZES = re.compile(
    rf"(?:{_THING}_*)*(?:size|bytes?|octets?|length|len|packets?|pkts?|segments?|pakete|paquets?|paquetes?|"
    r"(?:fluss|datei)?gr(?:o|oe)sse|taille|tamano|volumen?)s?"
)
_PACKETS = re.compile(r"packet|pkt|segment|paket|paquet")
_SHARES = re.compile(
    r"cdf|share|frac|prob|per_?cent|pct|%|quantile|^p$|pdf|anteil|prozent|wahrscheinlich|proportion|"
    r"pour_?cent|por_?ciento|porcent|^part$"
)
_OF_BYTES = re.compile(r"_of_(the_)?(bytes|traffic|volume|data)|^(bytes?|traffic|volume)_(share|frac)|weighted")
"""Shares of bytes, which are not shares of flows."""
_COUNTS = re.compile(
    r"(.*_)?(counts?|freq(uency)?|hits|occurrences|weights?|flows|anzahl|haufigkeit|nombre|frequence|numero|frecuencia)"
    r"(_.*)?"
)
_SUMS = re.compile(r"cumul|kumul|acumul|summiert|(^|_)(running|cum)(?![a-z])|up_to|at_most")
_INDEX = re.compile(r"|#|\d+|(unnamed.*|index|idx|id|no|nr|row|flow|(flow|row|conn)_?(id|no|nr|index)?|uid)\.?")
_GENERIC = re.compile(r"x|y|values?|wert|valeur|valor|(v|c|col|column|spalte|colonne|columna|field)_?\d+")
_OTHERS = re.compile(
    r"(^|_)(fct|times?|zeit|temps|tiempo|durations?|dauer|duree|duracion|td|te|end|ende|fin|stop|finish|last|latency|"
    r"delay|rtt|slowdown|gap|interarrival|iat|rates?|throughput|goodput|bandwidth|bps|load|queue|qlen|window|cwnd|mss|"
    r"ports?|sport|dport|sp|dp|buffer|pps|flags|proto|protocol|ttl|mtu|seq|ack|drops?|marks?)(_|$)"
)
"""Words of quantities that are not flow sizes, or of columns that say nothing about sizes."""
_CLAUSES = re.compile(r"[;,.:](?=\s|$)|\b(?:and|und|et|y)\b")
_SETTINGS = re.compile(
    r"(^|_)(buffers?|memory|links?|speeds?|capacity|thresholds?|limits?|counters?|windows|queues|headers?|"
    r"(packet|pkt|segment)s?_sizes?)(_|$)"
)
"""Words of settings that comments may mention."""
_OTHER_SIZES = re.compile(r"(buffer|queue|window|packet|pkt|segment|memory|header|mss|mtu)s?_sizes?")
_SIZE_WORD = re.compile(r"size|groesse|grosse|taille|tamano|volum")
_STATISTIC = re.compile(r"(?i)\b(mean|average|avg|median|total|sum|largest|smallest|max(imum)?|min(imum)?)\b")
_JOINING = {"in", "of", "on", "and", "for", "with", "from", "is", "are"}
"""Words that neither begin nor end a heading."""
_SETTING = re.compile(r"=\s*\d|^[\d.]+[,;]?$")
"""A number in a comment. Headings have no such numbers."""


def plain_heading(name: str) -> str:
    """A heading in lower case, without accents, with underscores between words."""
    letters = unicodedata.normalize("NFKD", name.strip().casefold())
    return re.sub(r"[ -]+", "_", "".join(each for each in letters if not unicodedata.combining(each)))


def column_of(names: Sequence[str], known: Sequence[str], *, of_sizes: bool) -> int | None:
    """Index of the column with the first of the known names, with or without a unit suffix. None if there is none."""
    unit = _SIZE_UNIT if of_sizes else _TIME_UNIT
    words = [plain_heading(name) for name in names]
    plain = [name if name in known else unit.sub("", name) for name in words]
    return next((plain.index(each) for each in known if each in plain), None)


def unit_of_times(name: str) -> str | None:
    """Unit suffix of a heading of times. None without a suffix."""
    unit = _TIME_UNIT.search(plain_heading(name))
    return (unit[1] if unit[1] in ("ps", "ns", "us", "ms") else "s") if unit else None


def unit_of_times_in(comment: str) -> str | None:
    """The unit of starts that a comment names, as in `times in us` or `unit of time: ms`. None for another comment."""
    found = _TIMES.search(comment)
    if not found:
        return None
    word = found[1].lower()
    prefixes = {"milli": "ms", "micro": "us", "nano": "ns", "µ": "us"}
    return next(
        (unit for prefix, unit in prefixes.items() if word.startswith(prefix)), word[:2] if len(word) == 2 else "s"
    )


def meaning(name: str) -> str:
    """The meaning of a heading. Empty if unknown."""
    word = plain_heading(name)
    untimed, unsized = _TIME_UNIT.sub("", word), _SIZE_UNIT.sub("", word)
    known = (
        *((of, word in FLOW[of] or untimed in FLOW[of]) for of in (START, SOURCE, DESTINATION)),
        (BYTE_SHARE, _SHARES.search(word) and _OF_BYTES.search(word)),
        (SHARE, _SHARES.search(word)),
        (SUMS, _COUNTS.fullmatch(word) and _SUMS.search(word)),
        (COUNTS, _COUNTS.fullmatch(word)),
        (SHARE, _SUMS.search(word)),
        ("back", word in FURTHER["back"] or unsized in FURTHER["back"]),
        (SIZE, word in FLOW[SIZE] or unsized in FLOW[SIZE] or _SIZES.fullmatch(unsized)),
        (SIZE, of_text(name.strip(" ()[]"))),
        (INDEX, _INDEX.fullmatch(word)),
        (OTHER, _OTHERS.search(untimed) or word in FURTHER["class"] or untimed in FURTHER["deadline"]),
        (GENERIC, _GENERIC.fullmatch(word)),
    )
    return next((of for of, is_so in known if is_so), "")


def sizes_among(names: Sequence[str]) -> list[int]:
    """Columns of sizes. Columns that count packets are left out if there are other columns of sizes."""
    found = [place for place, name in enumerate(names) if meaning(name) == SIZE]
    others = [place for place in found if not _PACKETS.search(plain_heading(names[place]))]
    return others or found


def _is_clear(names: Sequence[str]) -> bool:
    """True if all headings have a known meaning, and at most one means sizes."""
    known = [meaning(name) for name in names]
    return not {"", GENERIC, INDEX}.intersection(known) and known.count(SIZE) < 2


def clauses_on_sizes(comment: str) -> list[str]:
    """The clauses of a comment, without clauses on other quantities such as `buffer size in KB` or `rates in Mbit`."""
    return [clause for clause in _CLAUSES.split(comment) if _is_on_sizes(clause)]


def has_statistic(clause: str) -> bool:
    """True for a clause with a value of a mean, a sum or an extreme, whose unit may differ from the column's unit."""
    return bool(_STATISTIC.search(clause)) and any(each.isdigit() for each in clause)


def _is_on_sizes(clause: str) -> bool:
    words = plain_heading(re.sub(r"\W+", " ", clause).strip())
    others = _OTHERS.search(words) or _SETTINGS.search(words)
    return not others or bool(_SIZE_WORD.search(_OTHER_SIZES.sub("", words)))


def grouped(words: Sequence[str], width: int) -> Sequence[str]:
    """Headings of `width` columns from words between blanks, such as `flow size (KB) cdf`.

    Returns the words unchanged unless all divisions with clear meanings have the same meanings.
    """
    if not 1 < width < len(words) <= 2 * width + 4:
        return words
    found = []
    for ends in itertools.combinations(range(1, len(words)), width - 1):
        parts = [" ".join(words[a:b]) for a, b in itertools.pairwise((0, *ends, len(words)))]
        ends_well = not _JOINING.intersection(
            word.lower() for part in parts for word in (part.split()[0], part.split()[-1])
        )
        if ends_well and _is_clear(parts):
            found.append(parts)
    meanings = {tuple(map(meaning, parts)) for parts in found}
    return found[-1] if len(meanings) == 1 else words  # of `size KB cdf`, the last division keeps KB with the size


def commented(remarks: Sequence[tuple[int, str]], width: int, separator: str) -> tuple[int, Sequence[str]]:
    """Line and headings of `width` columns from the last comment with such headings, as `# fct cdf`.

    Line 0 without one.
    """
    for line, text in reversed(remarks):
        words = text.lstrip("#/%; ").split(separator or None)
        if any(_SETTING.search(word) for word in words):
            continue
        names = [name.strip() for name in words] if separator else grouped(words, width)
        if len(names) == width > 1 and _is_clear(names):
            return line, names
    return 0, []
