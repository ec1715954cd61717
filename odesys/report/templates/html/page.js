"use strict";
// Filter the claims, copy TeX, open a claim that a link points to, follow the proof graph. The page can be read without it.
(() => {
  const root = document.documentElement;
  root.classList.remove("no-script");
  const one = (selector) => document.querySelector(selector);
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

  const rows = all("[data-claim]");
  const boxes = all(".filters input[type=checkbox]");
  const search = one(".filters input[type=search]");
  const texts = new Map();  // of the rows, as they are first searched
  function textOf(row) {
    if (!texts.has(row)) {
      const link = row.querySelector(":scope > a");  // to the card, where that stands under the changes
      const card = link ? document.getElementById(link.getAttribute("href").slice(1)) : row;
      const said = all(":scope > summary .head, .how > dl > dd:nth-of-type(-n+2)", card).map((e) => e.textContent);
      const formula = card.querySelector(".formula");
      texts.set(row, [row.dataset.claim, ...said, formula ? formula.dataset.tex : ""].join(" ").toLowerCase());
    }
    return texts.get(row);
  }
  const chosen = (group) => boxes.filter((b) => b.name === group && b.checked).map((b) => b.value);
  function filter() {
    const verdicts = chosen("verdict"), evidence = chosen("evidence");
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const anyEvidence = boxes.every((b) => b.name !== "evidence" || b.checked);
    let shown = 0;
    for (const row of rows) {
      const { verdict, evidence: strength } = row.dataset;
      const fits = verdicts.includes(verdict) && (strength ? evidence.includes(strength) : anyEvidence)
        && words.every((word) => textOf(row).includes(word));
      row.hidden = !fits;
      shown += fits;
    }
    one("#shown").textContent = `${shown} of ${rows.length} claims shown`;
  }
  if (search) {
    boxes.forEach((box) => box.addEventListener("change", filter));
    search.addEventListener("input", filter);
    one("#reset").addEventListener("click", () => {
      boxes.forEach((box) => { box.checked = true; });
      search.value = "";
      filter();
    });
    filter();
  }

  async function unfold(packed) {  // what is folded at first is kept compressed
    const bytes = Uint8Array.from(atob(packed.textContent), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const parts = (await new Response(stream).text()).split("\f");
    for (const place of all("[data-part]")) {
      place.lastElementChild.remove();
      place.insertAdjacentHTML("beforeend", parts[place.dataset.part]);
    }
    texts.clear();
    packed.remove();
  }
  if (one("#packed")) unfold(one("#packed"));

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }
  function copyButton(words, text) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", async () => {
      await copy(text);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = words; }, 1500);
    });
    return button;
  }
  all(".formula[data-tex]").forEach((box) => box.append(copyButton("copy LaTeX", box.dataset.tex)));
  all(".tex pre").forEach((pre) => pre.before(copyButton("copy", pre.textContent)));

  function fit() {  // a formula that is a little wider than its place becomes a little smaller
    const found = all(".pieces math, .formula math").map((m) => [m, m.closest(".what") || m.closest(".formula, .pieces"), m.closest(".lines") ? 22 : 0]).filter(([m]) => m.clientWidth);
    found.forEach(([m]) => { m.style.fontSize = ""; });
    const sizes = found.map(([m, place, less]) => (place.clientWidth - less) / m.getBoundingClientRect().width);
    found.forEach(([m], k) => { if (sizes[k] < 1) m.style.fontSize = `${(1.1 * Math.max(sizes[k] * 0.98, 0.72)).toFixed(2)}em`; });
  }
  addEventListener("resize", fit);
  document.addEventListener("toggle", fit, true);
  document.fonts.ready.then(fit);

  function openTarget() {
    let name = "";
    try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const place = document.getElementById(name), target = place && place.closest("details");
    if (target) {
      target.hidden = false;
      target.open = true;
      place.scrollIntoView();
      target.querySelector("summary").focus({ preventScroll: true });
    }
  }
  addEventListener("hashchange", openTarget);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    const href = link && link.getAttribute("href");
    if (href && href === location.hash && !event.defaultPrevented) openTarget();
  });

  const graph = one("svg.graph");
  if (graph) {
    const nodes = new Map(all("a[data-node]", graph).map((a) => [a.dataset.node, a]));
    const edges = all(".edge", graph);
    const says = one("#graph-says"), choice = one("#graph-choice");
    const follow = (start, from, to) => {
      const seen = new Set(), open = [start];
      while (open.length) {
        const here = open.pop();
        for (const edge of edges) {
          if (edge.dataset[from] === here && !seen.has(edge.dataset[to])) {
            seen.add(edge.dataset[to]);
            open.push(edge.dataset[to]);
          }
        }
      }
      return seen;
    };
    const fails = (id) => nodes.get(id).classList.contains("v-fails");
    const claims = (number) => `${number} claim${number === 1 ? "" : "s"}`;
    const choose = (id) => {
      graph.classList.toggle("choosing", Boolean(id));
      const below = id ? follow(id, "to", "from") : new Set(), above = id ? follow(id, "from", "to") : new Set();
      for (const [name, a] of nodes) {
        a.classList.toggle("chosen", name === id);
        a.classList.toggle("below", below.has(name));
        a.classList.toggle("above", above.has(name));
      }
      for (const edge of edges) {
        const { from, to } = edge.dataset;
        edge.classList.toggle("below", below.has(from) && (to === id || below.has(to)));
        edge.classList.toggle("above", above.has(to) && (from === id || above.has(from)));
      }
      if (!id) { says.textContent = "Choose a claim to see what it rests on."; return; }
      const bad = [...below].filter(fails);
      const needs = bad.length ? `${bad.length} of which need${bad.length === 1 ? "s" : ""}` : "none of which needs";
      const rests = below.size ? `rests on ${claims(below.size)}, ${needs} a change` : "rests on no other claim";
      const link = document.createElement("a");
      link.href = nodes.get(id).getAttribute("href");
      link.textContent = id;
      const list = bad.length && bad.length < 9 ? ` (${bad.join(", ")})` : "";
      says.replaceChildren(link, ` ${rests}${list}; ${above.size ? claims(above.size) : "no claim"} rest${above.size > 1 ? "" : "s"} on it.`);
    };
    graph.addEventListener("click", (event) => {
      const node = event.target.closest("a[data-node]");
      if (!node) return;
      event.preventDefault();
      const again = node.classList.contains("chosen");
      choose(again ? "" : node.dataset.node);
      choice.value = all("option", choice).some((o) => o.value === node.dataset.node) && !again ? node.dataset.node : "";
    });
    choice.addEventListener("change", () => choose(choice.value));
    if (choice.value) {
      choose(choice.value);
      const box = graph.parentElement, x = Number(one(".chosen rect").getAttribute("x"));
      box.scrollLeft = x * (graph.clientWidth / graph.viewBox.baseVal.width) - box.clientWidth / 2;
    }
  }

  all(".gallery figure, .main-figure").forEach((figure) => {
    const button = figure.querySelector(".zoom"), name = button.getAttribute("aria-label").slice(8);
    figure.addEventListener("click", () => {
      const large = (figure.closest(".first") || figure).classList.toggle("large");
      button.setAttribute("aria-expanded", large);
      button.textContent = large ? "smaller" : "enlarge";
      button.setAttribute("aria-label", `${button.textContent} ${name}`);
      figure.scrollIntoView({ block: "nearest" });
    });
  });

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = root.classList.contains("print-full") ? all("details:not(.tex, [open])")
      : all(".change").slice(0, 16).filter((d) => !d.open);  // more would not fit on fifteen sheets
    closed.forEach((d) => { d.open = true; });
    const formulas = all(".scroll > math");
    const ems = formulas.map((m) => m.getBoundingClientRect().width / parseFloat(getComputedStyle(m).fontSize));
    formulas.forEach((m, k) => { if (ems[k]) m.style.setProperty("--ems", (ems[k] + 0.2).toFixed(1)); });
  });
  addEventListener("afterprint", () => closed.forEach((d) => { d.open = false; }));
  openTarget();
})();
