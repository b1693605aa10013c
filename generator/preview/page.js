"use strict";
(() => {
  const head = JSON.parse(document.getElementById("head").textContent);
  const FILTERS = [
    ["task", "Task", (pair) => [pair.task]],
    ["split", "Split", (pair) => [pair.split]],
    ["status", "Status", (pair) => [pair.status]],
    ["fact", "Fact", (pair) => [pair.fact]],
    ["noun", "Noun", (pair) => pair.nouns],
    ["colour", "Colour", (pair) => pair.colours],
  ];
  const PAGE = head.chunk;
  const BARS = 8;
  const COLOURS = ["#ffb81f", "#66c2ff", "#1fd6a0", "#ee94c4"];
  const byId = (id) => document.getElementById(id);

  /** An element with attributes (functions become listeners) and children (strings become text). */
  function el(name, attributes, ...children) {
    const svg = ["svg", "rect", "text"].includes(name);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") node.addEventListener(key, value);
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }

  // --- state: filters, search text and page live in the address, so that a view can be kept as a link ---------------
  const state = { page: 1, find: "", boxes: false };
  for (const [name] of FILTERS) state[name] = "";

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const [name] of FILTERS) state[name] = given.get(name) || "";
    state.find = given.get("find") || "";
    state.page = Math.max(1, Number.parseInt(given.get("page") || "1", 10) || 1);
  }

  function writeAddress() {
    const kept = new URLSearchParams();
    for (const name of [...FILTERS.map((filter) => filter[0]), "find"]) if (state[name]) kept.set(name, state[name]);
    if (state.page > 1) kept.set("page", state.page);
    history.replaceState(null, "", "#" + kept.toString());
  }

  const textOf = (runs) => runs.map((run) => run[0]).join("");
  head.pairs.forEach((pair, number) => {
    pair.number = number;
    pair.text = [pair.key, ...pair.captions.flat().map(textOf)].join("\n").toLowerCase();
  });

  function matching() {
    const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
    return head.pairs.filter(
      (pair) =>
        FILTERS.every(([name, , values]) => !state[name] || values(pair).includes(state[name])) &&
        words.every((word) => pair.text.includes(word)),
    );
  }

  // --- pictures: a chunk is parsed when the first of its pairs is shown ----------------------------------------------
  const chunks = new Map();
  function picturesOf(pair) {
    const number = Math.floor(pair.number / head.chunk);
    if (!chunks.has(number)) {
      const source = byId("chunk-" + number);
      chunks.set(number, source ? JSON.parse(source.textContent) : []);
    }
    return chunks.get(number)[pair.number % head.chunk];
  }

  // --- one pair ------------------------------------------------------------------------------------------------------
  function caption(runs) {
    return el("li", null, ...runs.map(([text, differs]) => (differs ? el("mark", null, text) : text)));
  }

  function boxes(pair, side) {
    const [width, height] = pair.size;
    const svg = el("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    const unit = width / 224;
    pair.objects[side].forEach((object, index) => {
      const [x0, y0, x1, y1] = object.box;
      const colour = COLOURS[index % COLOURS.length];
      svg.append(el("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, stroke: colour }));
      // The label grows towards the middle of the picture, so that it is not cut off at the edge.
      const right = x0 + x1 > width;
      const label = el("text", {
        x: right ? x1 : x0,
        y: Math.max(y0 - 4 * unit, 12 * unit),
        "text-anchor": right ? "end" : "start",
        fill: colour,
      }, object.name);
      label.style.fontSize = `${11 * unit}px`;
      svg.append(label);
    });
    return svg;
  }

  function view(pair, side, pictures) {
    const source = pictures.images[side];
    if (!source) return el("div", { class: "no-image" }, "no second image");
    const names = pair.objects[side].map((object) => object.name).join(", ");
    const alt = `Image ${side} of ${pair.key}: ${names}`;
    const [width, height] = pair.size;
    const button = el(
      "button",
      {
        type: "button",
        class: "view",
        "aria-pressed": "false",
        "aria-label": `${alt}. Mark the objects`,
        click: () => button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true")),
      },
      el("img", { src: source, alt, width, height, decoding: "async" }),
      pictures.masks[side] ? el("img", { class: "mask", src: pictures.masks[side], alt: "" }) : null,
      boxes(pair, side),
    );
    return button;
  }

  function sideOf(pair, side, pictures) {
    const captions = el("ul", { "aria-label": `True of image ${side} only` }, ...pair.captions[side].map(caption));
    return el("figure", { class: "side" }, pictures ? view(pair, side, pictures) : null, captions);
  }

  function details(pair) {
    const rows = pair.facts.flatMap(([name, value]) => [el("dt", null, name), el("dd", null, value)]);
    const inside = [el("dl", null, ...rows)];
    if (pair.objects) {
      const cell = (tag, text) => el(tag, tag === "th" ? { scope: "col" } : null, text);
      const line = (tag, cells) => el("tr", null, ...cells.map((text) => cell(tag, text)));
      const body = pair.objects.flatMap((objects, side) =>
        objects.map((o) => line("td", [String(side), o.name, o.uid, o.box.join(" "), o.visible, o.measured || "–"])),
      );
      const columns = ["Image", "Object", "Asset", "Box x0 y0 x1 y1", "Visible", "Measured"];
      inside.push(
        el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Objects of " + pair.key },
          el("table", null, el("thead", null, line("th", columns)), el("tbody", null, ...body))),
      );
    }
    return el("details", null, el("summary", null, "Details"), ...inside);
  }

  function card(pair) {
    const accepted = pair.status === "accepted";
    const pictures = accepted ? picturesOf(pair) : null;
    const tags = [pair.fact, pair.split].map((text) => el("span", { class: "tag" }, text));
    if (!accepted) tags.push(el("span", { class: "tag bad" }, "rejected: " + pair.status.replaceAll("_", " ")));
    return el(
      "article",
      { class: "pair", "aria-labelledby": "title-" + pair.number },
      el("header", null, el("h3", { id: "title-" + pair.number }, pair.key), ...tags),
      pair.detail ? el("div", null, pair.detail) : null,
      el("div", { class: "sides" }, sideOf(pair, 0, pictures), sideOf(pair, 1, pictures)),
      details(pair),
    );
  }

  // --- the page ------------------------------------------------------------------------------------------------------
  function show(moveFocus) {
    const found = matching();
    const last = Math.max(1, Math.ceil(found.length / PAGE));
    state.page = Math.min(state.page, last);
    const start = (state.page - 1) * PAGE;
    const shown = found.slice(start, start + PAGE);
    const gallery = byId("gallery");
    gallery.replaceChildren(...shown.map(card));
    if (!shown.length) {
      const text = head.pairs.length ? "No pair matches these filters." : "No finished pair yet. Write this page again later.";
      gallery.append(el("p", { class: "empty" }, text));
    }
    gallery.classList.toggle("marks", state.boxes);
    const range = found.length ? ` · showing ${start + 1} to ${start + shown.length}` : "";
    byId("found").textContent = `${found.length} of ${head.pairs.length} pairs on this page${range}`;
    showPages(last);
    writeAddress();
    if (moveFocus) {
      gallery.focus({ preventScroll: true });
      byId("filters").scrollIntoView({ block: "start" });
    }
  }

  function showPages(last) {
    const go = (page) => () => { state.page = page; show(true); };
    const button = (label, page, attributes) => el("button", { type: "button", click: go(page), ...attributes }, label);
    const near = [...new Set([1, state.page - 1, state.page, state.page + 1, last])].filter((p) => p >= 1 && p <= last);
    const numbers = near.flatMap((page, index) => {
      const current = page === state.page ? { "aria-current": "page" } : {};
      const gap = index && page - near[index - 1] > 1 ? ["…"] : [];
      return [...gap, button(String(page), page, { "aria-label": "Page " + page, ...current })];
    });
    byId("pages").replaceChildren(
      ...(last < 2 ? [] : [
        button("Previous", state.page - 1, { disabled: state.page < 2 ? "" : null }),
        ...numbers,
        button("Next", state.page + 1, { disabled: state.page >= last ? "" : null }),
      ]),
    );
  }

  function buildFilters() {
    const form = byId("filters");
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const [name, label, values] of FILTERS) {
      const counts = new Map();
      for (const pair of head.pairs) for (const value of values(pair)) counts.set(value, (counts.get(value) || 0) + 1);
      if (counts.size < 2) continue;
      const options = [...counts.keys()].sort().map((value) =>
        el("option", { value }, `${value.replaceAll("_", " ")} (${counts.get(value)})`));
      const change = (event) => { state[name] = event.target.value; state.page = 1; show(); };
      form.append(el("label", null, label, el("select", { id: "filter-" + name, change }, el("option", { value: "" }, "all"), ...options)));
    }
    const input = (event) => { state.find = event.target.value; state.page = 1; show(); };
    const toggle = el("button", {
      type: "button", "aria-pressed": "false",
      click: () => { state.boxes = !state.boxes; toggle.setAttribute("aria-pressed", String(state.boxes)); show(); },
    }, "Show boxes");
    const clear = () => {
      for (const [name] of FILTERS) state[name] = "";
      Object.assign(state, { find: "", page: 1 });
      fillFilters();
      show();
    };
    form.append(
      el("label", null, "Captions", el("input", { id: "filter-find", type: "search", placeholder: "words", input })),
      toggle,
      el("button", { type: "button", click: clear }, "Clear"),
    );
  }

  function fillFilters() {
    for (const name of [...FILTERS.map((filter) => filter[0]), "find"]) {
      const control = byId("filter-" + name);
      if (control) control.value = state[name];
      else state[name] = "";
    }
  }

  function buildCharts() {
    for (const chart of head.charts) {
      const most = Math.max(...chart.bars.map((bar) => bar[1]), 1);
      const bars = chart.bars.map(([label, count]) => {
        const set = () => {
          state[chart.filter] = label;
          state.page = 1;
          fillFilters();
          show(true);
        };
        const usable = chart.filter && byId("filter-" + chart.filter);
        const bar = el(usable ? "button" : "div", usable ? { type: "button", class: "bar", click: set, title: "Show only these" } : { class: "bar" },
          el("span", null, String(label).replaceAll("_", " ")), el("span", null, count.toLocaleString("en")));
        bar.style.setProperty("--share", `${(100 * count) / most}%`);
        return el("li", null, bar);
      });
      const rest = bars.splice(BARS);
      byId("charts").append(el("div", { class: "chart" },
        el("h3", null, chart.title),
        el("ul", null, ...bars),
        rest.length ? el("details", null, el("summary", null, `${rest.length} more`), el("ul", null, ...rest)) : null));
    }
    byId("counts").open = matchMedia("(min-width: 60rem)").matches;
  }

  function buildSummary() {
    const s = head.summary;
    const number = (value) => value.toLocaleString("en");
    const parts = [`${number(s.accepted)} of ${number(s.planned)} planned pairs accepted`, `${number(s.rejected)} rejected`];
    if (s.staged) parts.push(`${number(s.staged)} more finished, in shards still being made`);
    if (s.shown < s.accepted) parts.push(`${number(s.shown)} shown here, evenly chosen`);
    byId("summary").textContent = parts.join(" · ");
  }

  function buildTheme() {
    const themes = ["system", "light", "dark"];
    let theme = "system";
    try { theme = localStorage.getItem("twinscene-theme") || "system"; } catch { /* Some browsers keep nothing for files. */ }
    const apply = () => {
      if (theme === "system") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = theme;
      byId("theme").textContent = "Theme: " + theme;
    };
    byId("theme").addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      try { localStorage.setItem("twinscene-theme", theme); } catch { /* As above. */ }
      apply();
    });
    apply();
  }

  readAddress();
  buildSummary();
  buildTheme();
  buildFilters();
  fillFilters();
  buildCharts();
  show();
  addEventListener("hashchange", () => { readAddress(); fillFilters(); show(); });
})();
