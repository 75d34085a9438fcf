"use strict";
// Asks the run how it is, and shows it.
(() => {
  const at = (id) => document.getElementById(id);
  const whole = new Intl.NumberFormat("en-US");
  const count = (n) => n === null || n === undefined ? "\u2013" : whole.format(n);
  const rate = (n) => n === null || n === undefined ? "\u2013" : n >= 1e6 ? (n / 1e6).toFixed(1) + " M" : n >= 1e3 ? (n / 1e3).toFixed(1) + " k" : n.toFixed(0);
  const time = (s) => s === null || s === undefined ? "\u2013" : s >= 3600 ? (s / 3600).toFixed(1) + " h" : s >= 90 ? (s / 60).toFixed(0) + " min" : s.toFixed(0) + " s";
  const say = (id, text) => { if (at(id).textContent !== text) at(id).textContent = text; };
  const cell = (inside, kind = "", tag = "td") => {
    const made = document.createElement(tag);
    if (kind !== "") made.className = kind;
    if (tag === "th") made.scope = "row";
    made.append(inside);
    return made;
  };
  const fill = (id, rows) => at(id).replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells);
    return row;
  }));

  // What is asked fails in one way only: a sentence.
  const ask = async (what, method = "GET") => {
    const options = {method, cache: "no-store", signal: AbortSignal.timeout(10000)};
    if (method === "POST") options.headers = {"X-Warpline": "page"};
    let response;
    try {
      response = await fetch(what, options);
    } catch (error) {
      throw Object.assign(new Error("the run gives no answer: it has ended, or was stopped; these are the last figures"), {gone: true});
    }
    const answer = await response.json().catch(() => ({error: "the answer cannot be read"}));
    if (!response.ok) throw new Error(answer.error);
    return answer;
  };

  let ended = false;
  const showState = (s) => {
    ended = s.phase === "ended";
    const name = s.inputs.map((path) => path.split("/").pop()).join(", ");
    say("title", name === "" ? "A run" : name);
    document.title = (s.done === undefined ? "" : Math.floor(100 * s.done) + "% ") + name + " \u2013 Warpline";
    say("about", `${s.gpus > 1 ? s.gpus + " GPUs " : ""}${s.gpu}, Warpline ${s.warpline}`);
    say("said", ended ? "The run has ended: " + s.end + "." : s.paused ? `Paused in cycle ${count(s.cycle)}.` : s.busy || s.phase !== "running" ? `The run is ${s.phase === "running" ? "busy" : s.phase}.` : "");
    at("done").value = s.done ?? 0;
    say("share", s.done === undefined ? "\u2013" : (100 * s.done).toFixed(1) + "%");
    say("cycle", count(s.cycle));
    say("kernel", s.kernel || "\u2013");
    say("launch", s.launch === undefined ? "\u2013" : `${Math.min(s.launch, s.launches)} of ${s.launches}`);
    say("ctas", s.ctas ? `${count(s.ctas_done)} of ${count(s.ctas)}` : "\u2013");
    say("cycles-rate", rate(s.cycles_per_s));
    say("instructions-rate", rate(s.instructions_per_s));
    say("left", ended ? "\u2013" : time(s.left_s));
    at("pause").disabled = ended || s.paused;
    at("resume").disabled = ended || !(s.paused || s.step_to !== null);
    for (const button of document.querySelectorAll("#step-by button, #step-to button")) button.disabled = ended;
  };
  const showQueues = (q) => {
    const share = (k) => k.most ? k.value / k.most : 0;
    const kinds = q.kinds.filter((k) => k.value > 0).sort((a, b) => share(b) - share(a) || b.value - a.value).slice(0, 14);
    fill("queue-rows", kinds.map((k) => {
      const bar = document.createElement("meter");
      bar.max = k.most || 1;
      bar.value = k.most ? k.value : 0;
      bar.setAttribute("aria-label", k.name + " filled");
      const name = cell(k.name, "key", "th");
      name.title = k.description;
      return [name, k.most === null ? cell("no limit", "note") : cell(bar), cell(count(k.value), "number"), cell(k.most === null ? "\u2013" : count(k.most), "number"), cell(count(k.blocks), "number")];
    }));
  };
  let since = null;
  const showCounters = (c) => {
    // Of a run that stands, the last changes stay.
    if (c.cycle === c.since) return;
    say("counters-caption", `Counters that changed most from cycle ${count(c.since)} to cycle ${count(c.cycle)}`);
    since = c.cycle;
    fill("counter-rows", c.counters.filter((one) => one.delta > 0).slice(0, 16).map((one) => {
      const name = cell(one.name, "key", "th");
      name.title = one.description;
      return [name, cell("+" + count(one.delta), "number"), cell(count(one.value), "number"), cell(one.unit)];
    }));
  };
  const showWaits = (w) => {
    say("waits-said", `${count(w.in_flight)} requests in flight in cycle ${count(w.cycle)}.` + (w.circle.length > 0 ? " The waits form a circle: " + w.circle.map((e) => e.from).join(" \u2192 ") + "." : ""));
    fill("kind-rows", w.kinds.slice(0, 14).map((k) => [cell(k.from, "key", "th"), cell(k.to, "key"), cell(count(k.count), "number")]));
    fill("wait-rows", w.requests.slice(0, 14).map((r) => [cell(r.made === null ? "\u2013" : count(r.made), "number"), cell(r.what), cell(r.at, "key"), cell(r.waits_for)]));
  };

  // One question after the other; those of closed sections are not asked.
  let timer = 0;
  const look = async () => {
    clearTimeout(timer);
    let wait = document.hidden ? 4000 : 1000;
    try {
      const state = await ask("state");
      showState(state);
      if (!state.busy) {
        if (at("queues").open) showQueues(await ask("queues?top=1"));
        if (at("counters").open) showCounters(await ask("counters?top=60" + (since === null ? "" : "&since=" + since)));
        if (at("waits").open) showWaits(await ask("waits?top=14"));
      }
      if (ended) return;
    } catch (error) {
      say("said", ended ? at("said").textContent : error.message);
      if (error.gone) wait = 4000;
    }
    clearTimeout(timer);
    timer = setTimeout(look, wait);
  };

  const wish = async (what, words) => {
    try {
      await ask(what, "POST");
      say("wish", words);
    } catch (error) {
      say("wish", error.message);
    }
    await look();
  };
  at("pause").addEventListener("click", () => wish("pause", "It pauses."));
  at("resume").addEventListener("click", () => wish("resume", "It goes on."));
  at("step-by").addEventListener("submit", (event) => { event.preventDefault(); wish("step?by=" + encodeURIComponent(at("by").value), `It goes on for ${at("by").value} cycles.`); });
  at("step-to").addEventListener("submit", (event) => { event.preventDefault(); wish("step?to=" + encodeURIComponent(at("to").value), `It stops at cycle ${at("to").value}.`); });

  // Buffers, to choose an address from; of another GPU when its number is typed.
  const listMemory = async () => {
    try {
      const {memory} = await ask("memory?gpu=" + encodeURIComponent(at("gpu").value.trim()));
      at("memory").replaceChildren(...memory.slice(0, 200).map((m) => {
        const option = document.createElement("option");
        option.value = m.address;
        option.label = `${m.name}, ${count(m.bytes)} bytes`;
        return option;
      }));
    } catch (error) {
      at("memory").replaceChildren();
    }
  };
  at("address").addEventListener("focus", listMemory);

  const sectors = (list) => list.length === 0 ? "\u2013" : list.join(" ");
  at("line").addEventListener("submit", async (event) => {
    event.preventDefault();
    at("line-table").hidden = at("line-bytes").hidden = true;
    try {
      const line = await ask(`line?address=${encodeURIComponent(at("address").value.trim())}&gpu=${encodeURIComponent(at("gpu").value.trim())}`);
      const dram = line.dram ? ` ${line.dram.channel}, bank ${line.dram.bank}, row ${line.dram.row}, which is ${line.dram.open ? "open" : "not open"}.` : "";
      say("line-said", `${count(line.looked_at)} caches looked at in cycle ${count(line.cycle)}.${dram} ${line.requests.length === 0 ? "No request of it is" : line.requests.length + " requests of it are"} in flight.`);
      say("line-caption", `Line ${line.address} of GPU ${line.gpu}, ${line.memory} ${line.offset}; sectors are 0 to 3`);
      fill("line-rows", line.caches.map((c) => [cell(c.cache, "key", "th"), ...(c.present ? [cell(sectors(c.valid)), cell(sectors(c.dirty))] : [cell("absent"), cell("\u2013")]),
        cell(sectors(c.awaited)), cell(c.differs === undefined ? "\u2013" : c.differs.length === 0 ? "no" : "sectors " + sectors(c.differs)), cell(c.class ?? "\u2013")]));
      at("line-table").hidden = false;
      if (line.bytes !== null) {
        at("line-bytes").textContent = [0, 1, 2, 3, 4, 5, 6, 7].map((row) => "+" + (16 * row).toString(16).padStart(2, "0") + "  " + line.bytes.slice(32 * row, 32 * row + 32).replace(/(..)/g, "$1 ")).join("\n");
        at("line-bytes").hidden = false;
      }
    } catch (error) {
      say("line-said", error.message);
    }
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden && !ended) look(); });
  look();
})();
