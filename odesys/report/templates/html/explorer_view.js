// The explorer of a page: sliders, curves, gates, and a link that carries the values.
function explore(root) {
  const find = (what) => root.querySelector(what), all = (what) => [...root.querySelectorAll(what)];
  const choice = find("select"), said = find(".said"), strip = find(".strip"), box = strip.parentNode, places = find(".panels");
  const inputs = Object.fromEntries(all("input").map((input) => [input.name, input])), names = SLIDERS.map((slider) => slider.name);
  const paper = Object.fromEntries(SLIDERS.map(({ name, value }) => [name, value])), known = {};
  let values = { ...paper };
  const make = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const label = (look, name) => {  // G_q1 with its index below the line
    const [stem, index] = name.split(/_(.*)/), text = make("text", look, stem);
    if (index) text.append(make("tspan", { class: "index", dy: 3 }, index.replaceAll("_", ",")));
    return text;
  };
  const round3 = (v) => Number(v.toPrecision(3)), written = (v) => (v === 0 || (abs(v) >= 1e-3 && abs(v) < 1e6) ? String(Number(v.toPrecision(4))) : v.toExponential(2).replace(/\.?0+e/, "e"));
  const protocol = () => PROTOCOLS[choice.selectedIndex];

  // ---- sliders: STOPS places between low and high, evenly or in proportion
  const STOPS = 200, scaled = ({ log, low, high }, k) => (log ? low * (high / low) ** k : low + (high - low) * k);
  const place = ({ log, low, high }, v) => STOPS * (log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
  function show() {
    for (const slider of SLIDERS) {
      const input = inputs[slider.name], v = values[slider.name];
      input.value = round(place(slider, v));
      input.setAttribute("aria-valuetext", input.nextElementSibling.textContent = slider.whole ? String(v) : written(round3(v)));
      input.closest(".slider").hidden = !protocol().uses.includes(slider.name);
    }
  }
  const run = (chosen, given) => {
    const p = names.map((name) => given[name]), began = performance.now(), found = solve(chosen, p), spent = performance.now() - began;
    return { ...found, ...curves(chosen, p, found), spent };
  };

  // ---- pictures
  const WIDE = 400, HIGH = 236, LEFT = 46, RIGHT = 82, TOP = 26, LOW = 26;
  function ticks(low, high, log) {
    if (log) {
      const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high)), step = Math.ceil((last - first) / 5);
      const factors = last - first > 2 ? [1] : [1, 2, 5], out = [];
      for (let e = first; e <= last; e += step) for (const c of factors) out.push(round3(c * 10 ** e));
      return out.filter((v) => v >= low * 0.999 && v <= high * 1.001);
    }
    const raw = (high - low) / 5 || 1, unit = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find((c) => c * unit >= raw) * unit, out = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) out.push(Number((k * step).toPrecision(12)));
    return out;
  }
  const axis = (low, high, from, to, log) => {
    const [a, b] = log ? [Math.log(low), Math.log(high)] : [low, high];
    return (v) => from + (to - from) * ((log ? Math.log(v) : v) - a) / (b - a || 1);
  };
  const span = (now, chosen) => [chosen.log ? max(now.t0, now.t * 1e-5, 1e-12) : now.t0, now.t > now.t0 ? now.t : now.t0 + 1];
  function panel({ title, log, seen }, now, grey, chosen) {
    const svg = make("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `${title} over time` }), [first, end] = span(now, chosen);
    const fits = (v) => Number.isFinite(v) && (!log || v > 0), used = [];
    for (const r of grey ? [now, grey] : [now]) r.rows.forEach((row, k) => { if (r.times[k] >= first && r.times[k] <= end) for (const [, i] of seen) if (fits(row[i])) used.push(row[i]); });
    let low = min(...used), high = max(...used);
    if (!used.length) [low, high] = log ? [0.1, 1] : [0, 1];
    const room = (high - low) * 0.04 || abs(high) * 0.1 || 1;
    if (log) { low = max(low / 1.15, high * 1e-16); high *= 1.15; } else { low -= room; high += room; }
    const X = axis(first, end, LEFT, WIDE - RIGHT, chosen.log), Y = axis(low, high, HIGH - LOW, TOP, log);
    svg.append(make("text", { x: LEFT, y: 12, class: "title" }, title));
    for (const v of ticks(low, high, log)) svg.append(make("path", { class: "grid", d: `M${LEFT} ${Y(v)}H${WIDE - RIGHT}` }), make("text", { x: LEFT - 6, y: Y(v) + 4, class: "left" }, written(v)));
    let free = WIDE - RIGHT + 5;
    for (const v of ticks(first, end, chosen.log)) {
      svg.append(make("text", { x: X(v), y: HIGH - 8, class: "below" }, written(v)));
      free = max(free, X(v) + 3.8 * String(written(v)).length + 5);
    }
    svg.append(make("text", { x: free, y: HIGH - 8 }, chosen.letter));
    for (const e of now.log) if (e.kind !== "switch" && e.kind !== "slide" && e.time < end && e.time > first) svg.append(make("path", { class: "mark", d: `M${X(e.time)} ${TOP}V${HIGH - LOW}` }));
    const ends = [];
    const draw = (r, i, look) => {
      let d = "", pen = "M";
      r.rows.forEach((row, k) => {
        const t = r.times[k];
        if (!fits(row[i]) || t < first || t > end) { pen = "M"; return; }
        d += `${pen}${X(t).toFixed(1)} ${Y(max(row[i], log ? low : -Infinity)).toFixed(1)}`;
        pen = "L";
      });
      if (d) svg.append(make("path", { class: look, d }));
      return d && Number(d.slice(d.lastIndexOf(" ")));
    };
    if (grey) seen.forEach(([, i]) => draw(grey, i, "grey"));
    seen.forEach(([name, i], k) => { const y = draw(now, i, `curve c${k % 8}`); if (y !== "") ends.push({ name, k, y }); });
    ends.sort((a, b) => a.y - b.y).forEach((e, k) => { if (k) e.y = max(e.y, ends[k - 1].y + 13); });
    for (let k = ends.length - 1, most = HIGH - LOW - 4; k >= 0; k--, most -= 13) ends[k].y = min(ends[k].y, most);
    for (const { name, k, y } of ends) svg.append(label({ x: WIDE - RIGHT + 5, y: y + 4, class: `end c${k % 8}` }, name));
    return svg;
  }
  function gates(now, chosen) {
    box.hidden = false;  // it has a width then
    const [first, end] = span(now, chosen), rows = {}, wide = max(300, box.clientWidth), at = (t) => min(max(X(t > 0 || !chosen.log ? t : first), left), wide - 4);
    const total = new Set(), open = {};
    for (const { code, log, start, t } of now.runs) code.names.forEach((name, i) => {
      total.add(name);
      const own = log.filter((e) => e.i === i).sort((a, b) => a.time - b.time);
      let from = start, gate = own.length ? (own[0].kind === "switch" ? 1 - own[0].to : own[0].to) : null;
      (rows[name] ??= []).push(...own.flatMap((e) => {
        const before = { from, to: e.time, gate }, slide = e.kind === "slide" ? [{ from: e.time, to: e.end, gate: 2 }] : [];
        from = e.end ?? e.time;
        gate = e.to;
        return [before, ...slide];
      }), { from, to: t, gate });
      open[name] ||= own.length > 0;
    });
    const shown = Object.keys(rows).filter((name) => open[name]).slice(0, 12);
    const left = min(LEFT + 100, max(LEFT, 7 * max(0, ...shown.map((name) => name.length)) + 8)), X = axis(first, end, left, wide - 4, chosen.log);
    strip.replaceChildren();
    box.hidden = !shown.length;
    strip.setAttribute("viewBox", `0 0 ${wide} ${18 * shown.length}`);
    find("figcaption").textContent = `gates that switch (${shown.length} of ${total.size}): light open, empty closed, dark sliding${now.runs.length > 1 ? "; no bar: no switch in that stage" : ""}`;
    shown.forEach((name, k) => {
      strip.append(label({ x: left - 8, y: 11 + 18 * k, class: "left" }, name));
      for (const { from, to, gate } of rows[name]) if (to > from && gate !== null) strip.append(make("rect", { x: at(from), y: 18 * k, width: max(at(to) - at(from), 1.5), height: 13, class: `gate g${gate}` }));
    });
  }
  function update() {
    const chosen = protocol(), changed = chosen.uses.some((name) => values[name] !== paper[name]), now = run(chosen, values);
    known[chosen.id] ??= run(chosen, paper);
    show();
    places.replaceChildren(...chosen.panels.map((one) => panel(one, now, changed && known[chosen.id], chosen)), box);
    gates(now, chosen);
    const plural = (n, word, more = "s") => n + " " + word + (n === 1 ? "" : more), count = (kind, ...words) => plural(now.log.filter((e) => e.kind === kind).length, kind, ...words);
    const times = now.log.filter((e) => e.name && (e.kind === "event" || e.kind === "stage")).map((e) => `${e.name} = ${Number(e.time.toPrecision(5))}`);
    const slides = now.log.filter((e) => e.kind === "slide"), when = slides.length && slides.length < 4 ? " (" + slides.map((e) => written(e.time) + " to " + written(e.end)).join(", ") + ")" : "";
    const rest = [`ends at ${chosen.letter} = ${written(now.t)}`, ...now.runs.some((r) => r.s) ? [count("switch", "es"), count("slide") + when] : []], steps = plural(now.runs.reduce((n, r) => n + r.steps.length, 0), "step");
    const strong = document.createElement("strong");
    strong.textContent = [now.problem, ...new Set(times)].filter(Boolean).join(" · ");
    said.replaceChildren(strong, `${rest.join(" · ")} — ${steps} in ${now.spent.toFixed(1)} ms`);
  }

  // ---- the link, the buttons
  const link = () => "#explore?" + new URLSearchParams([["protocol", protocol().id], ...names.filter((name) => values[name] !== paper[name]).map((name) => [name, values[name]])]);
  function read() {
    if (!location.hash.startsWith("#explore?")) return;
    const given = new URLSearchParams(location.hash.slice(9)), index = PROTOCOLS.findIndex(({ id }) => id === given.get("protocol"));
    if (index >= 0) choice.selectedIndex = index;
    values = { ...paper };
    for (const slider of SLIDERS) {
      const v = Number(given.get(slider.name) || NaN);
      if (v >= slider.low && v <= slider.high && (!slider.whole || v === round(v))) values[slider.name] = v;
    }
    root.scrollIntoView();
  }
  const keep = () => history.replaceState(null, "", link());
  let asked = 0;
  const later = () => { cancelAnimationFrame(asked); asked = requestAnimationFrame(update); };
  SLIDERS.forEach((slider) => inputs[slider.name].addEventListener("input", ({ target }) => {
    const k = Number(target.value), v = scaled(slider, k / STOPS), home = k === round(place(slider, slider.value));
    values[slider.name] = home ? slider.value : slider.whole ? round(v) : round3(v);
    later();
  }));
  root.addEventListener("change", keep);
  choice.addEventListener("change", later);
  find(".paper").addEventListener("click", () => { values = { ...paper }; later(); keep(); });
  find(".link").addEventListener("click", async ({ target }) => {
    keep();
    try { await navigator.clipboard.writeText(location.href); target.textContent = "copied"; } catch { target.textContent = "it is in the address bar"; }
    setTimeout(() => { target.textContent = "copy link"; }, 2000);
  });
  addEventListener("hashchange", () => { read(); later(); });
  addEventListener("resize", later);
  root.explorer = { run: (id, given) => run(PROTOCOLS.find((one) => one.id === id), { ...paper, ...given }), values: () => ({ ...values }), update };
  read();
  root.classList.add("live");
  update();
}
