// The topology: what stands on what, in columns, or as lists where there is no room for a drawing.
"use strict";

const COLUMNS = [["port"], ["bond"], ["vlan"], ["tunnel"], ["bridge", "cross_connect", "mirror"], ["station"], ["vrf", "nat"], ["far_end"]];
const KINDS = { port: "port", bond: "bond", vlan: "VLAN", tunnel: "tunnel", station: "own station", bridge: "bridge",
  cross_connect: "cross-connect", mirror: "mirror", vrf: "VRF", nat: "NAT", far_end: "far end" };
const GROUPS = new Set(["bridge", "cross_connect", "vrf", "nat", "mirror"]);
// More than these in a column are no picture any more.
const TALLEST = 40;
const narrow = matchMedia("(max-width: 40rem)");
let placed = null;

const portOf = (place) => place.id.startsWith("port ") ? livePorts.get(place.name) : undefined;
function carried(place) {
  const port = portOf(place);
  return port ? `${short(port.now.rx)}bit/s in, ${short(port.now.tx)}bit/s out` : "";
}

// What belongs to what is looked for. From what many are in it goes on only where that is meant itself.
function belonging(whole, q) {
  if (!q) return whole;
  const by = new Map(whole.places.map((place) => [place.id, place]));
  const meant = whole.places.filter((it) => [it.name, it.about].some((text) => text.toLowerCase().includes(q)));
  const found = new Set(meant.map((it) => it.id)), open = [...found];
  while (open.length) {
    const id = open.pop(), place = by.get(id);
    if ((GROUPS.has(place.kind) || place.kind === "far_end") && !meant.includes(place)) continue;
    for (const tie of whole.ties) {
      const other = tie.from === id ? tie.to : tie.to === id ? tie.from : null;
      if (other && !found.has(other)) { found.add(other); open.push(other); }
    }
  }
  return { places: whole.places.filter((it) => found.has(it.id)), ties: whole.ties.filter((it) => found.has(it.from) && found.has(it.to)) };
}

// Places by column; in each, near the middle of what they are tied to. A tie over several columns has a lane in those between, one with all
// others to the same place, so that no line runs behind a box.
function arranged(shown) {
  const all = COLUMNS.map((kinds) => shown.places.filter((place) => kinds.includes(place.kind))).filter((column) => column.length);
  const tall = all.map((column) => column.splice(TALLEST).length);
  const at = new Map(all.flatMap((column, x) => column.map((place) => [place.id, x])));
  const ways = shown.ties.filter((tie) => at.has(tie.from) && at.has(tie.to)).map((tie) => {
    const way = [tie.from];
    for (let x = at.get(tie.from) + 1; x < at.get(tie.to); x += 1) {
      const id = `lane ${x} ${tie.to} ${tie.what === "outside"}`;
      if (!at.has(id)) { at.set(id, x); all[x].push({ id, isLane: true }); }
      way.push(id);
    }
    return { tie, way: [...way, tie.to] };
  });
  const row = new Map(), beside = new Map();
  for (const { way } of ways) way.slice(1).forEach((id, place) => {
    beside.set(id, [...beside.get(id) || [], way[place]]);
    beside.set(way[place], [...beside.get(way[place]) || [], id]);
  });
  const note = (column) => column.forEach((place, y) => row.set(place.id, y - column.length / 2));
  all.forEach(note);
  for (let round = 0; round < 6; round += 1) {
    for (const column of round % 2 ? [...all].reverse() : all) {
      const heavy = new Map(column.map(({ id }) => {
        const others = (beside.get(id) || []).map((other) => row.get(other));
        return [id, others.length ? others.reduce((sum, it) => sum + it, 0) / others.length : row.get(id)];
      }));
      column.sort((a, b) => heavy.get(a.id) - heavy.get(b.id));
      note(column);
    }
  }
  return { all, ways, tall };
}

function choice(place) {
  const choose = () => { placed = placed === place.id ? null : place.id; topology().catch(fault); };
  return { role: "button", tabindex: "0", "data-place": place.id, "aria-pressed": String(placed === place.id), onclick: choose,
    onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } } };
}
const inWords = (place) => `${KINDS[place.kind]} ${place.name}: ${place.about}${place.up === false ? ", no packet can pass" : ""}`;
const cut = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;

function sketch(shown) {
  const [W, H, DX, DY, LANE] = [144, 46, 178, 58, 14], { all, ways, tall } = arranged(shown), where = new Map();
  const height = (column) => column.reduce((sum, place) => sum + (place.isLane ? LANE : DY), 0);
  const highest = Math.max(...all.map(height));
  all.forEach((column, x) => {
    let y = 8 + (highest - height(column)) / 2;
    for (const place of column) {
      where.set(place.id, [8 + x * DX, y, y + (place.isLane ? LANE : H) / 2]);
      y += place.isLane ? LANE : DY;
    }
  });
  const edges = ways.map(({ tie, way }) => {
    const d = way.map((id, place) => {
      const [x, , y] = where.get(id);
      if (place === 0) return "";
      const [before, , y1] = where.get(way[place - 1]);
      // A line back, or to the same column, leaves and arrives on the left.
      const [x1, x2, bend] = before < x ? [before + W, x, (x - before - W) / 2] : [before, before === x ? x : x + W, -24];
      const curve = `${place === 1 ? `M${x1} ${y1}` : ""}C${x1 + bend} ${y1} ${x2 - (before < x ? bend : before === x ? 24 : -24)} ${y} ${x2} ${y}`;
      return place < way.length - 1 ? `${curve}L${x + W} ${y}` : curve;
    }).join("");
    const kind = ["edge", tie.what === "outside" && "outside", placed && (tie.from === placed || tie.to === placed) && "chosen"];
    return make("path", { svg: true, class: kind.filter(Boolean).join(" "), d }, make("title", { svg: true }, `${tie.from} – ${tie.to}: ${tie.what}`));
  });
  const boxes = all.flatMap((column) => column.filter((place) => !place.isLane).map((place) => {
    const [x, y] = where.get(place.id), kind = ["node", place.up === false && "drops", GROUPS.has(place.kind) && "group"];
    const below = portOf(place) ? `${short(portOf(place).now.rx)} ▸ ${short(portOf(place).now.tx)} bit/s` : place.about;
    return make("g", { svg: true, class: kind.filter(Boolean).join(" "), "aria-label": inWords(place), ...choice(place) },
      make("title", { svg: true }, `${place.about}${carried(place) ? `; ${carried(place)}` : ""}`),
      make("rect", { svg: true, class: "box", x, y, width: W, height: H, rx: GROUPS.has(place.kind) ? 16 : 6 }),
      make("text", { svg: true, x: x + 9, y: y + 18 }, cut(`${KINDS[place.kind]} ${place.name}`, 21)),
      make("text", { svg: true, class: "quiet", x: x + 9, y: y + 34 }, cut(below, 23)));
  }));
  const notes = tall.flatMap((count, x) => count ? [make("text", { svg: true, class: "quiet", x: 8 + x * DX, y: highest + 18 }, `and ${count} more: look for them`)] : []);
  const size = [16 + (all.length - 1) * DX + W, highest + (notes.length ? 32 : 16)];
  return make("svg", { svg: true, class: "drawing", width: size[0], height: size[1], viewBox: `0 0 ${size.join(" ")}`, role: "group", "aria-label": "Places and what ties them" }, edges, boxes, notes);
}

// The same for who has no room: what is in each, and what is in none.
function listed(shown) {
  const by = new Map(shown.places.map((place) => [place.id, place]));
  const line = (place, what) => make("li", {}, make("span", { class: place.up === false ? "bad" : "link", "aria-label": inWords(place), ...choice(place) },
    `${KINDS[place.kind]} ${place.name}`), make("div", { class: "quiet" }, [what, place.about, carried(place)].filter(Boolean).join(" · ")));
  const inside = new Set();
  const groups = shown.places.filter((place) => GROUPS.has(place.kind)).map((group) => {
    const ties = shown.ties.filter((tie) => tie.to === group.id || tie.from === group.id);
    const members = ties.map((tie) => [by.get(tie.to === group.id ? tie.from : tie.to), tie.what]);
    members.forEach(([place]) => inside.add(place.id));
    return make("article", {}, make("h3", {}, `${KINDS[group.kind]} ${group.name}`), make("ul", { class: "tree" }, members.map(([place, what]) => line(place, what))));
  });
  const others = shown.places.filter((place) => !GROUPS.has(place.kind) && !inside.has(place.id));
  const rest = others.length ? make("article", {}, make("h3", {}, "and"), make("ul", { class: "tree" }, others.map((place) => line(place, "")))) : null;
  return [groups, rest].flat();
}

function placeDetail(shown) {
  const place = shown.places.find((it) => it.id === placed);
  if (!place) return put(at("topology-place"));
  const by = new Map(shown.places.map((it) => [it.id, it])), port = portOf(place);
  const named = (id) => by.has(id) ? `${KINDS[by.get(id).kind]} ${by.get(id).name}` : id;
  const ties = shown.ties.filter((tie) => tie.from === place.id || tie.to === place.id);
  const question = port && ["port", "vlan"].includes(place.kind) ? make("button", { class: "small", type: "button", onclick: () => {
    at("explain-packet").value = `in ${place.name} `;
    location.hash = "#explain";
    at("explain-packet").focus();
  } }, "What would become of a packet from here?") : null;
  put(at("topology-place"), make("article", {}, make("h3", {}, `${KINDS[place.kind]} ${place.name}`), make("p", {}, place.about),
    place.up === false ? make("p", { class: "bad" }, port?.problem || (port && !port.admin_up ? "It is switched off." : "Its link is down.")) : null,
    port ? make("p", {}, `${carried(place)}; ${short(port.rx.packets)} packets in, ${short(port.tx.packets)} out`) : null,
    make("ul", {}, ties.map((tie) => make("li", {}, tie.from === place.id ? `${named(tie.to)}: ${tie.what}` : `${named(tie.from)}: ${tie.what}`))), question));
}

async function topology() {
  const whole = await ask("/v1/topology"), q = new FormData(at("topology-form")).get("q").trim().toLowerCase();
  const shown = belonging(whole, q), picture = at("topology-picture");
  const focused = document.activeElement?.getAttribute?.("data-place");
  put(picture, shown.places.length === 0 ? make("p", { class: "quiet" }, q ? "There is no such place." : "There is no port: volley port add makes one.")
    : narrow.matches ? listed(shown) : sketch(shown));
  placeDetail(shown);
  if (focused) picture.querySelector(`[data-place="${CSS.escape(focused)}"]`)?.focus();
}
at("topology-form").addEventListener("submit", (event) => event.preventDefault());
at("topology-form").addEventListener("input", () => topology().catch(fault));
narrow.addEventListener("change", () => { if (seen("topology")) topology().catch(fault); });
