# ruff: noqa: RUF001
"""Texts in many scripts and forms of letters, and absences that spell their words otherwise."""

from dataclasses import dataclass
from unicodedata import normalize


@dataclass(frozen=True)
class Spelling:
    """A text, and an absence that names words of the text in other code points.

    If ``found`` is set, the check finds the words. Otherwise they belong to a script that cannot be
    divided into words, so their absence must stay unchecked. ``other`` are words that no text
    contains.
    """

    text: str
    absence: str
    other: str = ""
    found: bool = True


SPELLINGS = {
    "decomposed German": Spelling(
        normalize("NFD", "Die Brennöfen für Töpferware wurden zerstört."),
        "Brennöfen, Töpferware",
        "Glühöfen",
    ),
    "composed German": Spelling(
        "Die Brennöfen für Töpferware.", normalize("NFD", "Brennöfen, Töpferware")
    ),
    "decomposed Vietnamese": Spelling(
        normalize("NFD", "Nghiên cứu về giấc ngủ của phi công"), "giấc ngủ", "núi lửa"
    ),
    "ligatures": Spelling(
        "The \ufb01ring of stoneware took e\ufb00ort in a \ufb02ame kiln.",
        "firing, effort, flame",
        "offing",
    ),
    "soft hyphens": Spelling(
        "The infor\u00admation on tem\u00adperature was lost.", "information, temperature"
    ),
    "zero width": Spelling(
        "The zi\u200brconium cru\u2060ci\ufeffble cracked.", "zirconium crucible"
    ),
    "joiners of Persian": Spelling("کتاب\u200cخانه بزرگ بود", "کتابخانه", "فرودگاه"),
    "points of Arabic": Spelling("تتناول الدراسة النَّومَ عند الطيّارين", "النوم الطيارين", "البركان"),
    "stretched Arabic": Spelling("كتـــاب عن الخزف", "كتاب الخزف", "بركان"),
    "points of Hebrew": Spelling("שֵׁנָה וְזִכָּרוֹן של טייסים", "שנה טייסים", "כבשן"),
    "Hindi": Spelling("यह अध्ययन नींद और स्मृति के बारे में है", "नींद और स्मृति", "क्वांटम और गुरुत्वाकर्षण"),
    "decomposed Hindi": Spelling("लड़का सड़क पर है", normalize("NFD", "लड़का सड़क"), "पहाड़"),
    "Tamil": Spelling(normalize("NFD", "மட்பாண்டம் கொண்டது"), "மட்பாண்டம் கொண்டது", "எரிமலை"),
    "Bengali": Spelling(normalize("NFD", "ঘুমের সময় বাড়ে"), "সময় বাড়ে", "আগ্নেয়গিরি"),
    "Greek capitals": Spelling("Η ΌΠΤΗΣΗ ΤΟΥ ΠΗΛΟΎ ΚΑΙ Ο ΠΗΛΌΣ", "όπτηση πηλός", "ηφαίστειο"),
    "Greek capitals without accents": Spelling("Η ΟΠΤΗΣΗ ΚΑΙ Ο ΠΗΛΟΣ", "όπτηση πηλός", "ηφαίστειο"),
    "stress and dots of Russian": Spelling(
        "Зелёный чере\u0301п из гли\u0301ны", "зеленый череп", "вулкан"
    ),
    "hamza of Arabic": Spelling("أحمد في مدرسة إلى مستشفى", "احمد مدرسه مستشفي", "بركان"),
    "letters of Persian": Spelling("کتاب فارسی", "كتاب فارسي", "فرودگاه"),
    "nasal signs of Hindi": Spelling("चांदी की खान", "चाँदी खान", "पहाड़"),
    "letters of Malayalam": Spelling("അവന്\u200d വന്നു", "അവൻ", "അഗ്നി"),
    "digits of Hindi": Spelling("वर्ष १९८७ में", "1987", "1988"),
    "letters of two": Spelling("L’œuvre et l'encyclopædia", "oeuvre, encyclopaedia", "ouvre"),
    "Turkish capitals": Spelling("İSTANBUL ÇİNİ FIRINI", "istanbul çini fırını", "yanardağ"),
    "sharp s": Spelling("Die Straße nach Gießen ist gesperrt.", "Strasse Giessen", "Maßstab"),
    "full width": Spelling("ＡＢＣ１２３ glazed ｔｉｌｅ", "ABC123 tile", "ABC124"),
    "mathematical letters": Spelling("The 𝐞𝐧𝐭𝐫𝐨𝐩𝐲 of 𝔤𝔩𝔞𝔷𝔢", "entropy glaze", "enthalpy"),
    "subscripts": Spelling("H₂O and CO₂ from the oven", "CO2 oven", "SO2"),
    "trade and footnote signs": Spelling("Kilnex™ stoneware² holds", "Kilnex stoneware", "Kilnix"),
    "line ends": Spelling(
        "The stake-\nholders re-\n  quested a sur-\nvey of a well-\nknown quarry.",
        "stakeholders, requested, survey, known",
        "holdersre",
    ),
    "hyphens": Spelling("The cooperation of potters", "co-operation of potters", "co-optation"),
    "no hyphens": Spelling("The co‑operation of pot-ters", "cooperation of potters", "operationof"),
    "large numbers": Spelling(
        "The oven reached 1,200 degrees and 12\u202f500 tiles", "1200, 12,500", "1300"
    ),
    "Thai": Spelling("เอกสารนี้กล่าวถึงการนอนหลับของนักบิน", "ไม่มีการนอนหลับของนักบิน", "เตาเผา", found=False),
    "Lao": Spelling("ເອກະສານນີ້ກ່າວເຖິງການນອນ", "ບໍ່ມີການນອນ", "ພູໄຟ", found=False),
    "Khmer": Spelling("ឯកសារនេះនិយាយអំពីការគេង", "គ្មានការគេង", "ភ្នំភ្លើង", found=False),
    "Myanmar": Spelling("ဤစာတမ်းသည်အိပ်ခြင်းအကြောင်းဖြစ်သည်", "အိပ်ခြင်းမရှိ", "မီးတောင်", found=False),
    "Chinese": Spelling("本文討論陶器的燒成溫度。", "未提及燒成溫度", "火山", found=False),
    "Japanese": Spelling("本論は焼成温度を述べる。", "焼成温度の記述がない", "火山", found=False),
    "Korean": Spelling(
        normalize("NFD", "이 문서는 수면과 기억을 다룬다."), "수면에 관한 내용", "화산", found=False
    ),
}
"""Spellings by script or form of letters."""
