// What the pages do beyond plain forms. Everything here has a twin that works without it.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");
  const byId = (id) => document.getElementById(id);

  // --- the palette: `/` finds a step, arrows walk, Escape leaves ---
  const typing = (node) => node.matches?.("input, textarea, select, [contenteditable]");

  function openPalette() {
    const palette = byId("palette-open");
    if (!palette) return false;
    palette.open = true;
    const search = byId("step-search");
    search.focus();
    search.select();
    return true;
  }

  function narrow(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const step of document.querySelectorAll("#palette-list .step")) {
      step.hidden = !words.every((word) => step.dataset.words.includes(word));
      left += step.hidden ? 0 : 1;
    }
    for (const group of document.querySelectorAll("#palette-list .palette-group"))
      group.hidden = !group.querySelector(".step:not([hidden])");
    byId("palette-none").hidden = left > 0;
  }

  function walk(from, by) {
    const stops = [byId("step-search"), ...document.querySelectorAll("#palette-list .step:not([hidden]) > summary")];
    const at = stops.indexOf(from);
    if (at < 0) return false;
    stops[Math.min(stops.length - 1, Math.max(0, at + by))].focus();
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !typing(event.target)) {
      if (openPalette()) event.preventDefault();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target.closest?.("#palette-open")) {
      if (walk(event.target, event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
    } else if (event.key === "Enter" && event.target.id === "step-search") {
      event.preventDefault();
      const first = document.querySelector("#palette-list .step:not([hidden])");
      if (first) { first.open = true; first.querySelector("summary").focus(); }
    } else if (event.key === "Escape" && event.target.closest?.("#palette-open")) {
      byId("palette-open").open = false;
      document.querySelector("#palette-open > summary").focus();
    }
  });
  document.addEventListener("input", (event) => { if (event.target.id === "step-search") narrow(event.target.value); });

  // --- the clock beside the cluster's ---
  const two = (n) => String(n).padStart(2, "0");
  const since = performance.now();
  function tick() {
    const clock = document.querySelector("[data-ticks]");
    if (!clock) return;
    if (!clock.base) { clock.base = Number(clock.dataset.ticks); clock.from = clock.known ? since : performance.now(); }
    const s = Math.floor(clock.base + (performance.now() - clock.from) / 1000);
    clock.textContent = s < 3600 ? `${two(Math.floor(s / 60))}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor((s % 3600) / 60))}:${two(s % 60)}`;
  }
  setInterval(tick, 1000);

  // --- a panel that is replaced keeps what was typed or opened in it and not yet sent ---
  const named = (form) => [...form.querySelectorAll("input[name]:not([type=hidden]), textarea[name], select[name]")];
  const changed = (c) => (c.type === "checkbox" || c.type === "radio") ? c.checked !== c.defaultChecked
    : c.tagName === "SELECT" ? [...c.options].some((o) => o.selected !== o.defaultSelected) : c.value !== c.defaultValue;
  const key = (c) => `${c.name}\u0000${c.type === "checkbox" || c.type === "radio" ? c.value : ""}`;
  let sent = null;

  document.addEventListener("htmx:beforeRequest", (event) => { if (event.detail.elt.matches("form")) sent = event.detail.elt; });
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const old = event.detail.target;
    const next = event.detail.fragment.firstElementChild;
    if (!next || next.id !== old.id) return;
    // A palette whose step was just chosen has done its work and closes; the server opens it again where it refused.
    if (!sent?.matches(".step-form") || !old.contains(sent)) keepOpen(old, next);
    for (const form of old.querySelectorAll("form")) {
      if (form === sent) continue;
      const twin = twinOf(form, next);
      if (twin) keepTyped(form, twin);
    }
  });

  function twinOf(form, next) {
    const card = form.querySelector("input[name=card], input[name=step]")?.value;
    return [...next.querySelectorAll("form")].find((other) => other.getAttribute("action") === form.getAttribute("action")
      && (!card || other.querySelector("input[name=card], input[name=step]")?.value === card));
  }

  function keepTyped(form, twin) {
    const typed = new Map([...form.elements].filter((c) => c.name && c.type !== "hidden" && changed(c)).map((c) => [key(c), c]));
    for (const control of named(twin)) {
      const was = typed.get(key(control));
      if (!was) continue;
      if (control.type === "checkbox" || control.type === "radio") control.checked = was.checked;
      else control.value = was.value;
    }
  }

  function keepOpen(old, next) {
    for (const details of old.querySelectorAll("details[id][open]")) {
      const twin = next.querySelector(`#${CSS.escape(details.id)}`);
      if (twin && !twin.closest("[data-settled]")) twin.open = true;
    }
  }

  // --- a chosen step: the eye and the keyboard go to its card ---
  document.addEventListener("stepChosen", () => document.querySelector("#timeline > li")?.focus({ preventScroll: false }));

  // --- what went wrong on the way, said once, without losing the form ---
  const SAID = {
    0: "The server did not answer. What you typed is still here: try again.",
    400: "That could not be read, or is larger than this page takes. What you typed is still here.",
    403: "This page is from an older session. Copy what you typed, then load the page again.",
    404: "This is not here any more. Load the page again.",
    413: "That is larger than this page takes. What you typed is still here.",
    500: "That was our fault, and it is logged. What you typed is still here: try again.",
    503: "This scenario is set aside for the moment. Your attempt is unharmed.",
  };
  function alertOf(status) {
    const box = byId("alerts");
    const line = document.createElement("p");
    line.className = "notice bad";
    line.textContent = SAID[status] || SAID[500];
    box.replaceChildren(line);
  }
  document.addEventListener("htmx:responseError", (event) => alertOf(event.detail.xhr.status));
  document.addEventListener("htmx:sendError", () => alertOf(0));
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful) byId("alerts").replaceChildren();
    if (event.detail.elt === sent) sent = null;
  });
})();
