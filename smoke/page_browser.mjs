// Drives the page in a headless Chromium by its debugging protocol: what is seen, by keyboard, in light and dark, on a phone.
// usage: page_browser.mjs URL FOLDER PACKET; screenshots go into the folder, the first thing that is not so ends it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [url, folder, packet] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "volley-page-"));
const browser = spawn("chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", `--user-data-dir=${profile}`,
  "--remote-debugging-pipe", "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
// Its children write into the profile for a while after it is gone.
const remove = () => { try { rmSync(profile, { recursive: true, force: true }); return true; } catch { return false; } };
const end = (code) => { browser.on("exit", async () => { for (let tries = 0; tries < 100 && !remove(); tries += 1) await wait(100); process.exit(code); }); browser.kill(); };
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

let number = 0, session, said = "";
const waiting = new Map(), faults = [];
browser.stdio[4].on("data", (part) => {
  said += part;
  const all = said.split("\0");
  said = all.pop();
  for (const told of all.map((text) => JSON.parse(text))) {
    if (told.id) waiting.get(told.id)(told);
    if (told.method === "Runtime.exceptionThrown") faults.push(told.params.exceptionDetails.exception?.description || told.params.exceptionDetails.text);
    if (told.method === "Log.entryAdded" && told.params.entry.level === "error") faults.push(`${told.params.entry.text} ${told.params.entry.url}`);
  }
});
const ask = (method, params = {}) => new Promise((done, failed) => {
  number += 1;
  waiting.set(number, (told) => told.error ? failed(new Error(`${method}: ${told.error.message}`)) : done(told.result));
  browser.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId: session }) + "\0");
});
const { targetInfos } = await ask("Target.getTargets");
const { targetId } = targetInfos.find((it) => it.type === "page") || await ask("Target.createTarget", { url: "about:blank" });
session = (await ask("Target.attachToTarget", { targetId, flatten: true })).sessionId;
async function value(expression) {
  const told = await ask("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
  if (told.exceptionDetails) throw new Error(`${expression}: ${told.exceptionDetails.exception.description}`);
  return told.result.value;
}
async function until(what, expression) {
  for (let tries = 0; tries < 300; tries += 1) { if (await value(expression)) return; await wait(100); }
  throw new Error(`not so: ${what}; the page says: ${await value("document.body.innerText.slice(0, 600)")}`);
}
async function picture(name) {
  const { data } = await ask("Page.captureScreenshot", { format: "png" });
  writeFileSync(join(folder, `${name}.png`), Buffer.from(data, "base64"));
}
const size = (width, height, mobile = false) => ask("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
const scheme = (name) => ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: name }] });
async function press(key, code) {
  for (const type of ["keyDown", "keyUp"]) await ask("Input.dispatchKeyEvent", { type, key, code: key, windowsVirtualKeyCode: code, text: key === "Enter" && type === "keyDown" ? "\r" : undefined });
}
const go = (section) => value(`location.hash = "#${section}"`);

try {
  for (const domain of ["Page", "Runtime", "Log"]) await ask(`${domain}.enable`);
  await size(1280, 800);
  await scheme("light");
  await ask("Page.navigate", { url });
  await until("ports are shown with rates", `document.querySelectorAll("#ports-table tbody th").length >= 2 && /\\d/.test(document.querySelector("#ports-table td.rx")?.textContent)`);
  await wait(4000);
  await picture("ports");
  // By keyboard: the first stop skips to the content, the next are the sections.
  await press("Tab", 9);
  await until("the first stop skips", `document.activeElement.className === "skip"`);
  await press("Tab", 9); await press("Tab", 9);
  await until("then come the sections", `document.activeElement.hash === "#topology"`);
  await press("Enter", 13);
  await until("places are drawn, and what ties them", `document.querySelectorAll("#topology-picture g.node").length >= 6 && document.querySelectorAll("#topology-picture path.edge").length >= 6`);
  await until("a port without a link is marked", `document.querySelectorAll("#topology-picture g.node.drops").length >= 1`);
  await until("ports tell their rates there", `/\\d.* bit\\/s/.test(document.querySelector('g.node[data-place="port p1"]').textContent)`);
  await value(`document.querySelector('g.node[data-place="bridge br0"]').focus()`);
  await press("Enter", 13);
  await until("a chosen place tells its ties", `/VLAN v10: member/.test(document.querySelector("#topology-place").innerText) && document.querySelectorAll("#topology-picture path.chosen").length >= 2`);
  await until("and keeps the keyboard", `document.activeElement.getAttribute("data-place") === "bridge br0"`);
  await picture("topology");
  await scheme("dark");
  await picture("topology-dark");
  await scheme("light");
  await value(`(() => { const q = document.querySelector("#topology-form input"); q.value = "192.0.2.9"; q.dispatchEvent(new Event("input", { bubbles: true })); })()`);
  await until("what is looked for is left, with what belongs to it", `(() => { const ids = [...document.querySelectorAll("#topology-picture g.node")].map((it) => it.dataset.place); return ids.includes("port vx") && ids.includes("far 192.0.2.9") && !ids.includes("port p1"); })()`);
  await value(`(() => { const q = document.querySelector("#topology-form input"); q.value = "nowhere"; q.dispatchEvent(new Event("input", { bubbles: true })); })()`);
  await until("what is not there is told", `/no such place/.test(document.querySelector("#topology-picture").innerText)`);
  await value(`(() => { const q = document.querySelector("#topology-form input"); q.value = ""; q.dispatchEvent(new Event("input", { bubbles: true })); })()`);
  await go("graph");
  await until("nodes are drawn", `document.querySelectorAll("#graph g.node").length >= 3`);
  await value(`document.querySelector('g.node[data-node="ethernet-input"]').focus()`);
  await press("Enter", 13);
  await until("a chosen node tells its exits", `document.querySelector("#graph-node table") !== null`);
  await picture("graph");
  await scheme("dark");
  await picture("graph-dark");
  for (const section of ["shaping", "neighbors", "drops"]) {
    await go(section);
    await until(`${section} is shown alone`, `[...document.querySelectorAll("section")].filter((it) => it.offsetParent).map((it) => it.id).join() === "${section}" && document.querySelector("#${section}").innerText.length > 40`);
    await picture(`${section}-dark`);
  }
  await scheme("light");
  await go("routes");
  await value(`document.querySelector("#routes-form input").value = "10.0.2.2"; document.querySelector("#routes-form button").click()`);
  await until("a route is found", `/10\\.0\\.2\\.2: /.test(document.querySelector("#routes-found").textContent) && document.querySelector("#routes-table tbody th") !== null`);
  await picture("routes");
  await go("explain");
  await value(`document.querySelector("#explain-packet").value = ${JSON.stringify(packet)}; document.querySelector("#explain-form button").click()`);
  await until("a packet is explained", `document.querySelectorAll("#explain-told ol.steps li").length >= 1 && document.querySelector("#explain-told .outcome") !== null`);
  await picture("explain");
  await value(`document.querySelector("#explain-packet").value = "in nowhere ip dst 10.0.0.1"; document.querySelector("#explain-form button").click()`);
  await until("what is wrong is told", `document.querySelector("#explain-told .bad") !== null`);
  await go("lab");
  await until("the lab has a place", `!document.querySelector("#lab-link").hidden`);
  await until("what it measures, how far it is, and what it found", `(() => { const told = document.querySelector("#lab").innerText;
    return /quick: A first look/.test(told) && /3 of 12 searches, [1-9]:\\d\\d since it began, about \\d:\\d\\d left/.test(told) && /Volley: ip4, frame bytes 64/.test(told)
      && /≥ 0\\.6200/.test(told) && /1\\.2500/.test(told) && /not measured: ovs, l2-xconnect: it died/.test(told); })()`);
  await until("and believes no name", `document.querySelector("#lab img") === null && /<img src=x/.test(document.querySelector("#lab").innerText)`);
  await until("its bar tells the same", `document.querySelector("#lab progress").value === 0.25`);
  await picture("lab");
  await scheme("dark");
  await picture("lab-dark");
  await scheme("light");
  // On a phone nothing is wider than it.
  await size(390, 844, true);
  for (const section of ["ports", "topology", "graph", "shaping", "routes", "neighbors", "drops", "explain", "lab"]) {
    await go(section);
    await until(`${section} fits a phone`, `document.querySelector("#${section}").classList.contains("shown") && document.documentElement.scrollWidth <= 390`);
  }
  await picture("lab-phone");
  await go("topology");
  await until("there it is a list", `document.querySelectorAll("#topology-picture li").length >= 6 && !document.querySelector("#topology-picture svg")`);
  await picture("topology-phone");
  await go("ports");
  await wait(300);
  await picture("phone");
  // Text stands out from what is behind it, in both schemes (WCAG: 4.5).
  for (const name of ["light", "dark"]) {
    await scheme(name);
    const poor = await value(`(() => {
      const style = getComputedStyle(document.documentElement), colour = (it) => style.getPropertyValue("--" + it).trim();
      const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
      const ratio = (a, b) => { const [x, y] = [light(colour(a)), light(colour(b))].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
      const pairs = ["text", "quiet", "link", "rx", "tx", "bad", "good"].flatMap((it) => [[it, "ground"], [it, "raised"]]).concat([["on-mark", "mark"]]);
      return pairs.filter(([a, b]) => !(ratio(a, b) >= 4.5)).map((it) => it.join(" on "));
    })()`);
    if (poor.length) throw new Error(`${name}: too little contrast: ${poor.join(", ")}`);
  }
  const unnamed = await value(`[...document.querySelectorAll("input, textarea, button, a, [role=button], [role=img]")].filter((it) => !(it.labels?.length || it.textContent.trim() || it.getAttribute("aria-label"))).length`);
  if (unnamed) throw new Error(`${unnamed} controls have no name`);
  const wrong = faults.filter((it) => !/status of 404|status of 4\d\d/.test(it));
  if (wrong.length) throw new Error(`the browser tells faults: ${wrong.join("; ")}`);
  end(0);
} catch (error) {
  console.error(error.message);
  await picture("failed").catch(() => {});
  end(1);
}
