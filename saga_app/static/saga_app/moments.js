/* Lets the slider of moments show its number as it moves, and its page when it is let go. Without it there is a button,
   and there are links. */
"use strict";

for (const slider of document.querySelectorAll("[data-saga-moment]")) {
  slider.addEventListener("input", () => { slider.form.querySelector("output").value = slider.value; });
  slider.addEventListener("change", () => slider.form.requestSubmit());
}
