/** Documentation comments: their text, and the tags in them that Viceroy reads, or that look as if it should. */
import type { SourceComment, Span } from "../type-source.js";

export interface CommentTag extends Span {
  /** Without `@`, as it is written. */
  readonly name: string;
  /** The rest of its line. */
  readonly value: string;
}

export interface ParsedComment {
  /** Without the marks of the comment and without our tags; tags of others stay. */
  readonly doc: string;
  /** All tags, ours and others', in their order. */
  readonly tags: readonly CommentTag[];
}

const nothing: ParsedComment = { doc: "", tags: [] };

/** @param isOurs whether a tag is to be taken out of the text */
export function parseComment(comment: SourceComment | undefined, isOurs: (name: string) => boolean): ParsedComment {
  if (comment === undefined) return nothing;
  const tags: CommentTag[] = [];
  const lines: string[] = [];
  let fenced = false;
  for (const { text, start } of linesOf(comment)) {
    if (text.trimStart().startsWith("```")) fenced = !fenced;
    const found = fenced ? undefined : tagIn(text, start, !comment.text.includes("\n"));
    if (found === undefined) {
      lines.push(text);
      continue;
    }
    tags.push(found.tag);
    const before = text.slice(0, found.tag.start - start).trimEnd();
    if (!isOurs(found.tag.name)) lines.push(text);
    else if (before !== "") lines.push(before);
  }
  return { doc: trimBlankLines(lines).join("\n"), tags };
}

interface Line {
  readonly text: string;
  /** In the file. */
  readonly start: number;
}

/** The lines between the marks, without indentation and leading asterisks. */
function linesOf({ text, start }: SourceComment): readonly Line[] {
  const end = text.endsWith("*/") ? text.length - 2 : text.length;
  const lines: Line[] = [];
  let position = 3;
  for (const raw of text.slice(3, end).split("\n")) {
    const margin = /^[ \t]*\*?[ \t]?/.exec(raw)?.[0].length ?? 0;
    // On the line of the opening mark, an asterisk belongs to the text.
    const skipped = position === 3 ? (raw.startsWith(" ") ? 1 : 0) : margin;
    lines.push({ text: raw.slice(skipped).trimEnd(), start: start + position + skipped });
    position += raw.length + 1;
  }
  return lines;
}

/** A tag begins a line; in a comment of one line it may also follow the text. */
function tagIn(text: string, start: number, oneLine: boolean): { readonly tag: CommentTag } | undefined {
  const match =
    /^\s*@([A-Za-z]\w*)(?:\s+(.*))?$/.exec(text) ?? (oneLine ? /\s@([A-Za-z]\w*)(?:\s+(\S+))?$/.exec(text) : null);
  if (match === null) return undefined;
  const at = start + text.indexOf("@", match.index);
  const [whole, name = "", value = ""] = match;
  return { tag: { name, value: value.trim(), start: at, end: start + match.index + whole.length } };
}

function trimBlankLines(lines: readonly string[]): readonly string[] {
  const isText = (line: string) => line.trim() !== "";
  const first = lines.findIndex(isText);
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex(isText) + 1);
}
