// Takes the pictures of samples/diagnosis/README.md with headless Chromium, of a running server of its table.
//
//     npm run walk -- http://127.0.0.1:8088/
//
// CHROMIUM names the browser, /usr/bin/chromium if it is not set.
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const [address = "http://127.0.0.1:8088/"] = process.argv.slice(2);
const folder = fileURLToPath(new URL("../samples/diagnosis/", import.meta.url));
const quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", ...quiet],
});
const page = await browser.newPage({ viewport: { width: 1000, height: 640 } });
const faults = [];
page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
page.on("pageerror", (error) => faults.push(error.message));

async function open(hash) {
  await page.goto("about:blank");
  await page.goto(address + hash);
  await page.waitForFunction(() => document.getElementById("status").textContent !== "");
  await page.waitForTimeout(300);
}

async function picture(name) {
  await page.screenshot({ path: `${folder}${name}.png` });
  console.log(name);
}

const type = "ClientHandler.writeBlock";
await open(`#/overview?type=${type}&quantile=p50`);
// The latency stands second.
const chart = page.locator(".u-over").nth(1);
const box = await chart.boundingBox();
await picture("overview");
// All from 12:15:05 on, as somebody drags over it. The first and the last point stand at the borders.
const share = await page.evaluate(async (type) => {
  const { overview } = await (await fetch(`/api/overview?type=${type}`)).json();
  const from = Date.UTC(2026, 10, 21, 12, 15, 5) * 1000;
  return (from - overview.from) / (overview.step * (overview.n_steps - 1));
}, type);
await page.mouse.move(box.x + box.width * share, box.y + 40);
await page.mouse.down();
await page.mouse.move(box.x + box.width - 1, box.y + 60, { steps: 8 });
await page.mouse.up();
await page.waitForSelector(".chip");
const chosen = new URLSearchParams(page.url().split("?")[1]);
if (!chosen.has("from")) faults.push("no times were chosen");
await open(`#/profile?${chosen}`);
await picture("profile");
await open(`#/requests?${chosen}&sort=duration`);
const longest = await page.evaluate(() => document.querySelector("td a").getAttribute("href"));
await open(longest);
await picture("request");
await browser.close();
faults.forEach((fault) => console.error(fault));
process.exitCode = faults.length > 0 ? 1 : 0;
