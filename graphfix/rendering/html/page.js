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
  const find = byId("find");
  const chips = all(".chip");
  const shown = byId("shown");
  const visible = () => cards.filter((card) => !card.hidden);
  let told = 0;
  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const tags = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.tag);
    for (const card of cards) {
      const own = card.dataset.tags.split("\n");
      const text = texts.get(card);
      card.hidden = !(words.every((word) => text.includes(word)) && (!tags.length || tags.some((tag) => own.includes(tag))));
    }
    let hits = 0;
    for (const spot of spots) {
      const title = words.length ? spot.firstChild.textContent.toLowerCase() : "";
      const hit = words.length > 0 && words.every((word) => title.includes(word));
      spot.classList.toggle("found", hit);
      hits += hit;
    }
    const some = words.length || tags.length;
    shown.value = some ? `${visible().length} of ${cards.length} cards` + (words.length && spots.length ? `, ${hits} nodes on the map` : "") : "";
  };
  if (find) {
    find.addEventListener("input", () => { clearTimeout(told); told = setTimeout(filter, 60); });
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
    const svg = button.closest(".chapter").querySelector(".map svg");
    const fit = svg.style.width;
    button.addEventListener("click", () => {
      const factor = Number(button.dataset.zoom);
      const width = factor ? svg.clientWidth * factor : 0;
      svg.style.width = factor ? `${width}px` : fit;
    });
  }

  const reveal = () => {
    const target = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.matches(".card")) { target.hidden = false; target.open = true; target.scrollIntoView(); }
  };
  window.addEventListener("hashchange", reveal);
  reveal();
  const closed = [];
  window.addEventListener("beforeprint", () => { for (const card of cards) if (!card.open) { closed.push(card); card.open = true; } });
  window.addEventListener("afterprint", () => { for (const card of closed.splice(0)) card.open = false; });
})();
