/**
 * A line of code as it is when it fits: text and names in a row, adjacent texts joined. Most lines of a file are printed
 * like that, which saves breaking them.
 */
import { type Code, isSequence, type Layout } from "./layout.js";
import type { GlobalName, ImportedName, Name } from "./name.js";

type Shorthand = Extract<Layout, { kind: "property" }>;

export interface FlatLine {
  readonly tokens: readonly (string | Name | Shorthand)[];
  /** There are layouts in it: it may be broken where it does not fit. */
  readonly breakable: boolean;
  /** Some layout in it is always broken. */
  readonly broken: boolean;
}

/** @param used where the names that are not local are put */
export function flatten(code: Code, used: Set<ImportedName | GlobalName>): FlatLine {
  const line = { tokens: [], breakable: false, broken: false };
  add(code, line, used);
  return line;
}

/** The text of `line`. */
export function flatText({ tokens }: FlatLine, spell: (name: Name) => string): string {
  let text = "";
  for (const token of tokens) {
    if (typeof token === "string") text += token;
    else text += token.kind === "property" ? shorthandText(token, spell) : spell(token);
  }
  return text;
}

export function shorthandText({ key, value }: Shorthand, spell: (name: Name) => string): string {
  const spelling = spell(value);
  return key === spelling ? key : `${key}: ${spelling}`;
}

interface Growing {
  readonly tokens: (string | Name | Shorthand)[];
  breakable: boolean;
  broken: boolean;
}

type Used = Set<ImportedName | GlobalName>;

// Runs for every piece of every line that is generated: plain loops, nothing made that is not kept.
function add(code: Code, line: Growing, used: Used): void {
  if (typeof code === "string") {
    addText(code, line.tokens);
  } else if (isSequence(code)) {
    for (let i = 0; i < code.length; i++) add(code[i] as Code, line, used);
  } else if (code.kind === "local") {
    line.tokens.push(code);
  } else if (code.kind === "import" || code.kind === "global") {
    line.tokens.push(code);
    used.add(code);
  } else {
    line.breakable = true;
    addLayout(code, line, used);
  }
}

function addText(text: string, tokens: Growing["tokens"]): void {
  const last = tokens.length - 1;
  if (last >= 0 && typeof tokens[last] === "string") tokens[last] += text;
  else tokens.push(text);
}

function addLayout(layout: Layout, line: Growing, used: Used): void {
  switch (layout.kind) {
    case "group":
      if (layout.broken) line.broken = true;
      add(layout.content, line, used);
      break;
    case "lazy":
      if (layout.broken) line.broken = true;
      add(layout.flat, line, used);
      break;
    case "break":
      if (layout.flat === undefined) line.broken = true;
      else addText(layout.flat, line.tokens);
      break;
    case "ifBroken":
    case "states":
      add(layout.flat, line, used);
      break;
    case "choice":
      add(layout.first, line, used);
      break;
    case "fill":
      addText(layout.items.join(", "), line.tokens);
      break;
    case "property":
      line.tokens.push(layout);
      if (layout.value.kind !== "local") used.add(layout.value);
      break;
    default:
      add(layout.content, line, used);
  }
}
