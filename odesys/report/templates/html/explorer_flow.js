// Runs of a flow with gates, by the rules of numerics/flows: DOP853 with dense output, switches, slides and events.
// TABLE has the coefficients of the method. A code f(t, x, p, g) gives the field (n numbers), the surfaces (s) and what
// is looked at (events, curves), with the gates g; w says which surfaces can move.
const EPS = 2 ** -52, EDGE = 1e-9, { abs, max, min, sign, round } = Math;
const zeros = (n) => Array(n).fill(0), short = (t) => Number(t.toPrecision(6));
const fail = (text) => { throw Error(text); };
function moved(x, h, v) {
  const out = x.slice();
  for (let i = 0; i < out.length; i++) out[i] += h * v[i];
  return out;
}

// The shortest d with M d = b, where there is one: rows that say the same do no harm.
function linear(M, b) {
  const n = b.length, N = b.map(() => zeros(n + 1)), size = M.flat().reduce((sum, v) => sum + v * v, 1e-300);
  N.forEach((row, i) => {
    row[i] = 1e-15 * size;
    M.forEach((r, k) => { for (let j = 0; j <= n; j++) row[j] += r[i] * (j < n ? r[j] : b[k]); });
  });
  for (let i = 0; i < n; i++) for (let k = 0; k < n; k++) if (k !== i) {
    const c = N[k][i] / N[i][i];
    for (let j = i; j <= n; j++) N[k][j] -= c * N[i][j];
  }
  return N.map((row, i) => row[n] / row[i]);
}

// Where f falls to zero on [a, b], by regula falsi with weights halved (Illinois) and halves.
function root(f, a, b) {
  let u = f(a), v = f(b), last = 0;
  if (v === 0) return b;
  if (u <= 0) return a;
  for (let k = 1; k < 300 && b - a > 4 * EPS * abs(b); k++) {
    const line = b - v * (b - a) / (v - u), c = k % 4 && line > a && line < b ? line : (a + b) / 2, w = f(c);
    if (c <= a || c >= b) break;
    if (w > 0) { a = c; u = w; if (last > 0) v /= 2; last = 1; } else { b = c; v = w; if (last < 0) u /= 2; last = -1; }
    if (w === 0) break;
  }
  return b;
}

// The field at one point as a function of the gates `which`: multilinear between its values at all patterns.
class Patterns {
  constructor(run, t, x, gates, which) {
    if (which.length > 8) fail(`${which.length} kinks meet at t = ${short(t)}; at most 8 can be followed`);
    this.F = [];
    this.R = [];
    const { n } = run, y = x.slice(), g = gates.slice();
    for (let c = 0; c < 1 << which.length; c++) {
      which.forEach((i, j) => { g[i] = c >> j & 1; });
      const v = run.f(t, x, g).slice(0, n), r = zeros(which.length), d = 1e-3 * run.size / (max(...v.map(abs)) || 1);
      // rates of the surfaces along the field, by a central difference of order six
      for (let k = -3; k < 4; k++) if (k) {
        for (let i = 0; i < n; i++) y[i] = x[i] + k * d * v[i];
        const h = run.f(t + k * d, y, g), a = sign(k) * [45, -9, 1][abs(k) - 1] / 60 / d;
        for (let j = 0; j < r.length; j++) r[j] += a * h[n + which[j]];
      }
      this.F.push(v);
      this.R.push(r);
    }
  }
  mix(rows, g) {
    const out = zeros(rows[0].length);
    for (let c = 0; c < rows.length; c++) {
      let w = 1;
      for (let j = 0; j < g.length; j++) w *= c >> j & 1 ? g[j] : 1 - g[j];
      for (let i = 0, row = rows[c]; w && i < out.length; i++) out[i] += w * row[i];
    }
    return out;
  }
  slope(rows, g, j) { return moved(this.mix(rows, g.with(j, 1)), -1, this.mix(rows, g.with(j, 0))); }
  // derivatives of the rates `on` by the gates `on`
  matrix(g, on) {
    const columns = on.map((j) => this.slope(this.R, g, j));
    return on.map((i) => columns.map((column) => column[i]));
  }
  // gates that keep the surfaces `on` at zero, the others held
  hold(g, on) {
    for (let k = 0; on.length && k < 30; k++) {
      const s = this.mix(this.R, g), d = linear(this.matrix(g, on), on.map((i) => -s[i]));
      g = g.map((v, j) => (on.includes(j) ? v + d[on.indexOf(j)] : v));
      if (!(max(...d.map(abs)) > 1e-13)) break;
    }
    return g;
  }
  // whether every gate agrees with the rate it produces
  agrees(g, on) {
    const s = this.mix(this.R, g), M = this.matrix(g, g.map((_, j) => j));
    return g.every((v, i) => {
      const room = EDGE * M[i].reduce((sum, a) => sum + abs(a), 1e-3 * abs(s[i]));
      return on.includes(i) ? v >= -EDGE && v <= 1 + EDGE && abs(s[i]) <= room : (v > 0.5 ? s[i] : -s[i]) >= -room;
    });
  }
}

class Run {
  constructor(code, still, events, p, t, x, end, rtol, atol) {
    const { n, s } = code;
    Object.assign(this, { code, still, events, p, t, x, end, rtol, n, s, start: t, last: 0, sliding: [], steps: [], log: [], open: {}, refused: [] });
    this.atol = atol || max(1e-3 * rtol * x.reduce((m, v) => (v ? min(m, abs(v)) : m), 1), 1e-18);
    this.size = max(...x.map(abs)) || 1;  // of the states so far
    this.side = zeros(s + events.length);
    this.gates = zeros(s);
    this.gates = this.watched(t, x).slice(0, s).map((h) => (h > 0 ? 1 : 0));
  }
  f(t, x, g) {
    const o = this.code.f(t, x, this.p, g);
    for (const i of this.still) o[i] = 0;
    return o;
  }
  // the gates along the surfaces that slide; remembered, as field and watched values ask at one point
  slide(t, x) {
    if (this.known?.t !== t || this.known.x !== x) {
      const T = new Patterns(this, t, x, this.gates, this.sliding), all = this.sliding.map((_, j) => j);
      this.known = { t, x, T, all, g: T.hold(this.sliding.map((i) => this.gates[i]), all) };
    }
    return this.known;
  }
  held(t, x) {
    const g = this.sliding.length ? this.slide(t, x).g : [];
    return this.sliding.reduce((gates, i, j) => gates.with(i, g[j]), this.gates);
  }
  rate(t, x) {
    if (!this.sliding.length) return this.f(t, x, this.gates).slice(0, this.n);
    const { T, g } = this.slide(t, x);
    return T.mix(T.F, g);
  }
  // surfaces (of a slide: g (1 - g) of its gate), then events
  watched(t, x) {
    const { n, s } = this, g = this.held(t, x), o = this.f(t, x, g), out = zeros(this.side.length);
    for (let i = 0; i < s; i++) out[i] = o[n + i];
    for (const i of this.sliding) out[i] = g[i] * (1 - g[i]);
    this.events.forEach((event, k) => { out[s + k] = o[n + s + event.i]; });
    return out;
  }
  // how far from zero rounding can leave the watched values
  rounding(t, x) {
    const late = 8 * EPS * max(abs(t), this.last), to = moved(x, late, this.rate(t, x)), here = this.watched(t, x);
    const ends = [1, 2, 3].map((k) => this.watched(t + late, to.map((a, i) => a + 4 * EPS * x[i] * sign(Math.sin(k * (i + 9))))));
    return here.map((h, i) => 4 * max(...ends.map((end) => abs(end[i] - h) || 0)));
  }
  key() { return this.gates.map((g, i) => (this.sliding.includes(i) ? 2 : g > 0.5 ? 1 : 0)).join(""); }

  // The gates to go on with, where the surfaces `crossed` are at zero.
  turn(crossed) {
    const { t, s } = this;
    if (this.sliding.length) {
      this.x = this.back();
      this.gates = this.held(t, this.x).map((g, i) => min(1, max(0, crossed.includes(i) ? round(g) : g)));
    }
    const { gates, sliding } = this;
    if (crossed.length && t === this.entered) this.refused.push(this.key());
    this.sliding = [];
    const h = this.watched(t, this.x), width = this.rounding(t, this.x), zero = [];
    for (let i = 0; i < s; i++) {
      if (crossed.includes(i) || sliding.includes(i) || (this.code.w[i] && abs(h[i]) <= width[i])) {
        zero.push(i);
        width[i] = max(width[i], abs(h[i]));
      }
    }
    this.gates = gates.map((g, i) => (zero.includes(i) ? g : h[i] > 0 ? 1 : 0));
    if (zero.length) this.choose(zero, sliding);
    this.known = null;
    this.note(gates, sliding);
    this.entered = t;
    this.width = width;
    this.gates.forEach((g, i) => { this.side[i] = zero.includes(i) || !this.code.w[i] ? 0 : 2 * g - 1; });
    if (t === this.start && !crossed.length) for (let i = s; i < h.length; i++) this.side[i] = abs(h[i]) <= width[i] ? 0 : sign(h[i]) || 0;
    if (this.sliding.length) {
      this.x = this.back();
      const margins = this.watched(t, this.x);
      for (const i of this.sliding) { this.side[i] = margins[i] > EDGE ? 1 : 0; width[i] = EDGE / 10; }
    }
  }
  // Patterns come first where nothing slides yet, the nearest first; a slide is kept as long as it can be.
  choose(zero, sliding) {
    const T = new Patterns(this, this.t, this.x, this.gates, zero), g = zero.map((i) => this.gates[i]);
    const was = zero.map((i, j) => (sliding.includes(i) && g[j] > EDGE && g[j] < 1 - EDGE ? 2 : round(g[j])));
    const trials = Array.from({ length: 3 ** zero.length }, (_, c) => {
      const label = zero.map((_, j) => Math.floor(c / 3 ** j) % 3);
      const order = label.reduce((sum, l, j) => sum + (l === 2 ? 1e3 : abs(l - g[j])), 0);
      return { label, order: was.includes(2) && label.join() === was.join() ? -1 : order };
    }).sort((a, b) => a.order - b.order);
    for (const { label } of trials) {
      const on = zero.flatMap((_, j) => (label[j] === 2 ? [j] : [])), found = T.hold(label.map((l) => (l === 2 ? 0.5 : l)), on);
      if (found.every(Number.isFinite) && T.agrees(found, on)) {
        zero.forEach((i, j) => { this.gates[i] = min(1, max(0, found[j])); });
        this.sliding = on.map((j) => zero[j]);
        if (!this.refused.includes(this.key())) return;
      }
    }
    fail(`no choice of gates lets the flow go on from t = ${short(this.t)}`);
  }
  // what a change of gates means: a switch, a slide that begins or ends
  note(gates, sliding) {
    const { t } = this;
    this.gates.forEach((g, i) => {
      const was = sliding.includes(i), is = this.sliding.includes(i);
      let before = gates[i];
      if (is && !was) this.open[i] = { from: t, before: round(before) };
      if (is) return;
      if (was) {
        const { from } = this.open[i];
        before = this.open[i].before;
        delete this.open[i];
        if (from < t) { this.log.push({ kind: "slide", i, time: from, end: t, to: g }); return; }
      }
      if (before === g || t === this.start) return;
      const back = this.log.findIndex((e) => e.kind === "switch" && e.time === t && e.i === i);
      if (back < 0) this.log.push({ kind: "switch", i, time: t, to: g }); else this.log.splice(back, 1);
    });
  }
  // the change that puts a sliding state back on its surfaces, along the directions in which their gates act
  drift(x) {
    const { T, g, all } = this.slide(this.t, x), h = this.f(this.t, x, this.gates).slice(this.n);
    const a = linear(T.matrix(g, all), this.sliding.map((i) => -h[i]));
    return all.reduce((sum, j) => moved(sum, a[j], T.slope(T.F, g, j)), zeros(this.n));
  }
  back() {
    let { x } = this, room = Infinity;
    for (let k = 0; k < 3 && this.t > this.start; k++) {
      const change = this.drift(x), size = max(...change.map(abs));
      if (!(size > 0 && size < room / 2)) break;
      x = moved(x, 1, change);
      room = size;
    }
    return x;
  }

  // the mean square of v, in units of the tolerance at the larger of x and y
  square(v, x, y = x) {
    let sum = 0;
    for (let i = 0; i < this.n; i++) sum += (v[i] / (this.atol + this.rtol * max(abs(x[i]), abs(y[i])))) ** 2;
    return sum / this.n;
  }
  norm(v, x) { return Math.sqrt(this.square(v, x)); }
  firstStep(f) {
    const { t, x } = this, left = this.end - t, a = this.norm(x, x), b = this.norm(f, x), h = min(a < 1e-5 || b < 1e-5 ? 1e-6 : 0.01 * a / b, left);
    const most = max(b, this.norm(moved(this.rate(t + h, moved(x, h, f)), -1, f), x) / h);
    return min(100 * h, most <= 1e-15 ? max(1e-6, 1e-3 * h) : (0.01 / most) ** 0.125, left);
  }
  // One step of the method: where it ends, the state and its field there, the state between, and the step to try next.
  step(f, h) {
    const { t, x, n } = this, least = 20 * EPS * abs(t);
    h = max(h, least);
    for (let most = 10; ; most = 1) {
      if (!(h >= least)) fail(`the step became too small at t = ${short(t)}`);
      const end = min(t + h, this.end), K = [f], sum = (row) => {
        const out = zeros(n);
        for (let j = 0; j < row.length; j++) for (let i = 0, a = row[j], k = K[j]; a && i < n; i++) out[i] += a * k[i];
        return out;
      };
      h = end - t;
      const at = (row) => K.push(this.rate(t + row.reduce((a, b) => a + b, 0) * h, moved(x, h, sum(row))));
      TABLE.A.forEach((row, k) => k && at(row));
      const y = moved(x, h, sum(TABLE.B));
      K.push(this.rate(end, y));
      const [a, b] = [TABLE.E5, TABLE.E3].map((row) => this.square(sum(row), x, y));
      const error = a + b ? h * a / Math.sqrt(a + 0.01 * b) : 0, factor = 0.9 * error ** -0.125;
      if (error < 1) {
        const last = K[K.length - 1], d = moved(y, -1, x);
        TABLE.X.forEach(at);
        const F = [d, d.map((v, i) => h * f[i] - v), d.map((v, i) => 2 * v - h * (last[i] + f[i])), ...TABLE.D.map((row) => sum(row).map((v) => h * v))].reverse();
        const state = (u) => {
          if (u === t || u === end) return u === t ? x : y;
          const w = (u - t) / h, out = x.slice();
          for (let i = 0; i < n; i++) {
            let v = 0;
            for (let k = 0; k < 7; k++) v = (v + F[k][i]) * (k % 2 ? 1 - w : w);
            out[i] += v;
          }
          return out;
        };
        return { end, state, last, next: h * min(most, factor) };
      }
      h *= max(0.2, factor || 0);
    }
  }
  // What a step meets first: a surface, an event that stops, or a surface that its gate denies.
  scan(state, end) {
    const { t, s, side } = this, at = (u) => this.watched(u, state(u)), part = (end - t) / 4;
    const all = [-1, 0, 1, 2, 3, 4, 5].map((k) => (k === 4 ? end : t + k * part)).map((u) => [u, at(u)]), readings = all.slice(1, -1);
    for (let k = 1; k < 6; k++) for (let i = 0; i < side.length; i++) {  // the lowest point of a dip towards zero
      const own = side[i], b = own * all[k][1][i], a = own * all[k - 1][1][i], c = own * all[k + 1][1][i], bend = a - 2 * b + c, to = (a - c) / 2 / bend, u = all[k][0] + part * to;
      if (bend > 0 && b > 0 && abs(to) < 1 && b - bend * to ** 2 / 2 < b / 4 && u > t && u < end && all.every((reading) => reading[0] !== u)) readings.push([u, at(u)]);
    }
    readings.sort((a, b) => a[0] - b[0]);
    const same = 64 * EPS * max(abs(t), end - t);
    let left = t;
    for (const [right, value] of readings) {
      let found = { time: Infinity };
      const passed = [];
      for (let i = 0; i < side.length; i++) {
        let from = left;
        if (!side[i] && right > t && abs(value[i]) > 16 * this.width[i] && (i >= s || this.code.w[i])) {  // it has left zero
          side[i] = i >= s ? sign(value[i]) : this.sliding.includes(i) ? 1 : 2 * this.gates[i] - 1;
          if (side[i] * value[i] < 0) {  // it may have gone to its own side first, and come back
            from = right;
            for (let k = 0; k < 40 && !(side[i] * at(from)[i] > this.width[i]); k++) from = t + (from - t) / 2;
            if (!(side[i] * at(from)[i] > this.width[i])) return { denied: i };
          }
        }
        if (!side[i] || !(side[i] * value[i] <= 0)) continue;
        const time = root((u) => side[i] * at(u)[i], from, right);
        if (i >= s) passed.push([time, i, this.events[i - s]]);
        else if (time < found.time) found = { time, i };
      }
      const counts = ([, i, event]) => !event.d || event.d === -side[i], last = passed.sort((a, b) => a[0] - b[0]).find((e) => counts(e) && e[2].stop);
      if (last && last[0] <= found.time + same) found = { time: last[0], stop: last[2] };
      for (const e of passed) if (e[0] <= found.time + same) {
        if (counts(e)) this.log.push({ kind: "event", name: e[2].name, time: min(e[0], found.time) });
        side[e[1]] = found.i >= 0 && e[0] >= found.time - same ? 0 : sign(value[e[1]]);
        this.width[e[1]] = 0;
      }
      if (found.time < Infinity) return found;
      left = right;
    }
    return {};
  }
  // To the end, or to an event that stops, which it gives.
  go(limit) {
    let f, h, stop = null;
    const turn = (crossed) => {
      if (limit.turns-- < 0) fail(`too many switches up to t = ${short(this.t)}`);
      this.turn(crossed);
      f = this.rate(this.t, this.x);
      h = this.firstStep(f);
    };
    turn([]);
    while (this.t < this.end && !stop) {
      if (limit.steps-- < 0) fail(`too many steps up to t = ${short(this.t)}`);
      if (!f.every(Number.isFinite)) fail(`the values are not finite at t = ${short(this.t)}`);
      const made = this.step(f, h), found = this.side.length ? this.scan(made.state, made.end) : {};
      if (found.denied >= 0) {
        this.refused.push(this.key());
        turn([found.denied]);
        continue;
      }
      const end = found.time ?? made.end;
      this.x = made.state(end);
      if (end > this.t) {
        this.steps.push({ from: this.t, to: end, state: made.state });
        this.refused = [];
      }
      this.size = max(this.size, ...this.x.map(abs));
      this.last = end - this.t;
      this.t = end;
      stop = found.stop;
      if (found.i >= 0) { turn([found.i]); continue; }
      f = made.last;
      h = made.next;
      if (this.sliding.length && !stop) {
        this.gates = this.held(this.t, this.x).map((g) => min(1, max(0, g)));
        if (this.norm(this.drift(this.x), this.x) > 0.1) f = this.rate(this.t, this.x = this.back());
      }
    }
    return stop;
  }
}

// A protocol with the values p of the sliders: stages one after the other.
function solve(protocol, p) {
  const { n, stages } = protocol, given = STARTS[protocol.s](p), runs = [], log = [], limit = { steps: 2e4, turns: 2e3 };
  const [atol, t0, close, ...ends] = given.slice(n);
  let t = t0, x = given.slice(0, n), problem = "";
  stages.forEach((stage, k) => {
    if (problem) return;
    const run = new Run(CODES[stage.c], stage.z, stage.e, p, t, x, min(ends[k], close), protocol.rtol, atol), first = stage.e.find((e) => e.stop);
    try {
      if (!run.go(limit) && first && k + 1 < stages.length) fail(`${first.name} is not reached by t = ${short(run.t)}`);
    } catch (error) {
      problem = error.message;
    }
    for (const [i, { from }] of Object.entries(run.open)) run.log.push({ kind: "slide", i: Number(i), time: from, end: run.t, to: null });
    runs.push(run);
    ({ t, x } = run);
    log.push(...run.log.map((e) => ({ name: run.code.names[e.i], ...e })), { kind: "stage", name: stage.name, time: t });
  });
  return { runs, log, t0, t, x, problem };
}

// What is looked at along a run, by the code that sees it: times, and for each value a list.
function curves(protocol, p, { runs, t0, x }) {
  const { n, s, f } = CODES[protocol.y], steps = runs.flatMap((run) => run.steps), parts = max(1, min(6, round(900 / steps.length)));
  const times = [], rows = [], see = (t, x) => {
    const gates = f(t, x, p, zeros(s)).slice(n, n + s).map((h) => (h > 0 ? 1 : 0));
    times.push(t);
    rows.push(f(t, x, p, gates).slice(n + s));
  };
  steps.forEach(({ from, to, state }, k) => { for (let j = k ? 1 : 0; j <= parts; j++) see(from + (to - from) * j / parts, state(j < parts ? from + (to - from) * j / parts : to)); });
  if (!steps.length) see(t0, x);
  return { times, rows };
}
