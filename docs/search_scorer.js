// How the search box orders pages. As by default, words in titles count most. But the pages
// of the guide come before the examples and the reference, and pages that list everything
// last; and titles of pages and sections that have the words of the search come before others.
// Words that a page does not use, but that its readers may search, are its meta keywords,
// one by one: Sphinx finds no keyword that has a blank.
const WEIGHTS = [
  [/(^|\/)(changelog|genindex|index|paper_rows|contributing)$/, 0.2],
  [/(^|\/)(glossary|results)$/, 0.5],
  [/^api\//, 0.6],
  [/^auto_examples\//, 0.8],
];

function searchedWords() {
  const query = new URLSearchParams(window.location.search).get("q") || "";
  return query.toLowerCase().split(/\W+/).filter((word) => word.length > 2 || /\d/.test(word));
}

function shareInTitle(title) {
  const words = searchedWords();
  const own = title.toLowerCase().split(/\W+/);
  const found = words.filter((word) => own.some((other) => other.startsWith(word)));
  return words.length ? found.length / words.length : 0;
}

// The largest share in one title of the sections of the page, by the index of Sphinx.
function shareInSections(page) {
  const { docnames, alltitles } = Search._index;
  const number = docnames.indexOf(page);
  const shares = Object.entries(alltitles).map(([title, places]) =>
    places.some(([doc]) => doc === number) ? shareInTitle(title) : 0,
  );
  return Math.max(0, ...shares);
}

// The names are those that Sphinx asks for; the numbers are its own.
var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    const [, weight] = WEIGHTS.find(([pattern]) => pattern.test(page)) || [null, 1];
    const share = Math.max(5 * shareInTitle(title), 4 * shareInSections(page));
    return weight * score + share;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
