// Opens pages of proofs in a browser and compares what it shows with the proofs.
// Reads a job on standard input (see browser/browser.go) and prints one line of
// JSON for each thing looked at: its name, and what is wrong with it or nothing.
import { createRequire } from "node:module";
import { existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const job = JSON.parse(await text(process.stdin));
const { launch } = createRequire(job.installed + "/package.json")("puppeteer-core").default;

/** What the page writes in place of characters that are not seen. */
const visible = (said) => said.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => (c === "\n" ? c : `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`));

/** Ends a look with what is wrong unless all is as it should be. */
function want(what, got, wanted) {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error(`${what}: ${JSON.stringify(got)}, want ${JSON.stringify(wanted)}`);
}

/** What is looked at on a page, in this order. The page is open, its requests and complaints are noted. */
const looks = {
  "loads nothing and runs nothing": async ({ page, noted }) => {
    want("requests beside the page's own", noted.requests, []);
    want("complaints of the console", noted.complaints, []);
    want("scripts and what else loads", await page.$$eval("script, link, img, iframe, object, embed, base, form, [src], [href]", (all) => all.map((e) => e.outerHTML)), []);
  },
  "says the outcome and why": async ({ page, proof }) => {
    want("outcome", await page.$eval("h1 .tag", (e) => e.innerText), proof.outcome.replaceAll("_", " "));
    want("explanation", await page.$eval("#explanation", (e) => e.innerText), visible(proof.explanation));
  },
  "shows every check": async ({ page, proof, wanted }) => {
    const rows = await page.$$eval(".checks tbody tr", (all) => all.map((r) => [...r.cells].slice(0, 3).map((c) => c.innerText)));
    want("checks", rows, proof.gate_checks.map((c) => [c.id, c.name, c.passed ? "✓ passed" : "✗ failed"]));
    if (rows.length < wanted.checks) throw new Error(`${rows.length} checks, want at least ${wanted.checks}`);
    if (wanted.passed) want("checks that failed", rows.filter((r) => r[2] !== "✓ passed"), []);
    want("colours", new Set(await page.$$eval(".checks .tag", (all) => all.map((e) => e.innerText + getComputedStyle(e).color))).size, new Set(rows.map((r) => r[2])).size);
  },
  "shows every approval": async ({ page, proof, wanted }) => {
    const rows = await page.$$eval(".approvals tbody tr", (all) => all.map((r) => r.cells[0].innerText));
    want("approvals", rows, proof.approvals.map((a) => a.member_id));
    want("their number", rows.length, wanted.approvals);
  },
  "shows every event, and the way to its root": async ({ page, proof }) => {
    await opened(page);
    const shown = await page.$$eval(".events > li", (all) => all.map((e) => ({
      hash: e.querySelector("code").innerText, hashed: e.querySelector("pre").textContent, steps: e.querySelectorAll("svg .step").length, drawn: !!e.querySelector("svg .leaf") && !!e.querySelector("svg .root"),
      height: e.querySelector("svg")?.getBoundingClientRect().height > 0,
    })));
    want("events", shown, proof.audit_events.map((e) => ({ hash: e.hash, hashed: visible(e.preimage), steps: e.merkle_path.length, drawn: !!e.anchor, height: !!e.anchor })));
  },
  "shows text from outside as text": async ({ page, wanted }) => {
    const said = await page.$eval("body", (e) => e.innerText);
    for (const words of wanted.says) if (!said.includes(visible(words))) throw new Error(`the page does not show ${JSON.stringify(words)}`);
    want("characters that are not seen", said.match(/[\p{Cf}\u2028\u2029]/gu), null);
    want("what a script would have left", await page.evaluate(() => globalThis.ran), undefined);
  },
  "can be read at 380 and at 1280 pixels": async ({ page, shot }) => {
    for (const width of [380, 1280]) {
      await page.setViewport({ width, height: 900 });
      await page.reload(); // folded as it comes
      if (shot) await page.screenshot({ path: width === 1280 ? shot : shot.replace(".png", `-${width}.png`), fullPage: true });
      await opened(page);
      const found = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, ...[...document.querySelectorAll("body *")].flatMap((e) => {
        const box = e.getBoundingClientRect(), small = parseFloat(getComputedStyle(e).fontSize) < 11;
        return box.right > innerWidth + 0.5 || box.left < 0 || small ? [`${e.tagName} from ${box.left} to ${box.right}: ${e.textContent.slice(0, 60)}`] : [];
      })]);
      want(`at ${width} pixels, what is too wide or too small`, found, [0]);
    }
  },
  "is whole on paper": async ({ page, proof }) => {
    await page.reload();
    await page.emulateMediaType("print");
    const hidden = await page.$$eval("pre, svg", (all) => all.filter((e) => !e.checkVisibility()).length);
    want("what stays shut", hidden, 0);
    want("what is hashed, on paper", await page.$$eval("pre", (all) => all.length), proof.audit_events.length);
    await page.emulateMediaType();
  },
};

/** Opens all that can be opened. */
const opened = (page) => page.$$eval("details", (all) => all.forEach((e) => (e.open = true)));

/** Opens a page and notes all it asks for beside itself. */
async function open(browser, file) {
  const page = await browser.newPage(), address = pathToFileURL(file).href, noted = { requests: [], complaints: [] };
  await page.setRequestInterception(true);
  page.on("request", (r) => {
    if (r.url() === address) return r.continue();
    noted.requests.push(r.url());
    return r.abort();
  });
  page.on("console", (m) => noted.complaints.push(m.text()));
  page.on("pageerror", (e) => noted.complaints.push(String(e)));
  await page.goto(address, { waitUntil: "networkidle0" });
  return { page, noted };
}

const browser = await launch({
  executablePath: job.browser + "/chromium", headless: "shell", pipe: true, // over a pipe: the browser ends with this program
  args: ["--no-sandbox", "--disable-gpu"], // it opens what is made here alone, and the superuser has no sandbox
  env: { ...process.env, LD_LIBRARY_PATH: job.browser + "/al2023/lib", ...(existsSync("/etc/fonts/fonts.conf") ? {} : { FONTCONFIG_FILE: job.browser + "/fonts.conf" }) },
});
for (const { name, file, proof, wanted, shot, only } of job.pages) {
  const at = { ...(await open(browser, file)), proof: JSON.parse(readFileSync(proof, "utf8")), wanted, shot };
  for (const [look, see] of Object.entries(looks)) {
    if (only && only !== look) continue;
    let wrong = "";
    await see(at).catch((error) => { wrong = error.message; });
    console.log(JSON.stringify({ name: `${name} ${look}`, wrong }));
  }
  await at.page.close();
}
await browser.close();
