// What pages gain where scripts run: live updates, the id box under "/", copying, and ticking all.
"use strict";

(() => {
  const pulse = document.getElementById("pulse");

  // "/" jumps to the id box.
  document.addEventListener("keydown", (event) => {
    const box = document.getElementById("find");
    const isTyping = event.target.closest("input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping || !box) return;
    event.preventDefault();
    box.focus();
    box.select();
  });

  // Copying.
  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const field = document.createElement("textarea"); // over plain HTTP a page has no clipboard
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await copy(document.getElementById(button.dataset.copy).textContent);
    const told = document.getElementById("told"); // outside of what is updated
    told.textContent = "Copied";
    setTimeout(() => { told.textContent = ""; }, 2000);
  });

  // Ticking all on a page.
  document.addEventListener("change", (event) => {
    const name = event.target.dataset.all;
    if (!name) return;
    for (const box of event.target.form.querySelectorAll(`input[name="${name}"]`)) box.checked = event.target.checked;
  });

  // A URL says what was filled in, and no more.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".filters")) return;
    const empty = [...event.target.elements].filter((it) => it.name && it.value === "");
    for (const it of empty) it.disabled = true;
    setTimeout(() => { for (const it of empty) it.disabled = false; });
  });

  const reveal = () => {
    for (const it of document.querySelectorAll("[data-copy], [data-all]")) it.hidden = false;
  };
  reveal();

  // Live updates: the stream says "look again", and the page is read again; not while it is hidden.
  let stream = null;
  const show = (state) => {
    if (!pulse) return;
    pulse.hidden = false;
    pulse.className = `pulse ${state}`;
    pulse.textContent = state || "live";
  };
  // Whoever is choosing tasks must not have the choice taken away.
  const isBusy = () => document.querySelector("#live :is([name=id], [value=filter]):checked") !== null
    || Boolean(document.activeElement?.closest("#live .bulk"));
  const connect = () => {
    const live = document.getElementById("live");
    if (!live || stream) return;
    stream = new EventSource(live.dataset.live);
    stream.onopen = () => show("");
    stream.onerror = () => show("away");
    stream.addEventListener("look", () => {
      const target = document.getElementById("live");
      if (target && !isBusy()) htmx.trigger(target, "look");
    });
  };
  const disconnect = () => {
    stream?.close();
    stream = null;
    show("paused");
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return disconnect();
    connect();
    const live = document.getElementById("live");
    if (live && !isBusy()) htmx.trigger(live, "look");
  });
  if (!document.hidden) connect();

  // What was open, where it was scrolled to and what had the focus stays so.
  let kept = new Map();
  let focused = null;
  const purpose = (it) => [it.tagName, it.parentElement.id, ...["id", "href", "name", "value", "data-copy"].map((name) => it.getAttribute(name))].join(" ");
  const alike = (sought) => [...document.querySelectorAll("#live :is(a, button, input, select, textarea, summary)")]
    .filter((it) => purpose(it) === sought);
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (isBusy()) event.detail.shouldSwap = false; // the choice began while the page was on its way
    kept = new Map();
    for (const it of document.querySelectorAll("#live details[id]")) kept.set(it.id, (found) => { found.open = it.open; });
    for (const it of document.querySelectorAll("#live pre[id]")) {
      const top = it.scrollTop;
      kept.set(it.id, (found) => { found.scrollTop = top; });
    }
    const active = document.activeElement?.closest("#live *");
    focused = active && { purpose: purpose(active), place: alike(purpose(active)).indexOf(active) };
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const [id, restore] of kept) {
      const found = document.getElementById(id);
      if (found) restore(found);
    }
    if (focused) alike(focused.purpose)[focused.place]?.focus({ preventScroll: true });
    reveal();
  });
  document.addEventListener("htmx:responseError", () => show("away"));
  document.addEventListener("htmx:sendError", () => show("away"));
})();
