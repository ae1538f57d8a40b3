// The search of the site. It needs no server: search_index.js, made by docs/site/search.py, has the text of all sections.
"use strict";

const KINDS = {
  "function": { weight: 1.5, name: "interface" },
  "how-to": { weight: 1.7, name: "how-to" },
  "start": { weight: 1.35, name: "guide" },
  "page": { weight: 1.1, name: "page" },
  "reference": { weight: 1, name: "reference" },
  "internals": { weight: 0.5, name: "inside" },
};
const LANGUAGES = { "fortran": "fortran", "python": "python", "c++": "cxx", "cpp": "cxx", "c": "c" };
const IGNORED = new Set(("a an and are as at be can do does for from has have how i in is it many my of on or the to use " +
  "what when where which why will with").split(" "));

/** The words of a query. "sf::sum" is "sum"; a word that counts for nothing stays if there is no other. */
function wordsOf(query) {
  const all = query.toLowerCase().replace(/\bsf::/g, "").match(/[a-z0-9_]+(\+\+)?/g) || [];
  const kept = all.filter((word) => !IGNORED.has(word));
  return kept.length ? kept : all;
}

/** Without an ending, so that "ranks" finds "rank", and "replacing" finds "replace". */
function stemOf(word) {
  const stem = word.replace(/(ing|ed|es|e|s)$/, "");
  return stem.length >= 3 ? stem : word;
}

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** What finds a word: itself, and other words that begin with its stem. */
function matcherOf(word) {
  return {
    word,
    itself: new RegExp(`(?<![a-z0-9])${escaped(word)}(?![a-z0-9])`, "g"),
    near: new RegExp(`(?<![a-z0-9])${escaped(stemOf(word))}`, "g"),
  };
}

const count = (text, expression) => (text.match(expression) || []).length;

/** How well a word fits a text: 1 if it stands there, less if only its stem does, 0 if neither. */
function fit(text, matcher) {
  if (count(text, matcher.itself)) return 1;
  return count(text, matcher.near) ? 0.7 : 0;
}

/** Sections in lower case, and what a function's title names. The first section of a page stands for all of its text. */
function prepared(index) {
  const pages = new Map();
  for (const [page, , , , , prose, code] of index) pages.set(page, `${pages.get(page) || ""} ${prose} ${code}`);
  return index.map(([page, anchor, title, pageTitle, kind, prose, code]) => ({
    page, anchor, title, pageTitle, kind, prose, code,
    lower: {
      title: `${title} ${anchor === "" ? page.replace(/.*\//, "") : ""}`.toLowerCase(),
      pageTitle: `${pageTitle} ${page}`.toLowerCase(),
      text: (anchor === "" ? pages.get(page) : `${prose} ${code}`).toLowerCase(),
    },
    names: title.toLowerCase().split(", ").flatMap((name) => [name, name.replace(/^(sf_|steadfold )/, "")]),
    count: title.split(", ").length, // of names, if it is a function
    share: kind === "function" ? Math.min(1, 3 / title.split(", ").length) : 1, // a title of many names says less of each
  }));
}

/** What a word adds to a section: most in a title, less in the page's title, least in the text. */
function worth(entry, matcher) {
  const inTitle = 8 * fit(entry.lower.title, matcher) * entry.share;
  const inPageTitle = 4 * fit(entry.lower.pageTitle, matcher);
  const times = count(entry.lower.text, matcher.itself) + 0.5 * count(entry.lower.text, matcher.near);
  const named = entry.kind === "function" && entry.names.includes(matcher.word) ? 8 * entry.share : 0;
  const density = times / (0.4 + entry.lower.text.length / 800); // a long text has every word somewhere
  return inTitle + inPageTitle + named + (5 * density) / (1 + density);
}

/** Sections that fit a query, best first: at most two of each page, and each text once. */
function find(entries, query, most = 40) {
  const matchers = wordsOf(query).map(matcherOf);
  if (!matchers.length) return [];
  const worths = matchers.map((matcher) => entries.map((entry) => worth(entry, matcher)));
  // A word that few sections have says more than one that all have.
  const rarity = worths.map((each) => Math.log(1 + entries.length / (1 + each.filter((value) => value > 0).length)));
  const all = rarity.reduce((sum, each) => sum + each, 0);
  const asked = matchers.map((matcher) => matcher.word);
  const language = asked.map((word) => LANGUAGES[word]).find(Boolean);
  const name = asked.filter((word) => !LANGUAGES[word]).join(" ");
  const scored = entries.map((entry, at) => {
    let sum = 0;
    let covered = 0;
    matchers.forEach((_, word) => {
      sum += rarity[word] * worths[word][at];
      covered += worths[word][at] > 0 ? rarity[word] : 0;
    });
    const isNamed = entry.kind === "function" && entry.share === 1 && entry.names.includes(name) &&
      (!language || entry.page.startsWith(`reference/${language}/`));
    const first = entry.anchor === "" ? 1.2 : 1; // a page says more than one section of it
    const score = sum * (covered / all) ** 2 * KINDS[entry.kind].weight * first;
    return { entry, score: score + (isNamed ? 1000 / entry.count : 0) };
  });
  const taken = new Map();
  const texts = new Set();
  return scored.filter((each) => each.score > 0).sort((a, b) => b.score - a.score).filter(({ entry }) => {
    const text = `${entry.title} ${entry.prose}`;
    if (texts.has(text) || taken.get(entry.page) === 2) return false;
    texts.add(text);
    taken.set(entry.page, (taken.get(entry.page) || 0) + 1);
    return true;
  }).slice(0, most).map(({ entry }) => entry);
}

/** Some 200 letters around the place where most of the words stand. */
function excerptOf(entry, query) {
  const text = entry.prose || entry.code;
  const lower = text.toLowerCase();
  const length = 200;
  let best = { begin: 0, found: 0 };
  const matchers = wordsOf(query).map(matcherOf);
  const places = matchers.flatMap(({ near }) => [...lower.matchAll(near)].map((match) => match.index)).slice(0, 200);
  for (const place of places) {
    const begin = Math.max(0, place - 60);
    const part = lower.slice(begin, begin + length);
    const found = matchers.filter((matcher) => fit(part, matcher)).length;
    if (found > best.found) best = { begin, found };
  }
  const begin = best.begin ? text.indexOf(" ", best.begin) + 1 : 0;
  const end = begin + length < text.length ? text.lastIndexOf(" ", begin + length) : text.length;
  return `${begin ? "… " : ""}${text.slice(begin, end)}${end < text.length ? " …" : ""}`;
}

/** An element with a text in which the words are marked. */
function marked(tag, text, query) {
  const element = document.createElement(tag);
  const stems = wordsOf(query).map((word) => escaped(stemOf(word)));
  const parts = stems.length ? text.split(new RegExp(`((?<![a-z0-9])(?:${stems.join("|")})[a-z0-9]*)`, "i")) : [text];
  parts.forEach((part, at) => {
    if (at % 2) element.appendChild(document.createElement("mark")).textContent = part;
    else element.append(part);
  });
  return element;
}

function shown(entry, query) {
  const item = document.createElement("li");
  const link = item.appendChild(document.createElement("a"));
  link.href = `${entry.page}.html${entry.anchor ? `#${entry.anchor}` : ""}`;
  link.append(entry.title);
  const where = item.appendChild(document.createElement("span"));
  where.className = "where";
  where.textContent = entry.anchor || entry.pageTitle !== entry.title ? `${entry.pageTitle} · ${KINDS[entry.kind].name}`
    : KINDS[entry.kind].name;
  item.appendChild(marked("p", excerptOf(entry, query), query));
  return item;
}

function show() {
  const query = new URLSearchParams(window.location.search).get("q") || "";
  const place = document.getElementById("found");
  document.getElementById("asked").value = query;
  const found = find(prepared(SEARCH_INDEX), query);
  place.replaceChildren(...found.map((entry) => shown(entry, query)));
  const said = found.length ? `${found.length} best places for “${query}”`
    : `Nothing has “${query}”. Try one word of it, or see the questions.`;
  document.getElementById("count").textContent = query ? said : "Type some words: a function, a question, a problem.";
}

if (typeof document !== "undefined") document.addEventListener("DOMContentLoaded", show);
