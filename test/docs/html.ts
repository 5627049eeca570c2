/** Reads the files of the built site: the ids and the links of each page, without a browser. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export interface HtmlPage {
  /** The path of the page's address: `/explanation/actors.html`, `/how-to/`. */
  readonly path: string;
  readonly ids: ReadonlySet<string>;
  /** The targets of links to pages of the site, as paths with anchors. Links outside of the text are omitted. */
  readonly links: readonly string[];
}

export function readSite(folder: string): readonly HtmlPage[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) =>
    file.replaceAll(path.sep, "/"),
  );
  return files.filter((file) => file.endsWith(".html") && file !== "404.html").map((file) => readHtml(folder, file));
}

function readHtml(folder: string, file: string): HtmlPage {
  const html = readFileSync(path.join(folder, file), "utf8");
  const place = `/${file.replace(/(^|\/)index\.html$/, "$1")}`;
  const text = html.slice(html.indexOf('<main class="main"'), html.lastIndexOf("</main>"));
  const links = [...text.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, href]) => href!.replaceAll("&amp;", "&"));
  return {
    path: place,
    ids: new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!)),
    links: links.flatMap((href) => {
      const url = new URL(href, `http://site${place}`);
      return url.origin === "http://site" ? [`${url.pathname}${decodeURIComponent(url.hash)}`] : [];
    }),
  };
}
