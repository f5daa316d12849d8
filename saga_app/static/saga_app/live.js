/* Keeps a page of the console up to date: asks for it again, and brings what moved into the elements that have an id
   and data-saga-live. They change in place, so that focus, open details, scrolling and selection stay as they are.
   A page that has none of them, or one that says "final", is left alone. */
"use strict";

(() => {
  const SOON = 2000, LATE = 60000, SLOWER = 1.5, PAUSED = "saga-live-paused";
  const GONE = [404, 410], OUT = [401, 403], AGES = "time, [data-saga-age]";
  const template = document.getElementById("saga-live-bar");
  const regions = () => [...document.querySelectorAll("[data-saga-live][id]")];
  const isFinal = () => regions().some((region) => region.dataset.sagaLive === "final");
  let tag = "", wait = SOON, timer = 0, asking = null, over = false, moved = false;
  if (!template || !regions().length || isFinal()) return;

  /* The same thing on both sides: by its id; a row and a link by where it leads, so that focus never comes to stand on
     another execution than it was set on. */
  function key(node) {
    if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
    const link = node.matches("tr, li") ? node.querySelector("a[href]") : node;
    return `${node.nodeName} ${node.id || link?.getAttribute("href") || node.getAttribute("name") || ""}`;
  }

  function update(old, fresh) {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data === fresh.data) return;
      moved ||= !old.parentElement.closest(AGES); // that something is older now is no news
      old.data = fresh.data;
      return;
    }
    updateAttributes(old, fresh);
    const before = new Map();
    for (const child of old.childNodes) before.set(key(child), [...(before.get(key(child)) ?? []), child]);
    const pairs = [...fresh.childNodes].map((child) => [before.get(key(child))?.shift(), child]);
    for (const gone of [...before.values()].flat()) gone.remove(); // first: what stays must not be moved, or loses focus
    let next = old.firstChild;
    for (const [same, child] of pairs) {
      if (same) update(same, child);
      if (same && same === next) next = next.nextSibling;
      else old.insertBefore(same ?? document.importNode(child, true), next);
      moved ||= !same;
    }
  }

  function updateAttributes(old, fresh) {
    const ours = (name) => name === "open" && old.matches("details"); // open or not is for the reader to say
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !ours(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) === value || ours(name)) continue;
      moved ||= !old.closest(AGES);
      old.setAttribute(name, value);
    }
  }

  /* Somebody is choosing or copying there. */
  function isBusy(region) {
    const chosen = getSelection();
    return region.querySelector("input:checked, :is(input, select, textarea):focus") !== null ||
      (!chosen.isCollapsed && chosen.containsNode(region, true));
  }

  function show(page) {
    const held = document.activeElement;
    for (const region of regions()) {
      const fresh = page.getElementById(region.id);
      if (!fresh) region.replaceChildren();
      else if (isBusy(region)) tag = ""; // or the next answer would be "the same as before"
      else update(region, fresh);
    }
    if (held.isConnected && held !== document.activeElement) held.focus({ preventScroll: true });
  }

  const bar = template.content.firstElementChild.cloneNode(true);
  const button = bar.querySelector("button"), said = bar.querySelector("[role=status]"), link = bar.querySelector("a");

  let paused = false;
  try { paused = localStorage.getItem(PAUSED) === "1"; } catch { /* this browser remembers nothing */ }

  function say(word) {
    const status = document.querySelector("[data-saga-say]")?.textContent.trim().replace(/\s+/g, " ");
    const text = [said.dataset[word], status].filter(Boolean).join(" · ");
    if (said.textContent !== text) said.textContent = text; // or it would be read aloud each time
    bar.dataset.state = word;
    link.hidden = !["out", "gone"].includes(word);
    button.hidden = over;
    button.textContent = button.dataset[paused ? "go" : "pause"];
  }

  function hear(answer, html) {
    const gone = answer.type === "opaqueredirect" || GONE.includes(answer.status);
    if (![200, 304, ...OUT].includes(answer.status) && !gone) throw new Error(answer.statusText);
    tag = answer.headers.get("ETag") ?? "";
    moved = false;
    if (html) show(new DOMParser().parseFromString(html, "text/html"));
    wait = moved ? SOON : Math.min(wait * SLOWER, LATE);
    over = gone || OUT.includes(answer.status) || isFinal();
    say(gone ? "gone" : OUT.includes(answer.status) ? "out" : over ? "final" : "live");
  }

  async function ask() {
    clearTimeout(timer);
    const { signal } = (asking = new AbortController());
    const headers = { "X-Saga-Poll": "1", ...(tag && { "If-None-Match": tag }) };
    try {
      const answer = await fetch(location.href, { headers, cache: "no-store", redirect: "manual", signal });
      const html = answer.status === 200 ? await answer.text() : "";
      if (signal.aborted) return;
      hear(answer, html);
    } catch {
      if (signal.aborted) return;
      wait = Math.min(wait * SLOWER, LATE);
      say("stale");
    }
    if (!over) timer = setTimeout(ask, wait);
  }

  /* Begins or stops asking, as is right now. */
  function follow() {
    clearTimeout(timer);
    asking?.abort();
    if (over) return;
    if (paused) say("paused");
    else if (!document.hidden) timer = setTimeout(ask, wait = SOON);
  }

  button.addEventListener("click", () => {
    paused = !paused;
    try { localStorage.setItem(PAUSED, paused ? "1" : "0"); } catch { /* as above */ }
    say(paused ? "paused" : "live");
    follow();
  });
  document.addEventListener("visibilitychange", () => (document.hidden || over || paused ? follow() : ask()));
  (document.getElementById("content-main") ?? regions()[0].parentElement).prepend(bar);
  say(paused ? "paused" : "live");
  follow();
})();
