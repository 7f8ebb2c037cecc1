// Prints the pages that the search box of built pages finds, the best one first:
//     node search_results.js HTML '["missing values", "drift"]'
const fs = require("fs");
const vm = require("vm");

const [html, searches] = process.argv.slice(2);
// What the scripts of Sphinx ask of a browser before the first search.
const none = () => null;
const page = {
  document: {
    documentElement: { dataset: {} },
    querySelector: none,
    getElementById: none,
    addEventListener: none,
  },
  location: { search: "" },
  DOCUMENTATION_OPTIONS: {},
  SPHINX_HIGHLIGHT_ENABLED: false,
  URLSearchParams,
  _ready: none,
  _: (text) => text,
};
page.window = page;
vm.createContext(page);
const run = (code) => vm.runInContext(code, page);
for (const name of ["_static/language_data.js", "_static/searchtools.js"]) {
  run(fs.readFileSync(`${html}/${name}`, "utf8"));
}
run("window.Search = Search");
run(fs.readFileSync(`${html}/searchindex.js`, "utf8"));
const found = JSON.parse(searches).map((search) => {
  page.location.search = `?q=${encodeURIComponent(search)}`;
  page.query = search;
  const results = run("Search._performSearch(...Search._parseQuery(query))");
  // The best result is the last one.
  return [...new Set(results.map(([name]) => name).reverse())];
});
console.log(JSON.stringify(found));
