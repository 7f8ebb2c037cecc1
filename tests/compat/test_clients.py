"""Programs of others with their own models: the labels of CRFsuite and of this package.

Each program runs twice, once with the original packages and once with this one in their
places, and prints what it finds.
"""

import importlib.util
import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

ALIAS = """
import sys
import skcrf_sdca.compat
sys.modules["sklearn_crfsuite"] = skcrf_sdca.compat
sys.modules["pycrfsuite"] = skcrf_sdca.compat.pycrfsuite
"""
# What the parsers of addresses and names share.
MADE = """
import itertools, json
streets = "Main", "2nd", "N Clark", "Martin Luther King Jr"
kinds = "St.", "Ave", "Blvd", "Hwy"
places = "Chicago, IL 60614", "New York NY", "Austin, Texas"
units = "", "Suite 100", "Apt 3B", "c/o John Smith"
addresses = [
    f"{number} {street} {kind} {unit} {place}"
    for number, (street, kind, place, unit) in enumerate(
        itertools.product(streets, kinds, places, units), 7
    )
]
titles, given = ("Mr", "Dr.", "Mrs"), ("Anna", "J. R.", "Mary & Bob", "Jean-Luc")
last, ends = ("Smith", "de la Cruz", "O'Brien", "Lee"), ("", "Jr.", "PhD", "LLC", "Inc")
names = list(map(" ".join, itertools.product(titles, given, last, ends)))
"""
CLIENTS = {
    "usaddress": MADE
    + """
import usaddress
print(json.dumps([usaddress.parse(address) for address in addresses]))
""",
    "probablepeople": MADE
    + """
import probablepeople
kinds = "generic", "person", "company"
print(json.dumps([probablepeople.parse(n, kind) for n in names for kind in kinds]))
""",
    "parserator": MADE
    + """
import os, tempfile
import pycrfsuite, usaddress
from parserator.training import trainModel
rows = [("", usaddress.parse(address)) for address in addresses]
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "m")
    trainModel(rows[::2], usaddress, path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    words = [[word for word, _ in row] for _, row in rows]
    print(json.dumps([tagger.tag(usaddress.tokens2features(own)) for own in words]))
    tagger.close()
""",
    "nltk": """
import json, os, sys, tempfile
import nltk
with tempfile.TemporaryDirectory() as folder:
    nltk.data.path.insert(0, folder)
    words = "the cat sat on a Mat and 2 dogs ran to the big House".split()
    tags = "D N V P D N C M N V P D A N".split()
    sentences = [list(zip(words, tags))[i : i + 6] for i in range(9)]
    tagger = nltk.tag.CRFTagger()
    tagger.train(sentences, os.path.join(folder, "m"))
    print(json.dumps(tagger.tag_sents([words[::-1], words, words[::2]])))
""",
    "pyvi": """
import json
from pyvi import ViPosTagger, ViTokenizer, ViUtils
texts = [
    "Trường đại học bách khoa hà nội. Xin chào các bạn, hôm nay trời đẹp.",
    "Tôi là sinh viên năm thứ 3 ở TP. Hồ Chí Minh, Việt Nam",
]
found = []
for text in texts:
    cut = ViTokenizer.tokenize(text)
    words, tags = ViPosTagger.postagging(cut)
    without = ViUtils.remove_accents(text).decode()
    found.append([cut, words, list(tags), ViUtils.add_accents(without)])
print(json.dumps(found))
""",
    "autopager": """
import json
import autopager
links = [("/about", "", "About us"), *((f"/list?page={n}", "", n) for n in range(1, 9))]
links += [("/list?page=2", "prev", "Previous"), ("/list?page=4", "next", "next »")]
links = [f'<a href="{url}" class="{kind}">{text}</a>' for url, kind, text in links]
page = f"<html><body><p>Text</p><div class='pages'>{''.join(links)}</div></body></html>"
found = [(kind, link.xpath("@href").get()) for kind, link in autopager.extract(page)]
print(json.dumps([found, autopager.urls(page, "http://example.com/list")]))
""",
    "pythainlp": """
import json
from pythainlp.chunk.crfchunk import CRFChunkParser
from pythainlp.tokenize import crfcut, han_solo
texts = [
    "ฉันไปประชุมเมื่อวันที่ 11 มีนาคม เขาไม่ได้ไปด้วยกัน แต่เขาส่งจดหมายมา",
    "ประเทศไทยมีเมืองหลวงคือกรุงเทพมหานคร ซึ่งเป็นเมืองที่ใหญ่ที่สุด",
]
words = [("ผม", "PPRS"), ("รัก", "VACT"), ("คุณ", "PPRS"), ("มาก", "ADVN")]
found = [[crfcut.segment(text), han_solo.segment(text)] for text in texts]
chunks = [CRFChunkParser().parse(own) for own in (words, words[::-1])]
print(json.dumps([found, chunks]))
""",
    "webstruct": """
import json
import webstruct
from webstruct.features import EXAMPLE_TOKEN_FEATURES
pages = [
    f"<html><body><h1>News of {year}</h1><p><ORG>{name}</ORG> has an <b>office</b> in "
    f"<CITY>{city}</CITY>, {street} Street.</p></body></html>".encode()
    for name, city, street, year in [
        ("Acme Corp", "Montevideo", "Main", 1999), ("Initech", "Austin", "Elm", 2012),
        ("Globex GmbH", "Berlin", "Park", 2020), ("Umbrella", "Raccoon City", "1st", 98)
    ]
]
loader = webstruct.GateLoader(known_entities={"ORG", "CITY"})
tokenizer = webstruct.HtmlTokenizer(tagset=["ORG", "CITY"])
X, y = tokenizer.tokenize([loader.loadbytes(page) for page in pages])
model = webstruct.create_crfsuite_pipeline(EXAMPLE_TOKEN_FEATURES, c2=0.1)
model.fit(X[:3], y[:3])
ner = webstruct.NER(model, loader=webstruct.HtmlLoader())
plain = b"<html><body><p>Hooli has an office in Oslo, Main Street.</p></body></html>"
print(json.dumps([list(map(list, model.predict(X))), ner.extract(plain)]))
""",
    "eli5": """
import json
import eli5, sklearn_crfsuite
X = [[{"w": word, "last": word[-1]} for word in s.split()]
     for s in ["the cat sat in Rome", "Anna saw a dog", "Paris is big"]]
y = [["PLACE" if x["w"] in ("Rome", "Paris") else "PERSON" if x["w"] == "Anna" else "O"
      for x in s] for s in X]
crf = sklearn_crfsuite.CRF(c2=0.1).fit(X, y)
told = eli5.format_as_dict(eli5.explain_weights(crf, top=(1, 0)))
# The weights differ, as there is an intercept here; what has the largest does not.
largest = {t["target"]: t["feature_weights"]["pos"][0] for t in told["targets"]}
places = [largest[name]["feature"] for name in ("PERSON", "PLACE")]
print(json.dumps([told["transition_features"]["class_names"], places]))
""",
}


def printed(code):
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("client", CLIENTS)
def test_labels_are_those_of_crfsuite(client):
    for name in (client, "pycrfsuite", "sklearn_crfsuite"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    expected = printed(CLIENTS[client])
    assert expected
    assert printed(ALIAS + CLIENTS[client]) == expected
