/** Parses documentation comments: their text, and the tags in them. */
import type { SourceComment, Span } from "../type-source.js";

export interface CommentTag extends Span {
  /** The name as written, without `@`. */
  readonly name: string;
  /** The rest of the tag's line. */
  readonly value: string;
}

export interface ParsedComment {
  /** The text without comment marks and without Viceroy's tags. Tags of other tools stay in the text. */
  readonly doc: string;
  /** All tags in source order, those of other tools included. */
  readonly tags: readonly CommentTag[];
}

const nothing: ParsedComment = { doc: "", tags: [] };

/**
 * Parses a documentation comment.
 *
 * @param isOurs returns whether a tag belongs to Viceroy and is removed from the text
 */
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
  /** The offset in the file. */
  readonly start: number;
}

/** Returns the lines between the comment marks, without indentation and leading asterisks. */
function linesOf({ text, start }: SourceComment): readonly Line[] {
  const end = text.endsWith("*/") ? text.length - 2 : text.length;
  const lines: Line[] = [];
  let position = 3;
  for (const raw of text.slice(3, end).split("\n")) {
    const margin = /^[ \t]*\*?[ \t]?/.exec(raw)?.[0].length ?? 0;
    // On the line of the opening mark, an asterisk is part of the text.
    const skipped = position === 3 ? (raw.startsWith(" ") ? 1 : 0) : margin;
    lines.push({ text: raw.slice(skipped).trimEnd(), start: start + position + skipped });
    position += raw.length + 1;
  }
  return lines;
}

/** Finds a tag in a line. A tag starts a line; in a comment of one line, a tag can also follow the text. */
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
