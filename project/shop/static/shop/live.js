// Keeps the parts of a page marked data-live up to date. Without it, the page has a Refresh link.
"use strict";

const EVERY = 1000; // milliseconds
const PATIENCE = 10000; // the longest pause while the site does not answer

function follow(element) {
  let pause = EVERY;
  let shown = "";

  async function look() {
    if (!document.hidden) {
      try {
        const answer = await fetch(element.dataset.live, { cache: "no-cache", redirect: "error" });
        if (answer.ok) show(await answer.text());
        pause = answer.ok ? EVERY : Math.min(pause * 2, PATIENCE);
      } catch {
        pause = Math.min(pause * 2, PATIENCE); // the site is being restarted
      }
    }
    if (!element.querySelector("[data-live-over]")) setTimeout(look, pause);
  }

  function show(html) {
    if (html === shown) return; // nothing is new: leave focus and selection alone
    shown = html;
    const focused = element.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    element.innerHTML = html;
    if (focused) element.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }

  setTimeout(look, EVERY);
}

document.querySelectorAll("[data-live]").forEach(follow);
document.querySelectorAll(".refresh").forEach((link) => { link.hidden = true; });
