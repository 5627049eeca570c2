/** Reads pages of documentation: code fences, headings, links and paths. It does not interpret them. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { slugOf } from "../../docs/.vitepress/slug.js";
import { root } from "./program.js";

export interface Fence {
  readonly language: string;
  readonly code: string;
  /** The line of the page at which the code begins, from 1. */
  readonly line: number;
  /** The text of the HTML comment on the line before the fence: `run` for `<!-- run -->`. Readers do not see it. */
  readonly mark: string;
  /** The number of fences before this one on the page. */
  readonly index: number;
}

export interface Page {
  /** The path from the root of the repository: `docs/explanation/actors.md`. */
  readonly file: string;
  readonly text: string;
  /** The text without fences. */
  readonly prose: string;
  readonly fences: readonly Fence[];
}

/** Returns the pages of the root folder, and all pages of docs/ except docs/api, which is generated. */
export function pages(): readonly Page[] {
  const docs = readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" });
  const files = docs
    .filter((file) => file.endsWith(".md") && !/^(?:api|\.vitepress)[/\\]/.test(file))
    .map((file) => `docs/${file.replaceAll(path.sep, "/")}`);
  return ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...files.sort()].map(readPage);
}

export function readPage(file: string): Page {
  const text = readFileSync(path.join(root, file), "utf8");
  const fences: Fence[] = [];
  const prose: string[] = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const [, indent = "", ticks, language = ""] = /^(\s*)(```+)(\w*)/.exec(lines[i]!) ?? [];
    if (ticks === undefined) {
      prose.push(lines[i]!);
      continue;
    }
    const [, mark = ""] = /^\s*<!-- (.*) -->$/.exec(lines[i - 1] ?? "") ?? [];
    const end = lines.findIndex((line, at) => at > i && line.trim() === ticks);
    if (end === -1) throw new Error(`${file}:${i + 1}: the fence has no end`);
    const code = lines.slice(i + 1, end).map((line) => line.slice(indent.length));
    fences.push({ language, code: code.join("\n"), line: i + 2, mark, index: fences.length });
    i = end;
  }
  return { file, text, prose: prose.join("\n"), fences };
}

/** Returns the targets of links, images and reference definitions. */
export function linksOf(page: Page): readonly string[] {
  const inline = page.prose.replace(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g);
  const definitions = page.prose.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm);
  return [...inline, ...definitions].map(([, target]) => target!);
}

/** Returns the paths of files and folders in the inline code of a page, commands included: `node .ci/layers.mjs` has one. */
export function pathsOf(page: Page): readonly string[] {
  const spans = [...page.prose.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span!);
  return spans.flatMap((span) => span.split(/\s+/)).filter((word) => /^[\w.-]+\/[\w./-]*$/.test(word));
}

/** Returns the anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: Page): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading] of page.prose.matchAll(/^#+ (.*)$/gm)) {
    const slug = slugOf(heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    for (let n = 0, anchor = slug; ; anchor = `${slug}-${++n}`) {
      if (anchors.has(anchor)) continue;
      anchors.add(anchor);
      break;
    }
  }
  return anchors;
}

/** Returns the output of its example that a page shows: its first fence of plain text. */
export function outputOf(file: string): string {
  const fence = readPage(file).fences.find(({ language }) => language === "text");
  if (fence === undefined) throw new Error(`${file} shows no output`);
  return fence.code;
}

/** Returns the path on the first line of a fence: `// src/main.ts`. Undefined if the fence has none. */
export function fileOf({ code }: Fence): string | undefined {
  return /^\/\/ ((?:[\w.-]+\/)*[\w.-]+\.ts)$/m.exec(code.split("\n", 1)[0]!)?.[1];
}

/** Returns a fragment as a module. The code is in a function, so that its names hide those of the prelude. */
export function fragmentAsModule({ code }: Fence, prelude: string): string {
  if (/^export default/m.test(code)) return code;
  const imports = code.match(/^import .*?;$/gms) ?? [];
  const rest = code.replace(/^import .*?;$/gms, "").replace(/^export /gm, "");
  return `${prelude}${imports.join("\n")}\nexport async function fragment() {\n${rest}\n}\n`;
}
