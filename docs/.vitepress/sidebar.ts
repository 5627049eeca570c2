/**
 * The sidebar: one section for each folder of docs/. A page's title is its first heading. Pages are in the order in which
 * the index of their folder, or docs/index.md, links them. Pages without a link follow in the order of their file names.
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

/**
 * Returns the sidebar of the pages below each path. Each module of the API reference has a sidebar of its own, since hundreds
 * of entries would make every page several times as large.
 * @throws Error if the API reference is required and has not been generated
 */
export function sidebar({ apiRequired }: { readonly apiRequired: boolean }): Record<string, SidebarItem[]> {
  const top = pagesOf("").filter(({ link }) => link !== "/index");
  const groups = Object.entries(sections)
    .filter(([folder]) => existsSync(`${docs}${folder}`))
    .map(([folder, text]) => groupOf(folder, text));
  const overview = { text: "Overview", link: "/" };
  const api = apiReference(apiRequired);
  if (api === undefined) return { "/": [overview, ...top, ...groups] };
  const reference = { text: "API reference", link: "/api/" };
  const modules = api.map(({ text, link }) => ({ text, link: link as string }));
  return {
    "/": [overview, ...top, ...groups, reference],
    "/api/": [overview, { ...reference, items: modules }],
    ...Object.fromEntries(api.map((module) => [module.link, [overview, reference, { ...module, collapsed: false }]])),
  };
}

/** Returns the section of a folder. Its title links the index of the folder, if there is one. */
function groupOf(folder: string, text: string): SidebarItem {
  const index = `/${folder}/index`;
  const pages = pagesOf(folder);
  return {
    text,
    ...(pages.some(({ link }) => link === index) ? { link: `/${folder}/` } : {}),
    collapsed: folder === "decisions" || folder === "examples",
    items: pages.filter(({ link }) => link !== index),
  };
}

function pagesOf(folder: string): SidebarItem[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  const linked = [...linksOf(`${prefix}index.md`).map((page) => `${prefix}${page}`), ...linksOf("index.md")];
  const rank = (page: string) => (linked.includes(page) ? linked.indexOf(page) : linked.length);
  return readdirSync(`${docs}${folder}`)
    .filter((file) => file.endsWith(".md"))
    .map((file) => `${prefix}${file}`)
    .sort((a, b) => Number(isIndex(b)) - Number(isIndex(a)) || rank(a) - rank(b) || (a < b ? -1 : 1))
    .map((page) => ({ text: titleOf(page), link: `/${page.replace(/\.md$/, "")}` }));
}

/** Whether the API reference has been generated. */
export const hasApiReference = (): boolean => existsSync(`${docs}api/typedoc-sidebar.json`);

/** Returns the sidebar that TypeDoc writes for its pages in docs/api, or undefined if they have not been generated. */
function apiReference(required: boolean): SidebarItem[] | undefined {
  const file = `${docs}api/typedoc-sidebar.json`;
  if (hasApiReference()) return JSON.parse(readFileSync(file, "utf8")) as SidebarItem[];
  if (!required) return undefined;
  throw new Error("cannot build the site: docs/api/typedoc-sidebar.json is missing; run npm run docs:api first");
}

const isIndex = (page: string) => /(?:^|\/)index\.md$/.test(page);

function titleOf(page: string): string {
  const [, title = page] = /^# (.*)$/m.exec(readFileSync(`${docs}${page}`, "utf8")) ?? [];
  return title.replaceAll("`", "").replace(/^Example: /, "");
}

/** Returns the links to pages, or none if the page does not exist. */
function linksOf(page: string): readonly string[] {
  if (!existsSync(`${docs}${page}`)) return [];
  const text = readFileSync(`${docs}${page}`, "utf8");
  return [...text.matchAll(/\]\(([^)#\s]+\.md)/g)].map(([, target]) => target as string);
}
