// Looks at every view of a running server, or of a page that is one file, with headless Chromium: tries the
// keyboard, the brush and the switches, and fails if the page writes an error, opens a dialog, is wider than its
// window, or has a fault that axe-core finds. Keeps pictures of all views, of a failing run or if `--keep` says so.
//
//     npm run look -- http://127.0.0.1:8088/ FOLDER [--keep]
//     npm run look -- file:///tmp/profile.html FOLDER [--keep]
//
// CHROMIUM names the browser, /usr/bin/chromium if it is not set.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [address = "http://127.0.0.1:8088/", folder = "pictures", keep = ""] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
mkdirSync(folder, { recursive: true });
const quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", ...quiet],
});
const faults = [];
const isFile = address.startsWith("file:");
// Views in the bar.
const views = new Set();
const PHONE = { width: 390, height: 800 };

async function look(name, hash, { width = 1280, height = 900, dark = false, act } = {}) {
  // Injected into the page from here, which its policy would forbid.
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", bypassCSP: true });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && faults.push(`${name}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`${name}: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`${name}: a dialog, ${dialog.message()}`);
    void dialog.dismiss();
  });
  try {
    await page.goto(address + hash);
    await page.waitForFunction(() => document.getElementById("status").textContent !== "", undefined, { timeout: 60_000 });
    await page.waitForTimeout(200);
    await act?.(page);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (overflow > 0) faults.push(`${name}: ${overflow} pixels wider than its window`);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    for (const of of violations) faults.push(`${name}: ${of.id}, ${of.help}: ${of.nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
  } catch (error) {
    faults.push(`${name}: ${error.message}`);
  }
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  const bar = await page.evaluate(() => [...document.querySelectorAll("nav a")].map((link) => link.getAttribute("href")));
  for (const href of bar) views.add(href.slice(2).split("?")[0]);
  const said = await page.textContent("#status");
  if (said === "failed") faults.push(`${name}: ${await page.textContent("main")}`);
  console.log(`${name}: ${said}`);
  const found = await page.evaluate(() => document.querySelector('main a[href^="#/request/"]')?.getAttribute("href"));
  await context.close();
  return found;
}

async function lookAtRequest(place) {
  await look("request", place);
  await look("request-phone", place, PHONE);
  await look("request-keyboard-dark", place, {
    dark: true,
    act: async (page) => {
      if ((await page.locator('[data-span="0"]').count()) === 0) return;
      await page.focus('[data-span="0"]');
      await page.keyboard.press("Enter");
      await page.waitForSelector(".detail h2");
      if ((await page.locator(".line").count()) === 0) return;
      await page.locator(".line").first().focus();
      await page.keyboard.press("Enter");
      await page.waitForSelector(".detail .facts");
      if ((await page.locator(".switch input").count()) > 0) await page.locator(".switch input").check();
    },
  });
}

async function brush(page) {
  if ((await page.locator(".u-over").count()) === 0) return;
  const box = await page.locator(".u-over").first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await page.waitForSelector(".chip");
  if (!/from=\d+&to=\d+/.test(page.url())) faults.push("brush: no times were chosen");
}

async function query(page) {
  // Built without SQL there is none.
  if ((await page.locator('nav a[href="#/sql"]').count()) === 0) return;
  await page.focus("textarea");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector("main table, .error");
}

// Opens all that is folded.
async function unfold(page) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((element) => (element.open = true)));
}

let place;
if (isFile) {
  place = await look("first", "", { act: unfold });
} else {
  // Of the longest requests, by the list.
  place = await look("requests", "#/requests");
  await look("requests-phone", "#/requests", PHONE);
  await look("overview", "#/overview");
  await look("overview-dark", "#/overview?quantile=p50", { dark: true });
  await look("overview-phone", "#/overview", PHONE);
  await look("sql", "#/sql", { act: query });
  await look("coverage", "#/coverage");
  await look("brush", "#/overview", { act: brush });
}
for (const view of ["profile", "compare"].filter((view) => views.has(view))) {
  await look(view, `#/${view}`, { act: unfold });
  await look(`${view}-phone-dark`, `#/${view}`, { ...PHONE, dark: true });
}
if (place) await lookAtRequest(place);
await browser.close();
faults.forEach((fault) => console.error(fault));
if (faults.length === 0 && keep !== "--keep") rmSync(folder, { recursive: true });
process.exitCode = faults.length > 0 ? 1 : 0;
