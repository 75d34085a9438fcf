"use strict";
// The table of all points: sorted, searched, a page at a time, and the command that repeats each.
(() => {
  const data = JSON.parse(document.getElementById("points-data").textContent);
  const place = document.getElementById("points-table");
  const kRows = 50;
  const first = 4, settings = data.keys.length;
  const number = new Intl.NumberFormat("en-US", {maximumSignificantDigits: 6});
  const shown = (v) => v === null ? "\u2013" : Math.abs(v) < 1000 && !Number.isInteger(v) ? number.format(Number(v.toPrecision(3))) : number.format(Math.round(v));

  const columns = [{name: "point", at: 0, count: true}, {name: "workload", at: 1, names: data.workloads}];
  if (data.gpus.length > 1) columns.push({name: "GPU", at: 2, names: data.gpus});
  data.keys.forEach((name, n) => columns.push({name, at: first + n, values: data.values[n], count: true}));
  columns.push({name: "outcome", at: 3, names: data.outcomes});
  data.metrics.forEach((name, n) => columns.push({name, unit: data.units[n], at: first + settings + n, metric: true, count: true}));

  const text = (row, c) => c.names ? c.names[row[c.at]] : c.values ? (c.values[row[c.at]] ?? "").replace(/^"(.*)"$/, "$1") : c.metric ? shown(row[c.at]) : String(row[c.at]);
  const element = (tag, properties = {}, ...inside) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) if (value !== "") made[name] = value;
    made.append(...inside);
    return made;
  };
  const quoted = (word) => /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
  const command = (row) => {
    const [before, after] = data.commands[data.other_commands[row[0]] ?? data.command_of[row[1]]];
    const sets = data.keys.flatMap((key, n) => row[first + n] < 0 ? [] : ["--set", quoted(key + "=" + data.values[n][row[first + n]])]);
    return [before, "--gpu", quoted(data.gpus[row[2]]), ...sets, after].filter((word) => word !== "").join(" ");
  };

  // What is shown: rows that fit the words, sorted by a column.
  let rows = data.rows, page = 0, column = null, down = false;
  const fits = (row, words) => words.every((word) => {
    const equals = word.indexOf("=");
    if (equals > 0) {
      const c = columns.find((one) => one.name === word.slice(0, equals));
      return c !== undefined && text(row, c).toLowerCase() === word.slice(equals + 1).toLowerCase();
    }
    return columns.some((c) => (c.names || c.values || c.at === 0) && text(row, c).toLowerCase().includes(word.toLowerCase()));
  });
  const choose = () => {
    const words = search.value.split(/\s+/).filter((word) => word !== "");
    rows = data.rows.filter((row) => fits(row, words));
    if (column !== null) {
      const at = column.at, names = column.names;
      const compare = (a, b) => names ? names[a[at]].localeCompare(names[b[at]]) : a[at] - b[at];
      rows.sort((a, b) => a[at] === null || b[at] === null ? (a[at] === null) - (b[at] === null) : down ? compare(b, a) : compare(a, b));
    }
    page = 0;
    draw();
  };

  const search = element("input", {type: "search", id: "points-search", spellcheck: false});
  search.addEventListener("input", choose);
  const said = element("span", {id: "points-count"});
  said.setAttribute("role", "status");
  const step = (name, by) => {
    const button = element("button", {type: "button", textContent: name});
    button.addEventListener("click", () => { page += by; draw(); });
    return button;
  };
  const back = step("Previous", -1), on = step("Next", 1);

  const head = element("tr");
  for (const c of columns) {
    const button = element("button", {type: "button"}, c.name);
    if (c.unit) button.append(" ", element("small", {textContent: c.unit}));
    const cell = element("th", {scope: "col", className: c.count ? "number" : ""}, button);
    button.addEventListener("click", () => {
      down = column === c ? !down : false;
      column = c;
      for (const other of head.children) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      choose();
    });
    head.append(cell);
  }
  const body = element("tbody");
  const draw = () => {
    const from = page * kRows, to = Math.min(rows.length, from + kRows);
    said.textContent = rows.length === 0 ? "no point fits" : `${number.format(from + 1)} to ${number.format(to)} of ${number.format(rows.length)} points`;
    back.disabled = page === 0;
    on.disabled = to === rows.length;
    body.replaceChildren(...rows.slice(from, to).map((row) => {
      const line = element("tr");
      columns.forEach((c, n) => {
        const cell = element(n === 0 ? "th" : "td", {className: c.count ? "number" : ""});
        if (n === 0) {
          cell.scope = "row";
          const show = element("button", {type: "button", textContent: text(row, c)});
          show.setAttribute("aria-label", "point " + row[0] + ": its command");
          show.addEventListener("click", () => open(row));
          cell.append(show);
        } else {
          cell.textContent = text(row, c);
        }
        if (c.name === "outcome" && data.reasons[row[0]] !== undefined) cell.title = data.texts[data.reasons[row[0]]];
        line.append(cell);
      });
      return line;
    }));
  };

  const title = element("h3", {id: "command-title"}), words = element("pre", {tabIndex: 0}), why = element("p");
  const copy = element("button", {type: "button", textContent: "Copy"}), close = element("button", {type: "button", textContent: "Close"});
  const dialog = element("dialog", {}, title, why, words, element("p", {className: "tools"}, copy, close));
  dialog.setAttribute("aria-labelledby", "command-title");
  const open = (row) => {
    title.textContent = "Point " + row[0];
    words.textContent = command(row);
    why.textContent = data.reasons[row[0]] === undefined ? "" : data.outcomes[row[3]] + ": " + data.texts[data.reasons[row[0]]];
    copy.textContent = "Copy";
    dialog.showModal();
  };
  copy.addEventListener("click", async () => {
    getSelection().selectAllChildren(words);
    try {
      await navigator.clipboard.writeText(words.textContent);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Selected: press Ctrl+C";
    }
  });
  close.addEventListener("click", () => dialog.close());

  const label = element("label", {htmlFor: "points-search", textContent: "Filter "});
  const hint = "words of workload or outcome, or key=value";
  search.placeholder = hint;
  const frame = element("div", {className: "scroll", tabIndex: 0}, element("table", {}, element("caption", {textContent: "A heading sorts by its column; a point's number shows the command that repeats it"}), element("thead", {}, head), body));
  frame.setAttribute("role", "region");
  frame.setAttribute("aria-label", "All points");
  place.replaceChildren(element("div", {className: "tools"}, label, search, said, back, on), frame, dialog);
  draw();

  // What fits is no stop for the keyboard: nobody has to scroll it.
  for (const region of document.querySelectorAll(".scroll"))
    if (region.scrollWidth <= region.clientWidth) region.removeAttribute("tabindex");

  // Paper has no folds, but for points among which the reader has chosen.
  addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll("details:not(.point)")) fold.open = true; });
})();
