/**
 * The sidebar: one section for each folder of docs/. A page's title is its first heading. Pages stand in the order in which
 * docs/index.md links them; pages that docs/index.md does not link follow in the order of their file names.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: SidebarItem[];
}

const docs = fileURLToPath(new URL("..", import.meta.url));

const sections: Readonly<Record<string, string>> = {
  tutorial: "Tutorial",
  "how-to": "How-to guides",
  explanation: "Explanation",
  examples: "Examples",
  reference: "Reference",
  decisions: "Decisions",
};

/** @throws Error if the API reference is required and has not been generated */
export function sidebar({ apiRequired }: { readonly apiRequired: boolean }): SidebarItem[] {
  const linked = linksOf("index.md");
  const top = pagesOf("", linked).filter(({ link }) => link !== "/index");
  const groups = Object.entries(sections)
    .filter(([folder]) => existsSync(`${docs}${folder}`))
    .map(([folder, text]) => ({
      text,
      collapsed: folder === "decisions" || folder === "examples",
      items: pagesOf(folder, linked),
    }));
  return [{ text: "Overview", link: "/" }, ...top, ...groups, ...apiReference(apiRequired)];
}

function pagesOf(folder: string, linked: readonly string[]): SidebarItem[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  const rank = (page: string) => (linked.includes(page) ? linked.indexOf(page) : linked.length);
  return readdirSync(`${docs}${folder}`)
    .filter((file) => file.endsWith(".md"))
    .map((file) => `${prefix}${file}`)
    .sort((a, b) => Number(isIndex(b)) - Number(isIndex(a)) || rank(a) - rank(b) || (a < b ? -1 : 1))
    .map((page) => ({ text: titleOf(page), link: linkTo(page) }));
}

/** The generated pages of docs/api, or nothing where they have not been generated. */
function apiReference(required: boolean): SidebarItem[] {
  const folder = `${docs}api`;
  if (!existsSync(folder)) {
    if (required) throw new Error("cannot build the site: docs/api is missing; run npm run docs:api first");
    return [];
  }
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  const modules = entries.flatMap((entry): SidebarItem[] => {
    if (entry.isFile()) return entry.name.endsWith(".md") ? [item(`api/${entry.name}`)] : [];
    const index = ["index.md", "README.md"].find((name) => existsSync(`${folder}/${entry.name}/${name}`));
    return index === undefined ? [] : [item(`api/${entry.name}/${index}`)];
  });
  return [{ text: "API reference", collapsed: true, items: modules }];
}

const item = (page: string): SidebarItem => ({ text: titleOf(page), link: linkTo(page) });

const isIndex = (page: string) => /(?:^|\/)(?:index|README)\.md$/.test(page);

function linkTo(page: string): string {
  return `/${page.replace(/(^|\/)README\.md$/, "$1index.md").replace(/\.md$/, "")}`;
}

function titleOf(page: string): string {
  const [, title = page] = /^# (.*)$/m.exec(readFileSync(`${docs}${page}`, "utf8")) ?? [];
  return title.replaceAll("`", "").replace(/^Example: /, "");
}

function linksOf(page: string): readonly string[] {
  const text = readFileSync(`${docs}${page}`, "utf8");
  return [...text.matchAll(/\]\(([^)#\s]+\.md)/g)].map(([, target]) => target as string);
}
