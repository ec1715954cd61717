"use strict";
// Filter the claims, copy TeX, open a claim that a link points to. The page can be read without it.
(() => {
  document.documentElement.classList.remove("no-script");
  const rows = [...document.querySelectorAll("[data-claim]")];
  const boxes = [...document.querySelectorAll(".filters input[type=checkbox]")];
  const search = document.querySelector(".filters input[type=search]");
  const status = document.querySelector("#shown");
  const chosen = (group) => boxes.filter((b) => b.name === group && b.checked).map((b) => b.value);
  function filter() {
    const verdicts = chosen("verdict"), evidence = chosen("evidence");
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const anyEvidence = boxes.every((b) => b.name !== "evidence" || b.checked);
    let shown = 0;
    for (const row of rows) {
      const text = row.dataset.text;
      const fits = verdicts.includes(row.dataset.verdict)
        && (row.dataset.evidence ? evidence.includes(row.dataset.evidence) : anyEvidence) && words.every((word) => text.includes(word));
      row.hidden = !fits;
      if (fits && row.tagName === "TR") shown += 1;
    }
    const total = rows.filter((row) => row.tagName === "TR").length;
    status.textContent = `${shown} of ${total} claims shown`;
  }
  if (search) {
    boxes.forEach((box) => box.addEventListener("change", filter));
    search.addEventListener("input", filter);
    document.querySelector("#reset").addEventListener("click", () => {
      boxes.forEach((box) => { box.checked = true; });
      search.value = "";
      filter();
    });
    filter();
  }
  for (const pre of document.querySelectorAll(".tex pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      const text = pre.textContent;
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
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    pre.before(button);
  }
  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") {
      target.hidden = false;
      target.open = true;
      target.scrollIntoView();
      target.querySelector("summary").focus({ preventScroll: true });
    }
  }
  addEventListener("hashchange", openTarget);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    const href = link && link.getAttribute("href");
    if (href && href === location.hash) openTarget();
  });
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not(.tex, [open])")];
    closed.forEach((d) => { d.open = true; });
    const formulas = [...document.querySelectorAll(".scroll > math")];
    const ems = formulas.map((m) => m.getBoundingClientRect().width / parseFloat(getComputedStyle(m).fontSize));
    formulas.forEach((m, k) => { m.style.setProperty("--ems", (ems[k] + 0.2).toFixed(1)); });
  });
  addEventListener("afterprint", () => closed.forEach((d) => { d.open = false; }));
  openTarget();
})();
