// Looks at every view of a running server with headless Chromium: keeps pictures, tries the keyboard and
// the brush, and fails if the page writes an error, opens a dialog or is wider than its window.
//
//     npm run look -- http://127.0.0.1:8088/ FOLDER
//
// CHROMIUM names the browser, /usr/bin/chromium if it is not set.
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

const [address = "http://127.0.0.1:8088/", folder = "pictures"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", ...quiet],
});
const faults = [];

async function look(name, hash, { width = 1280, height = 900, dark = false, act } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && faults.push(`${name}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`${name}: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`${name}: a dialog, ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(address + hash);
  await page.waitForFunction(() => document.getElementById("status").textContent !== "");
  await page.waitForTimeout(300);
  await act?.(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (overflow > 0) faults.push(`${name}: ${overflow} pixels wider than its window`);
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  console.log(`${name}: ${await page.textContent("#status")}`);
  const found = await page.evaluate(() => document.querySelector("td a")?.getAttribute("href"));
  await context.close();
  return found;
}

// Of the longest requests, by the list.
const first = await look("requests", "#/requests");
await look("requests-phone", "#/requests", { width: 390, height: 800 });
await look("overview", "#/overview");
await look("overview-dark", "#/overview?quantile=p50", { dark: true });
await look("overview-phone", "#/overview", { width: 390, height: 800 });
await look("sql", "#/sql", {
  act: async (page) => {
    // Built without SQL there is none.
    if ((await page.locator('nav a[href="#/sql"]').count()) === 0) return;
    await page.focus("textarea");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector("main table, .error");
  },
});
await look("profile", "#/profile");
await look("profile-phone-dark", "#/profile", { width: 390, height: 800, dark: true });
await look("coverage", "#/coverage");
await look("brush", "#/overview", {
  act: async (page) => {
    if ((await page.locator(".u-over").count()) === 0) return;
    const box = await page.locator(".u-over").first().boundingBox();
    await page.mouse.move(box.x + box.width * 0.3, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 5 });
    await page.mouse.up();
    await page.waitForSelector(".chip");
    if (!/from=\d+&to=\d+/.test(page.url())) faults.push("brush: no times were chosen");
  },
});
if (first?.startsWith("#/request/")) {
  await look("request", first);
  await look("request-phone", first, { width: 390, height: 800 });
  await look("request-keyboard-dark", first, {
    dark: true,
    act: async (page) => {
      if ((await page.locator('[data-span="0"]').count()) === 0) return;
      await page.focus('[data-span="0"]');
      await page.keyboard.press("Enter");
      await page.waitForSelector(".detail h2");
      await page.locator(".line").first().focus();
      await page.keyboard.press("Enter");
      await page.waitForTimeout(500);
    },
  });
}
await browser.close();
faults.forEach((fault) => console.error(fault));
process.exitCode = faults.length > 0 ? 1 : 0;
