"""Meanings of column headings: sizes, shares, starts and ends of a flow, and other quantities."""

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
OTHERS = re.compile(
    r"(^|_)(fct|times?|zeit|temps|tiempo|durations?|dauer|duree|duracion|td|te|end|ende|fin|stop|finish|last|latency|"
    r"delay|rtt|slowdown|gap|interarrival|iat|rates?|throughput|goodput|bandwidth|bps|load|queue|qlen|window|cwnd|mss|"
    r"ports?|sport|dport|sp|dp|buffer|pps|flags|proto|protocol|ttl|mtu|seq|ack|drops?|marks?)(_|$)"
)
"""Words of quantities that are not flow sizes, or of columns that say nothing about sizes."""


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
        (OTHER, OTHERS.search(untimed) or word in FURTHER["class"] or untimed in FURTHER["deadline"]),
        (GENERIC, _GENERIC.fullmatch(word)),
    )
    return next((of for of, is_so in known if is_so), "")


def sizes_among(names: Sequence[str]) -> list[int]:
    """Columns of sizes. Columns that count packets are left out if there are other columns of sizes."""
    found = [place for place, name in enumerate(names) if meaning(name) == SIZE]
    others = [place for place in found if not _PACKETS.search(plain_heading(names[place]))]
    return others or found
