// The grid of ranks: a picture of the text beside it, drawn by click, touch or keyboard. The text is what is sent.
(() => {
  "use strict";
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

  // The groups of a text, as ranks by line; what cannot be read is left to the server, which says so.
  function read(text) {
    const inner = text.match(/[\[({][^\[\](){}]*[\])}]/g);
    const parts = inner ? inner.map((part) => part.slice(1, -1)) : text.split(/[\n;|]/);
    return parts.map((part) => part.split(/[\s,]+/).flatMap((word) => {
      const found = /^(\d{1,4})(?:[-–](\d{1,4}))?$/.exec(word);
      if (!found) return [];
      const first = Number(found[1]), last = Math.min(Number(found[2] ?? first), first + 999);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
    }));
  }

  function sheet(box) {
    const kind = box.dataset.sheet, size = Number(box.dataset.size);
    const area = box.querySelector("textarea");
    const cells = [...box.querySelectorAll("button.cell")];
    const brushes = [...box.querySelectorAll(".brush")];
    const said = document.getElementById("said");
    let at = new Map(); // rank -> number of its group
    let brush = 0;

    const members = (group) => cells.map((_, rank) => rank).filter((rank) => at.get(rank) === group);

    function show() {
      for (const cell of cells) {
        const rank = Number(cell.dataset.rank), group = at.get(rank);
        cell.className = group === undefined ? "cell" : `cell set g${group}`;
        cell.querySelector("b").textContent = group === undefined ? "" : LETTERS[group];
        cell.setAttribute("aria-label", `rank ${rank}, node ${cell.dataset.node}: ${group === undefined ? "in no group" : `group ${LETTERS[group]}`}`);
      }
      brushes.forEach((one, group) => {
        one.setAttribute("aria-pressed", String(group === brush));
        one.querySelector(".fill").textContent = `${members(group).length}/${size}`;
      });
    }

    function fromText() {
      at = new Map();
      let group = 0;
      for (const ranks of read(area.value)) {
        if (!ranks.length) { group += area.value.includes("[") ? 0 : 1; continue; }
        for (const rank of ranks) if (rank < cells.length && group < brushes.length) at.set(rank, group);
        group += 1;
      }
      const open = brushes.findIndex((_, one) => members(one).length < size);
      brush = open < 0 ? 0 : open;
      show();
    }

    function toText() {
      const lines = brushes.map((_, group) => members(group).join(" "));
      area.value = lines.join("\n").replace(/\n+$/, "");
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }

    function put(rank, group) {
      const out = at.get(rank) === group;
      if (out) at.delete(rank); else at.set(rank, group);
      const full = members(group).length >= size;
      said.textContent = `${kind}: rank ${rank} ${out ? "in no group" : `in group ${LETTERS[group]}`}${full && !out ? `, which has its ${size} ranks` : ""}.`;
      if (full && !out) {
        const next = brushes.findIndex((_, one) => members(one).length < size);
        if (next >= 0) brush = next;
      }
      writing = true; toText(); writing = false;
      show();
    }

    let writing = false;
    area.addEventListener("input", () => { if (!writing) fromText(); });
    brushes.forEach((one, group) => one.addEventListener("click", () => { brush = group; show(); }));
    const focus = (rank) => {
      const next = cells[Math.min(cells.length - 1, Math.max(0, rank))];
      for (const cell of cells) cell.tabIndex = cell === next ? 0 : -1;
      next.focus();
    };
    const per = cells.filter((cell) => cell.dataset.node === "0").length;
    const STEPS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: per, ArrowUp: -per, Home: -cells.length, End: cells.length };
    for (const cell of cells) {
      const rank = Number(cell.dataset.rank);
      cell.addEventListener("click", () => { focus(rank); put(rank, brush); });
      cell.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const group = LETTERS.indexOf(event.key.toUpperCase());
        if (event.key in STEPS) focus(rank + STEPS[event.key]);
        else if (event.key.length === 1 && group >= 0 && group < brushes.length) { brush = group; if (at.get(rank) !== group) put(rank, group); else show(); }
        else return;
        event.preventDefault();
      });
    }
    // The picture says it all, unless the text is what has to be mended.
    box.querySelector("[data-twin]").open = area.getAttribute("aria-invalid") === "true";
    fromText();
  }

  document.querySelectorAll("[data-sheet]").forEach(sheet);
})();
