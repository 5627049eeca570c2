/**
 * Opens the documentation site in a real browser: its pages load, its links have targets, its search finds pages, and its
 * code is the code that the tests in test/examples run. If VICEROY_SITE is "built", the site is not built again.
 */
import path from "node:path";
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readPage, pages as sources } from "../examples/markdown.js";
import { root, run } from "../examples/program.js";
import { peer } from "../peers.js";
import { type LoadedPage, Tab } from "./browser.js";
import { readSite } from "./html.js";
import { type SiteServer, serveSite } from "./server.js";

const site = path.join(root, "docs/.vitepress/dist");
const program = peer("chromium-headless-shell");

describe.skipIf(program === undefined)("the documentation site, opened by chromium-headless-shell", () => {
  let server: SiteServer;
  let browser: Browser;
  let context: BrowserContext;
  let pages: readonly LoadedPage[];

  beforeAll(async () => {
    if (process.env["VICEROY_SITE"] !== "built") await build();
    server = await serveSite(site);
    browser = await chromium.launch({ executablePath: program! });
    context = await browser.newContext();
    // A busy machine loads a page slowly. The time limits of the tests apply.
    context.setDefaultTimeout(0);
    pages = await loadAll();
    // Each page takes half a second of a processor, and other tests run beside this one.
  }, 900_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test("the sidebar leads to every page", () => {
    const shown = new Set(pages.map(({ url }) => fileOf(url)));
    const files = sources().map(({ file }) => file);
    expect(files.filter((file) => file.startsWith("docs/") && !shown.has(file))).toEqual([]);
  });

  test("every page loads without an error, a failed request, or a request to another machine", () => {
    expect(pages.flatMap(({ url, problems }) => problems.map((problem) => `${fileOf(url)}: ${problem}`))).toEqual([]);
  });

  test("every link to a page or to a heading of the site has a target", () => {
    const html = new Map(readSite(site).map((page) => [page.path, page]));
    const leadsNowhere = (link: string) => {
      const [target = "", id] = link.split("#");
      const page = html.get(target);
      return page === undefined || (id !== undefined && !page.ids.has(id));
    };
    const broken = [...html.values()].flatMap(({ path, links }) =>
      links.filter(leadsNowhere).map((link) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test("the code on a page equals the code in its Markdown source, which other tests run", () => {
    for (const { url, code } of pages) {
      const file = fileOf(url);
      if (file.startsWith("docs/api/")) continue;
      expect(code, file).toEqual(readPage(file).fences.map((fence) => fence.code));
    }
  });

  test("no page is wider than the screen of a phone", async () => {
    const narrow = await browser.newContext({ viewport: { width: 390, height: 844 }, javaScriptEnabled: false });
    narrow.setDefaultTimeout(0);
    const page = await narrow.newPage();
    const wide: string[] = [];
    for (const { path } of readSite(site).filter((page) => !page.path.startsWith("/api/"))) {
      await page.goto(`${server.origin}${path}`);
      const width = await page.evaluate<number>("document.documentElement.scrollWidth");
      if (width > 390) wide.push(`${path} is ${width} pixels wide`);
    }
    await narrow.close();
    expect(wide).toEqual([]);
  });

  test("the search finds a page by a word that only its text has", async () => {
    const { word, name } = wordOfOnePage();
    const page = await context.newPage();
    await page.goto(server.origin);
    await page.click(".VPNavBarSearch button");
    await page.fill(".VPLocalSearchBox input", word);
    await page.locator(".VPLocalSearchBox a.result").first().click();
    await page.waitForURL(`**/explanation/${name}*`);
    await page.locator("main", { hasText: new RegExp(word, "i") }).waitFor();
    await page.close();
  });

  /** Loads all pages of the sidebar, and every twentieth page of the API reference, whose pages are generated alike. */
  async function loadAll(): Promise<readonly LoadedPage[]> {
    const tab = await Tab.open(context, server.origin);
    const left = new Set((await tab.load(`${server.origin}/`)).sidebar);
    const generated = readSite(site).filter((page) => page.path.startsWith("/api/"));
    for (const [i, page] of generated.entries()) if (i % 20 === 0) left.add(`${server.origin}${page.path}`);
    const loaded: LoadedPage[] = [];
    const work = async (tab: Tab) => {
      for (const url of left) {
        left.delete(url);
        loaded.push(await tab.load(url));
      }
    };
    await Promise.all([work(tab), work(await Tab.open(context, server.origin))]);
    return loaded;
  }
});

/** Builds the site. It contains the API reference only if that has been generated. */
async function build(): Promise<void> {
  const vitepress = path.join(root, "node_modules/vitepress/bin/vitepress.js");
  const env = { VICEROY_DOCS_API: "optional" };
  const { code, stdout, stderr } = await run(process.execPath, [vitepress, "build", "docs"], root, env);
  expect(code, `${stdout}${stderr}`).toBe(0);
}

/** Returns the source of a page: `docs/how-to/index.md` for `/how-to/`. */
function fileOf(url: string): string {
  const { pathname } = new URL(url);
  return `docs${pathname.replace(/\/$/, "/index").replace(/\.html$/, "")}.md`;
}

/**
 * Returns the longest word that occurs in the prose of one page of explanations, in none of its headings, and on no other
 * page, and the page.
 */
function wordOfOnePage(): { readonly word: string; readonly name: string } {
  const wordsOf = (text: string) => new Set(text.toLowerCase().match(/\b[a-z]{6,}\b/g));
  const all = sources();
  const candidates = all
    .filter(({ file }) => file.startsWith("docs/explanation/"))
    .flatMap(({ file }) => {
      const taken = wordsOf(all.map((page) => (page.file === file ? "" : page.text)).join("\n"));
      const plain = readPage(file)
        .prose.replace(/^#.*$/gm, "")
        .replace(/`[^`]*`|\]\([^)]*\)/g, " ");
      const own = [...wordsOf(plain)].filter((word) => !taken.has(word));
      return own.map((word) => ({ word, name: path.basename(file, ".md") }));
    });
  const [longest] = candidates.sort((left, right) => right.word.length - left.word.length);
  if (longest === undefined) throw new Error("no page of docs/explanation has a word of its own");
  return longest;
}
