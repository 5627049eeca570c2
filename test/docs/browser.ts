/** Loads pages of the documentation site in a browser, and reports their contents and their problems. */
import type { BrowserContext, Page } from "playwright-core";

export interface LoadedPage {
  readonly url: string;
  /** Errors and warnings of the console, uncaught errors, failed requests, and requests to other machines. */
  readonly problems: readonly string[];
  /** The absolute addresses of all pages that the sidebar links. */
  readonly sidebar: readonly string[];
  /** The text of each block of code, in the order of the page. */
  readonly code: readonly string[];
}

/** A browser tab that loads pages one after another. A new tab for each page would take most of the time. */
export class Tab {
  readonly #page: Page;
  #problems: string[] = [];

  private constructor(page: Page, origin: string) {
    this.#page = page;
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.#problems.push(`${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.#problems.push(`uncaught: ${error.message}`));
    page.on("request", (request) => {
      const { protocol, origin: to } = new URL(request.url());
      if (to !== origin && protocol !== "data:") this.#problems.push(`request to another machine: ${request.url()}`);
    });
    page.on("requestfailed", (request) => {
      // The tab went to the next page while this request was pending.
      if (request.failure()?.errorText === "net::ERR_ABORTED") return;
      this.#problems.push(`failed: ${request.url()}: ${request.failure()?.errorText}`);
    });
    page.on("response", (response) => {
      if (!response.ok()) this.#problems.push(`status ${response.status()}: ${response.url()}`);
    });
  }

  static async open(context: BrowserContext, origin: string): Promise<Tab> {
    return new Tab(await context.newPage(), origin);
  }

  async load(url: string): Promise<LoadedPage> {
    this.#problems = [];
    const problems = this.#problems;
    await this.#page.goto(url);
    // Vue has mounted the page.
    await this.#page.waitForFunction('"__vue_app__" in document.querySelector("#app")');
    const content = await this.#page.evaluate<Omit<LoadedPage, "url" | "problems">>(`({
      sidebar: [...document.querySelectorAll(".VPSidebar a")].map((link) => link.href),
      code: [...document.querySelectorAll(".vp-doc div[class*=language-] pre code")].map((code) => code.textContent),
    })`);
    return { url, problems, ...content };
  }
}
