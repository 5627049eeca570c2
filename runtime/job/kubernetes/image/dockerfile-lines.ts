/** The lines of a Dockerfile: comments, continued lines, quoted words. */

/** An instruction. */
export interface Instruction {
  /** The first line, from 1. */
  readonly line: number;
  /** The name in upper case. */
  readonly name: string;
  /** What follows the name, on one line. */
  readonly rest: string;
}

/**
 * Returns the instructions in the order of the file.
 * @param path the path of the file, for the error
 * @throws TypeError for another escape character
 */
export function readInstructions(path: string, text: string): Instruction[] {
  const instructions: Instruction[] = [];
  let begun: { readonly line: number; text: string } | undefined;
  const finish = () => {
    if (begun !== undefined) instructions.push(instruction(begun.line, begun.text));
    begun = undefined;
  };
  for (const [index, raw] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    if (/^\s*#\s*escape\s*=/i.test(raw) && instructions.length === 0 && begun === undefined) {
      throw new TypeError(`cannot use ${path}:${index + 1}: another escape character; use \\`);
    }
    // Comments and empty lines between continued lines are left out.
    if (/^\s*(?:#|$)/.test(raw)) continue;
    const continued = /\\[ \t]*$/.test(raw);
    const part = continued ? raw.replace(/\\[ \t]*$/, "") : raw;
    if (begun === undefined) begun = { line: index + 1, text: part.trimStart() };
    else begun.text += part;
    if (!continued) finish();
  }
  finish();
  return instructions;
}

function instruction(line: number, text: string): Instruction {
  const [, name = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(text) ?? [];
  return { line, name: name.toUpperCase(), rest: rest.trim() };
}

/**
 * Splits words at spaces outside of quotes. Double quotes and backslashes stay in front of `$` only, so that variables can be expanded
 * afterwards; in single quotes, `$` becomes `\$`.
 * @throws TypeError if a quote has no end
 */
export function parseWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quoted: string | undefined;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (quoted === undefined && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word ??= "";
    if (char === quoted) quoted = undefined;
    else if (quoted === undefined && (char === '"' || char === "'")) quoted = char;
    else if (quoted === "'") word += char === "$" ? "\\$" : char;
    else if (char === "\\" && i + 1 < text.length) {
      const next = text[++i]!;
      if (next === "$") word += "\\$";
      else word += quoted === '"' && next !== '"' && next !== "\\" ? `\\${next}` : next;
    } else word += char;
  }
  if (quoted !== undefined) throw new TypeError(`the quote ${quoted} has no end`);
  if (word !== undefined) words.push(word);
  return words;
}
