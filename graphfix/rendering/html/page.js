"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  for (const id of ["theme", "tools", "keys"]) { if (byId(id)) byId(id).hidden = false; }
  for (const part of all(".zoom")) part.hidden = false;

  const theme = byId("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const tell = () => {
    const set = document.documentElement.dataset.theme;
    theme.setAttribute("aria-pressed", String(set ? set === "dark" : dark.matches));
  };
  theme.addEventListener("click", () => {
    const now = theme.getAttribute("aria-pressed") === "true";
    document.documentElement.dataset.theme = now ? "light" : "dark";
    tell();
  });
  dark.addEventListener("change", tell);
  tell();

  const cards = all(".card");
  const texts = new Map(cards.map((card) => [card, card.textContent.toLowerCase()]));
  const spots = all(".map [id]");
  const rows = all(".chapter > .wide tbody tr");
  const rowTexts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const chapters = all(".chapter").filter((part) => part.querySelector(".card, tbody tr") && !part.querySelector(".map, .plot, .command"));
  const many = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
  const find = byId("find");
  const chips = all(".chip");
  const shown = byId("shown");
  const visible = () => cards.filter((card) => !card.hidden);
  let waiting = 0;
  // What a map is looked at for: the first node that was searched or linked to, else its middle.
  const middle = (map) => {
    const whole = map.querySelector("svg").getBoundingClientRect();
    const frame = map.getBoundingClientRect();
    const spot = map.querySelector(".found rect") || map.querySelector(":target rect");
    const part = spot ? spot.getBoundingClientRect() : frame;
    return [(part.left + part.width / 2 - whole.left) / whole.width, (part.top + part.height / 2 - whole.top) / whole.height];
  };
  const centre = (map, [x, y]) => {
    const whole = map.querySelector("svg").getBoundingClientRect();
    map.scrollTo(x * whole.width - map.clientWidth / 2, y * whole.height - map.clientHeight / 2);
  };
  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    // Tags of one group are alternatives, groups narrow each other.
    const pressed = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true");
    const groups = [...new Set(pressed.map((chip) => chip.dataset.group))].map((group) =>
      pressed.filter((chip) => chip.dataset.group === group).map((chip) => chip.dataset.tag));
    for (const card of cards) {
      const own = card.dataset.tags.split("\n");
      const text = texts.get(card);
      card.hidden = !(words.every((word) => text.includes(word)) && groups.every((tags) => tags.some((tag) => own.includes(tag))));
    }
    for (const row of rows) row.hidden = !words.every((word) => rowTexts.get(row).includes(word));
    const some = words.length || pressed.length;
    for (const part of chapters) part.hidden = Boolean(some) && !part.querySelector(":scope > .card:not([hidden]), :scope > .wide tbody tr:not([hidden])");
    let hits = 0;
    for (const spot of spots) {
      const title = words.length ? spot.firstChild.textContent.toLowerCase() : "";
      const hit = words.length > 0 && words.every((word) => title.includes(word));
      spot.classList.toggle("found", hit);
      hits += hit;
    }
    const told = cards.length ? [`${visible().length} of ${many(cards.length, "card")}`] : [];
    if (words.length && rows.length) told.push(many(rows.filter((row) => !row.hidden).length, "row"));
    if (words.length && spots.length) told.push(`${many(hits, "node")} on the map`);
    shown.value = some ? told.join(", ") : "";
    for (const map of hits ? all(".map") : []) centre(map, middle(map));
  };
  if (find) {
    find.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 60); });
    for (const chip of chips) {
      chip.addEventListener("click", () => {
        chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
        filter();
      });
    }
  }

  const toggle = () => {
    const open = visible().some((card) => !card.open);
    for (const card of visible()) card.open = open;
  };
  if (byId("open")) byId("open").addEventListener("click", toggle);

  const go = (step) => {
    const seen = visible();
    if (!seen.length) return;
    const at = seen.findIndex((card) => card.contains(document.activeElement));
    const next = seen[Math.min(Math.max(at + step, 0), seen.length - 1)];
    next.querySelector("summary").focus();
    next.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest("input");
    if (event.key === "Escape" && typing) { typing.value = ""; filter(); typing.blur(); return; }
    if (typing || !find) return;
    if (event.key === "/") { event.preventDefault(); find.focus(); }
    if (event.key === "j") go(1);
    if (event.key === "k") go(-1);
    if (event.key === "e") toggle();
  });

  for (const button of all("[data-zoom]")) {
    const map = button.closest(".chapter").querySelector(".map");
    const svg = map.querySelector("svg");
    const fit = svg.style.width;
    button.addEventListener("click", () => {
      const factor = Number(button.dataset.zoom);
      const kept = middle(map);
      const width = factor ? svg.clientWidth * factor : 0;
      svg.style.width = factor ? `${width}px` : fit;
      centre(map, kept);
    });
  }

  // A map is moved with the mouse, too; what ends such a movement is no click on a node.
  for (const map of all(".map")) {
    let from = null;
    let moved = false;
    map.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button) return;
      from = [event.clientX + map.scrollLeft, event.clientY + map.scrollTop, event.clientX, event.clientY];
      moved = false;
    });
    window.addEventListener("pointermove", (event) => {
      if (!from) return;
      moved ||= Math.abs(event.clientX - from[2]) + Math.abs(event.clientY - from[3]) > 4;
      if (moved) map.scrollTo(from[0] - event.clientX, from[1] - event.clientY);
    });
    window.addEventListener("pointerup", () => { from = null; });
    map.addEventListener("dragstart", (event) => event.preventDefault());
    map.addEventListener("click", (event) => { if (moved) event.preventDefault(); moved = false; }, true);
  }

  // A drawing that is wider than its frame begins in its middle, where inputs are.
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      target.scrollLeft = (target.scrollWidth - target.clientWidth) / 2;
    }
  });
  for (const frame of all(".pictures .canvas")) seen.observe(frame);

  const reveal = () => {
    const target = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest(".chapter")) target.closest(".chapter").hidden = false;
    if (target.matches(".card")) { target.hidden = false; target.open = true; target.scrollIntoView(); }
  };
  window.addEventListener("hashchange", reveal);
  reveal();
  const closed = [];
  window.addEventListener("beforeprint", () => { for (const card of cards) if (!card.open) { closed.push(card); card.open = true; } });
  window.addEventListener("afterprint", () => { for (const card of closed.splice(0)) card.open = false; });
})();
