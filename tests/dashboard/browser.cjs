// Open every page in Chromium and tell what was seen, as one line of JSON on standard output.
// Words: folder of node modules, the browser, link that the dashboard printed, folder for pictures, flags of the browser.
"use strict";

const [modules, executablePath, link, pictures, ...args] = process.argv.slice(2);
const base = link.split("?")[0];
const { chromium } = require(require.resolve("playwright-core", { paths: [modules] }));
const LOOKS = { light: [1280, 900, 1], dark: [1280, 900, 1], phone: [390, 844, 2] };
const told = { complaints: [], entered: [], away: [], wide: [], wrong: [], figures: 0, milliseconds: {} };

// Runs inside the page: figures against the JSON document that the page names.
async function compared() {
  const answer = await (await fetch(document.getElementById("json").href)).json();
  const wrong = [];
  const found = [...document.querySelectorAll("[data-at]")];
  for (const element of found) {
    let value = answer;
    for (const step of element.dataset.at.split("/").slice(1)) value = value?.[step];
    const shown = element.tagName === "TIME" ? element.dataset.value : element.value;
    if (value === undefined || (shown === "" ? null : Number(shown)) !== value) wrong.push(`${element.dataset.at} ${shown}`);
  }
  return { wrong, count: found.length };
}

// A page of a browser that followed the printed link; what it stores must keep it in, at the address without the token.
async function watched(context, name) {
  const page = await context.newPage();
  await page.goto(link);
  told.entered.push(page.url() === base && (await page.evaluate(() => document.cookie)) === "");
  const complain = (text) => told.complaints.push(`${name} ${page.url()}: ${text}`);
  page.on("console", (message) => complain(message.text()));
  page.on("pageerror", (error) => complain(String(error)));
  page.on("dialog", (dialog) => { complain(`dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on("requestfailed", (request) => {
    // The browser gives up what it was still loading when we leave a page: that is no fault of the server.
    const reason = request.failure()?.errorText;
    if (reason !== "net::ERR_ABORTED") complain(`failed ${request.url()}: ${reason}`);
  });
  page.on("request", (request) => { if (!request.url().startsWith(base)) told.away.push(request.url()); });
  return page;
}

async function open(page, path, look, name) {
  await page.goto(`${base}${path}`, { waitUntil: "load" });
  const took = await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
  told.milliseconds[name] = Math.max(told.milliseconds[name] ?? 0, Math.round(took));
  let { wrong, count } = await page.evaluate(compared);
  for (let again = 0; wrong.length && again < 2; again++) { // what a quota has left changes with the clock
    await page.reload();
    ({ wrong, count } = await page.evaluate(compared));
  }
  told.wrong.push(...wrong.map((text) => `${look} ${path}: ${text}`));
  told.figures += count;
  if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) told.wide.push(`${look} ${path}`);
  await page.screenshot({ path: `${pictures}/${name}-${look}.png` });
}

// Without the link the page asks for the token.
async function form(browser) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const seen = [(await page.goto(base)).status()];
  for (const token of ["wrong", link.split("token=")[1]]) {
    await page.fill("input[name=token]", token);
    const [answer] = await Promise.all([page.waitForResponse((one) => one.request().isNavigationRequest()), page.click("button")]);
    seen.push(answer.status());
  }
  await page.waitForURL(base);
  seen.push(await page.locator("h1").textContent());
  await context.close();
  return seen;
}

// Use the filters, the search and the headers of the list, as a person does.
async function listed(page) {
  const rows = () => page.locator("tbody tr").allTextContents();
  const show = async (name, fill) => {
    await page.goto(`${base}sessions`);
    await fill();
    await Promise.all([page.waitForURL((url) => url.searchParams.get(name)), page.click("form.filters button")]);
    return rows();
  };
  const client = await page.goto(`${base}sessions`).then(() => page.locator("select[name=client] option").nth(1).getAttribute("value"));
  const by_client = await show("client", () => page.selectOption("select[name=client]", client));
  const by_project = await show("project", () => page.selectOption("select[name=project]", "/home/me/shop"));
  const by_words = await show("words", () => page.fill("input[name=words]", "onerror"));
  const sorted = {};
  for (const [header, figure] of [["Tokens", "prompt"], ["Money", "dollars"], ["Output", "output_dollars"], ["Turns", "turns"]]) {
    await page.goto(`${base}sessions`);
    await Promise.all([page.waitForURL(/order=/), page.locator("thead a", { hasText: header }).first().click()]);
    const values = await page.locator(`tbody [data-at$="/totals/${figure}"]`).evaluateAll((found) => found.map((one) => Number(one.value)));
    sorted[header] = values.length > 10 && values.every((value, at) => at === 0 || values[at - 1] >= value);
  }
  return { client: by_client.length > 0 && by_client.every((row) => row.includes(client)), project: by_project.length, words: by_words.length, sorted };
}

async function main() {
  const browser = await chromium.launch({ executablePath, args });
  told.form = await form(browser);
  for (const [look, [width, height, deviceScaleFactor]] of Object.entries(LOOKS)) {
    const colorScheme = look === "dark" ? "dark" : "light";
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, deviceScaleFactor });
    const page = await watched(context, look);
    await page.goto(`${base}sessions?order=decisions`);
    const session = await page.locator("tbody a").first().getAttribute("href");
    const pages = { overview: "?days=0", sessions: "sessions", session, spent: "spent", tools: "tools", models: "models" };
    for (const [name, path] of Object.entries(pages)) await open(page, path, look, name);
    await context.close();
  }

  // From a mark on the curve to the decision, and from there to the text.
  const context = await browser.newContext();
  const page = await watched(context, "clicks");
  await page.goto(`${base}sessions?order=decisions`);
  await page.locator("tbody a").first().click();
  await page.locator("#context circle.mark:not(.quiet)").last().click();
  told.landed = await page.evaluate(() => document.querySelector(":target")?.textContent ?? "");
  await page.locator("tr:has(:target) a[href^=archive]").first().click();
  told.archived = await page.locator("pre.archived").textContent();

  told.listed = await listed(page);

  // Figures change while the page stays.
  await page.goto(`${base}?days=0`);
  await page.evaluate(() => { window.stayed = true; window.scrollTo(0, 200); });
  const turns = () => document.querySelector('[data-at="/totals/turns"]').value;
  const before = await page.evaluate(turns);
  process.stdout.write("watching\n");
  await page.waitForFunction(
    (old) => document.querySelector('[data-at="/totals/turns"]').value !== old, before, { timeout: 30000 });
  told.live = [Number(before), Number(await page.evaluate(turns))];
  told.stayed = await page.evaluate(() => window.stayed === true && window.scrollY === 200);
  told.first = await page.locator("#sessions tbody a").first().textContent();
  await browser.close();
  process.stdout.write(`${JSON.stringify(told)}\n`);
}

main().catch((error) => { console.error(error); process.exit(1); });
