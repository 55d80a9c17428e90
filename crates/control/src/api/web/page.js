// The page: asks the router again and again for what the section that is seen shows. What it says
// is put in as text, never as markup.
"use strict";
document.documentElement.classList.add("js");

const PERIOD_MS = 2000, SAMPLES = 150;
const SVG = "http://www.w3.org/2000/svg";
const at = (id) => document.getElementById(id);

// make("td", {class: "number"}, "7", …): an element with attributes and what is in it.
function make(name, attributes = {}, ...inside) {
  const made = attributes.svg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "svg" || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  for (const it of inside.flat()) if (it !== null && it !== undefined && it !== "") made.append(it);
  return made;
}
const put = (into, ...inside) => into.replaceChildren(...inside.flat().filter((it) => it !== null && it !== undefined));

async function ask(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" } });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.detail || answer.statusText);
  return told;
}

// 12345678 -> "12.3 M"
function short(number) {
  if (number === null || !Number.isFinite(number)) return "–";
  const units = ["", " k", " M", " G", " T"];
  let unit = 0;
  while (number >= 999.5 && unit < units.length - 1) { number /= 1000; unit += 1; }
  const digits = number >= 100 || (unit === 0 && Number.isInteger(number)) ? 0 : number >= 10 ? 1 : 2;
  return number.toFixed(digits) + units[unit];
}
const ago = (ms) => ms < 10000 ? `${(ms / 1000).toFixed(3)} s ago` : ms < 600000 ? `${Math.floor(ms / 1000)} s ago`
  : ms < 36000000 ? `${Math.floor(ms / 60000)} min ago` : `${Math.floor(ms / 3600000)} h ago`;

// A table: columns are [name, what of a row, class]; the first is the row's head.
function table(into, caption, columns, rows, none) {
  into.className = "cards";
  const head = make("tr", {}, columns.map(([name, , kind]) => make("th", { scope: "col", class: kind }, name)));
  const body = rows.map((row) => make("tr", {}, columns.map(([name, of, kind], place) => {
    const cell = place === 0 ? ["th", { scope: "row" }] : ["td", {}];
    return make(cell[0], { ...cell[1], class: kind, "data-name": name }, of(row));
  })));
  if (rows.length === 0) body.push(make("tr", {}, make("td", { colspan: columns.length, class: "quiet whole" }, none)));
  put(into, make("caption", { class: "quiet" }, caption), make("thead", {}, head), make("tbody", {}, body));
}

// What came in a second since the last reading of the same thing; null at first. Two readings close to each other say nothing:
// then it is as before.
const CLOSE_MS = 900;
const read = new Map();
function rate(key, value, now) {
  const then = read.get(key);
  if (then && now - then.now < CLOSE_MS) return then.rate;
  const told = then && value >= then.value ? (value - then.value) / ((now - then.now) / 1000) : null;
  read.set(key, { value, now, rate: told });
  return told;
}

// --- ports
const past = new Map();
function line(samples, pick, most, kind) {
  const step = 140 / (SAMPLES - 1), first = SAMPLES - samples.length;
  const points = samples.map((it, place) => [((first + place) * step).toFixed(1), (34 - 32 * (pick(it) || 0) / most).toFixed(1)]);
  const d = points.map(([x, y], place) => `${place ? "L" : "M"}${x} ${y}`).join("");
  return make("path", { svg: true, class: kind, d });
}
function drawn(name, samples) {
  const most = Math.max(1, ...samples.flatMap((it) => [it.rx || 0, it.tx || 0]));
  const label = `${name}: at most ${short(most)}bit/s in the last five minutes`;
  return make("svg", { svg: true, class: "history", viewBox: "0 0 140 36", preserveAspectRatio: "none", role: "img", "aria-label": label },
    line(samples, (it) => it.rx, most, "rx"), line(samples, (it) => it.tx, most, "tx"));
}
// As they were last, by name: for the topology, too.
let livePorts = new Map();
async function ports() {
  const now = performance.now(), all = await ask("/v1/ports");
  for (const port of all) {
    if (port.addresses.length) routed.add(port.name);
    const of = (way, what) => rate(`${port.name} ${way} ${what}`, port[way][what], now);
    port.now = { rxp: of("rx", "packets"), txp: of("tx", "packets"), drops: of("rx", "drops"), sentDrops: of("tx", "drops") };
    port.now.rx = (of("rx", "bytes") ?? NaN) * 8;
    port.now.tx = (of("tx", "bytes") ?? NaN) * 8;
    const samples = past.get(port.name) || [];
    const is_new = now - (samples.at(-1)?.now ?? -PERIOD_MS) >= CLOSE_MS;
    if (is_new && Number.isFinite(port.now.rx)) samples.push({ rx: port.now.rx, tx: port.now.tx, now });
    past.set(port.name, samples.slice(-SAMPLES));
  }
  livePorts = new Map(all.map((port) => [port.name, port]));
  if (!seen("ports")) return;
  const link = (port) => port.problem ? make("span", { class: "bad" }, port.problem)
    : !port.admin_up ? "switched off" : port.link_up ? make("span", { class: "good" }, `up${port.link_mbps ? `, ${short(port.link_mbps * 1e6)}bit/s` : ""}`)
    : make("span", { class: "bad" }, "no link");
  table(at("ports-table"), `${all.length} ports`, [
    ["port", (it) => it.name],
    ["kind", (it) => it.kind],
    ["link", link],
    ["addresses", (it) => it.addresses.join(", ") || "–", "mono"],
    ["received, packets/s", (it) => short(it.now.rxp), "number"],
    ["received, bit/s", (it) => short(it.now.rx), "number rx"],
    ["sent, packets/s", (it) => short(it.now.txp), "number"],
    ["sent, bit/s", (it) => short(it.now.tx), "number tx"],
    ["drops/s", (it) => { const sum = it.now.drops === null ? null : it.now.drops + it.now.sentDrops; return make("span", { class: sum ? "bad" : undefined }, short(sum)); }, "number"],
    ["history", (it) => drawn(it.name, past.get(it.name)), "whole"],
  ], all, "There is no port: volley port add makes one.");
}

// --- graph
let about = null, chosen = null;
async function graph() {
  if (!about) about = new Map((await ask("/v1/graph")).nodes.map((node) => [node.name, node.about]));
  const now = performance.now(), all = await ask("/v1/nodes");
  for (const node of all) {
    node.rate = rate(`node ${node.name}`, node.packets, now);
    node.cycles = rate(`cycles ${node.name}`, node.packets * node.cycles_per_packet, now);
    for (const exit of node.exits) exit.rate = rate(`exit ${node.name} ${exit.name}`, exit.packets, now);
  }
  const busy = all.filter((node) => node.packets > 0);
  picture(busy);
  detail(busy.find((node) => node.name === chosen));
}
// Columns by the longest way from an input, over exits that packets took; ways back are left out.
function columns(nodes) {
  const by = new Map(nodes.map((node) => [node.name, node])), rank = new Map(), open = new Set();
  const next = (node) => node.exits.filter((exit) => exit.packets > 0 && by.has(exit.to)).map((exit) => by.get(exit.to));
  const order = [];
  const visit = (node) => {
    if (rank.has(node.name) || open.has(node.name)) return;
    open.add(node.name);
    next(node).forEach(visit);
    open.delete(node.name);
    rank.set(node.name, 0);
    order.unshift(node);
  };
  nodes.forEach(visit);
  const place = new Map(order.map((node, index) => [node.name, index]));
  for (const node of order) for (const to of next(node)) {
    if (place.get(to.name) > place.get(node.name)) rank.set(to.name, Math.max(rank.get(to.name), rank.get(node.name) + 1));
  }
  const out = [];
  for (const node of order) (out[rank.get(node.name)] ||= []).push(node);
  return out.filter(Boolean);
}
function picture(nodes) {
  const [W, H, DX, DY] = [118, 44, 142, 60], all = columns(nodes), where = new Map();
  const rows = Math.max(1, ...all.map((column) => column.length));
  const focused = document.activeElement?.getAttribute?.("data-node");
  all.forEach((column, x) => column.forEach((node, y) => {
    where.set(node.name, [8 + x * DX, 8 + (y + (rows - column.length) / 2) * DY]);
  }));
  const cycles = nodes.reduce((sum, node) => sum + (node.cycles || 0), 0) || 1;
  const edges = [], boxes = [];
  for (const node of nodes) {
    const [x, y] = where.get(node.name);
    for (const exit of node.exits) {
      const to = exit.packets > 0 && where.get(exit.to);
      if (!to) continue;
      const [x1, y1, x2, y2] = [x + W, y + H / 2, to[0], to[1] + H / 2], bend = Math.max(20, Math.abs(x2 - x1) / 2);
      edges.push(make("path", { svg: true, class: "edge", d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` }));
    }
    const share = (node.cycles || 0) / cycles;
    const drops = node.exits.some((exit) => exit.to === "drop" && exit.rate > 0);
    const told = `${short(node.rate)}/s${share >= 0.005 ? `, ${Math.round(share * 100)} %` : ""}`;
    const choose = () => { chosen = chosen === node.name ? null : node.name; graph().catch(fault); };
    boxes.push(make("g", {
      svg: true, class: drops ? "node drops" : "node", role: "button", tabindex: "0", "data-node": node.name,
      "aria-pressed": String(chosen === node.name), "aria-label": `${node.name}: ${told}${drops ? ", drops packets" : ""}`,
      onclick: choose, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } },
    },
      make("title", { svg: true }, about.get(node.name) || ""),
      make("rect", { svg: true, class: "box", x, y, width: W, height: H, rx: 6 }),
      make("rect", { svg: true, class: "heat", x: x + 3, y: y + H - 8, width: ((W - 6) * share).toFixed(1), height: 5, rx: 2 }),
      make("text", { svg: true, x: x + 7, y: y + 16 }, node.name),
      make("text", { svg: true, class: "quiet", x: x + 7, y: y + 31 }, told)));
  }
  const [width, height] = [16 + Math.max(1, all.length) * DX, 16 + rows * DY];
  put(at("graph-picture"), nodes.length === 0 ? make("p", { class: "quiet" }, "No packet has come yet.")
    : make("svg", { svg: true, class: "drawing", width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Nodes and the ways between them" }, edges, boxes));
  if (focused) at("graph-picture").querySelector(`[data-node="${CSS.escape(focused)}"]`)?.focus();
}
function detail(node) {
  if (!node) return put(at("graph-node"));
  const exits = make("table");
  table(exits, `exits of ${node.name}`, [
    ["exit", (it) => it.name],
    ["leads to", (it) => it.to || "the node keeps it"],
    ["packets/s", (it) => short(it.rate), "number"],
    ["packets", (it) => short(it.packets), "number"],
  ], node.exits.filter((exit) => exit.packets > 0), "No exit was taken.");
  put(at("graph-node"), make("article", {}, make("h3", {}, node.name),
    make("p", {}, `It ${about.get(node.name) || "…"}. ${short(node.cycles_per_packet)} cycles a packet, ${short(node.packets_per_call)} packets a call.`), exits));
}

// --- shaping
async function shaping() {
  const now = performance.now(), all = await ask("/v1/qos");
  const tree = (node, path) => {
    const own = `${path} ${node.kind} ${node.id || ""}`;
    const sent = rate(own, node.sent_bytes, now), dropped = rate(`${own} d`, node.dropped, now);
    const delay = sent ? node.backlog_bytes / sent : 0;
    return make("li", {}, make("strong", {}, `${node.kind} ${node.id || ""}`), ` ${node.settings} `,
      make("div", { class: "quiet" }, `${short((sent ?? NaN) * 8)}bit/s`,
        ` · waiting ${short(node.backlog_packets)} packets, ${short(node.backlog_bytes)}B`,
        node.backlog_packets && sent ? `, ${(delay * 1000).toFixed(1)} ms at this rate` : "",
        " · ", make("span", { class: dropped ? "bad" : undefined }, `drops ${short(dropped)}/s, ${short(node.dropped)} in all`)),
      node.children.length ? make("ul", {}, node.children.map((child, place) => tree(child, `${own} ${place}`))) : null);
  };
  put(at("shaping-trees"), all.length ? all.map((it) => make("article", {}, make("h3", {}, `port ${it.port}`), make("ul", { class: "tree" }, tree(it.root, it.port))))
    : make("p", { class: "quiet" }, "No port is shaped."));
}

// --- routes and neighbours
const way = (route) => route.action || route.next_hops.map((hop) => [hop.address && `via ${hop.address}`, hop.port && `port ${hop.port}`,
  hop.weight > 1 && `weight ${hop.weight}`, !hop.usable && "(not usable)"].filter(Boolean).join(" ")).join(", ");
async function routes() {
  const form = new FormData(at("routes-form")), q = form.get("q").trim(), vrf = form.get("vrf").trim();
  const more = vrf ? { vrf } : {};
  let found = "", within = {};
  if (q && !q.includes("/")) {
    const told = await ask("/v1/lookup/" + encodeURIComponent(q) + "?" + new URLSearchParams(more));
    found = `${told.address}: ${told.outcome}` + (told.route ? `, by ${told.route.prefix} (${told.route.origin || told.route.source})` : "");
    if (told.route) within = { within: told.route.prefix };
  } else if (q) within = { within: q };
  const told = await ask("/v1/routes?" + new URLSearchParams({ limit: 100, ...more, ...within }));
  at("routes-found").textContent = found;
  table(at("routes-table"), `${told.routes.length} of ${told.total} routes`, [
    ["network", (it) => it.prefix, "mono"], ["from", (it) => it.origin || it.source],
    ["state", (it) => it.active ? "active" : "inactive"], ["leads", way, "whole"],
  ], told.routes, "There is no such route.");
}
async function neighbors() {
  const q = new FormData(at("neighbors-form")).get("q").trim().toLowerCase(), all = await ask("/v1/neighbors");
  const fits = all.filter((it) => !q || [it.address, it.mac, it.port, it.vrf].some((text) => text && text.toLowerCase().includes(q)));
  table(at("neighbors-table"), `${fits.length} of ${all.length} neighbours`, [
    ["address", (it) => it.address, "mono"], ["port", (it) => it.port], ["VRF", (it) => it.vrf],
    ["MAC address", (it) => it.mac || "not known", "mono"], ["state", (it) => it.state],
    ["heard", (it) => ago(it.age_ms), "nowrap"], ["waiting packets", (it) => short(it.held_packets), "number"],
  ], fits.slice(0, 500), "There is no such neighbour.");
}

// --- drops
// Words for a packet that was dropped. What is not kept of it are no headers: zeros do. One that was routed may have its next
// link header already, so it comes to the port once more.
const routed = new Set();
function asked(it) {
  const whole = it.hex.padEnd(2 * it.bytes, "0"), kind = whole.slice(24, 28);
  return routed.has(it.port) && (kind === "0800" || kind === "86dd") ? `in ${it.port} ether type 0x${kind} / hex ${whole.slice(28)}`
    : `in ${it.port} hex ${whole}`;
}
async function drops() {
  const now = performance.now(), all = await ask("/v1/why-dropped");
  const packet = (it) => make("li", {}, `${ago(it.age_ms)}, from ${it.port || "the router"}${it.to ? ` to ${it.to}` : ""}, ${it.bytes} bytes `,
    make("pre", {}, it.detail),
    it.port && it.hex.length >= 28 ? make("button", { class: "small", type: "button", onclick: () => {
      at("explain-packet").value = asked(it);
      location.hash = "#explain";
    } }, "What would become of it now?") : null);
  put(at("drops-list"), all.length ? all.map((it) => {
    const told = rate(`drop ${it.node} ${it.reason}`, it.packets, now);
    return make("article", {}, make("h3", {}, `${it.node}: ${it.reason}`),
      make("p", {}, make("strong", { class: told ? "bad" : undefined }, `${short(told)}/s, ${short(it.packets)} in all. `), it.meaning),
      make("p", { class: "quiet" }, it.help), make("ul", {}, it.last.map(packet)));
  }) : make("p", { class: "quiet" }, "Nothing was dropped."));
}

// --- what if
async function explain(event) {
  event?.preventDefault();
  const packet = at("explain-packet").value.trim();
  if (!packet) return;
  let told;
  try {
    told = await ask("/v1/explain?" + new URLSearchParams({ packet }));
  } catch (error) {
    return put(at("explain-told"), make("p", { class: "notice bad" }, error.message));
  }
  const step = (it) => make("li", {}, make("strong", {}, it.node), ` → ${it.exit}`,
    it.meaning ? make("span", { class: "quiet" }, ` ${it.meaning}`) : null, make("pre", { class: "quiet" }, it.detail),
    it.decisions.length ? make("dl", { class: "decisions" }, it.decisions.flatMap((one) => [make("dt", {}, one.what), make("dd", {}, one.said)])) : null);
  const frames = (title, all) => all.map((it) => make("p", {}, make("strong", {}, `${title} ${it.port}`), `, ${it.bytes} bytes`, make("pre", {}, it.packet)));
  put(at("explain-told"), make("article", {},
    make("p", { class: "outcome" }, told.outcome), make("p", {}, `in ${told.port} `), make("pre", {}, told.packet),
    told.walks.map((walk) => [walk.number === 1 ? null : make("h3", {}, `packet ${walk.number}, made by ${walk.steps[0]?.node || "a node"}`),
      make("ol", { class: "steps" }, walk.steps.map(step))]).flat(),
    frames("sent by", told.sent), frames("to the twin of", told.twins),
    told.brings_about.map((it) => make("p", {}, `the router ${it}`))));
}

// --- the lab
const clock = (s) => `${s >= 3600 ? `${Math.floor(s / 3600)}:` : ""}${String(Math.floor(s / 60) % 60).padStart(s >= 3600 ? 2 : 1, "0")}:${String(s % 60).padStart(2, "0")}`;
const LAB_WORDS = { off: "The configuration names no folder.", nothing: "There is no campaign in the folder.", unreadable: "What is there cannot be read",
  running: "running", gone: "ended without a word, its process is gone: what was measured stands", over: "over", stopped: "stopped: what was measured stands", failed: "failed: what was measured stands" };
async function lab() {
  const told = await ask("/v1/lab"), runs = told.state === "running", mpps = (pps) => (pps / 1e6).toFixed(4);
  const share = told.all ? Math.min(1, told.done / told.all) : 0;
  const state = make("strong", { class: ["unreadable", "failed", "gone"].includes(told.state) ? "bad" : undefined }, LAB_WORDS[told.state]);
  put(at("lab-standing"), make("article", {},
    told.scenario ? make("h3", {}, told.scenario, told.title ? `: ${told.title}` : "") : null,
    make("p", {}, state, told.problem ? `: ${told.problem}` : "", told.folder ? make("span", { class: "quiet" }, ` ${told.folder}`) : null),
    told.scenario ? [
      make("progress", { value: share, max: 1, "aria-label": "searches that are over" }),
      make("p", { class: "lab-far" }, `${told.done}${told.all ? ` of ${told.all}` : ""} searches, ${clock(told.elapsed_s)} since it began`,
        runs && told.left_s !== null ? `, about ${clock(told.left_s)} left` : ""),
      runs || told.state === "gone" ? make("p", {}, told.what, make("span", { class: told.silent_s > 600 ? "bad" : "quiet" }, ` heard of ${clock(told.silent_s)} ago`)) : null,
    ] : null));
  at("lab-table").hidden = !told.scenario;
  table(at("lab-table"), `${told.results.length} rates so far`, [
    ["device", (it) => it.device], ["case", (it) => it.case], ["number", (it) => it.metric],
    ["Mpps", (it) => (it.limited_by === "device" ? "" : "≥ ") + mpps(it.pps), "number"],
    ["from", (it) => mpps(it.low_pps), "number"], ["to", (it) => it.high_pps === null ? "?" : mpps(it.high_pps), "number"],
    ["starts", (it) => it.runs, "number"], ["limited by the", (it) => it.limited_by],
  ], told.results, "None was found yet.");
  put(at("lab-failures"), told.failures.map((it) => make("li", { class: "bad" }, `not measured: ${it}`)));
}
// It has a place among the sections where the configuration names a folder.
async function offer_lab() { at("lab-link").hidden = (await ask("/v1/lab")).state === "off"; }

// --- the page itself
const SECTIONS = { ports, topology: () => topology(), graph, shaping, routes, neighbors, drops, explain: null, lab };
const current = () => location.hash.slice(1) in SECTIONS ? location.hash.slice(1) : "ports";
const seen = (name) => current() === name;
function fault(error) { const state = at("state"); state.textContent = error.message; state.className = "bad"; }
function show(event) {
  for (const name of Object.keys(SECTIONS)) at(name).classList.toggle("shown", seen(name));
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${current()}`) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  document.title = `${at(`${current()}-title`).textContent} – Volley`;
  if (event) at("main").focus({ preventScroll: true });
  look();
}
let looking = false, again = false;
async function look() {
  if (looking) { again = true; return; }
  looking = true;
  try {
    const name = current();
    // Rates have a past only if they are asked for while nobody sees them.
    if (name !== "ports") await ports();
    // What was asked for with a form stays until it is asked for again.
    if (SECTIONS[name] && !(name === "routes" && at("routes-table").rows.length)) await SECTIONS[name]();
    const told = await ask("/v1/version");
    at("about").textContent = `${told.volley}, up ${ago(told.uptime_s * 1000).replace(" ago", "").replace(".000", "")}`;
    const state = at("state");
    if (state.className !== "good") { state.className = "good"; state.textContent = "live"; }
  } catch (error) {
    fault(error instanceof TypeError ? new Error("the router does not answer") : error);
  }
  looking = false;
  if (again) { again = false; look(); }
}
at("routes-form").addEventListener("submit", (event) => {
  event.preventDefault();
  routes().catch((error) => { at("routes-found").textContent = error.message; });
});
at("neighbors-form").addEventListener("submit", (event) => event.preventDefault());
at("neighbors-form").addEventListener("input", () => neighbors().catch(fault));
at("explain-form").addEventListener("submit", explain);
addEventListener("hashchange", show);
setInterval(() => { if (!document.hidden) look(); }, PERIOD_MS);
addEventListener("DOMContentLoaded", () => { show(); offer_lab().catch(fault); });
