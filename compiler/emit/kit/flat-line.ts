/**
 * Computes the text of a line of code without breaks. Most lines fit and are printed from this text, which avoids the
 * algorithm that breaks lines.
 */
import { type Code, type CodeLayout, isSequence } from "./code.js";
import type { CodeName } from "./name.js";

type Shorthand = Extract<CodeLayout, { kind: "property" }>;

export interface FlatLine {
  readonly text: string;
  /** Whether the line contains layouts, at which it can be broken if it does not fit. */
  readonly breakable: boolean;
  /** Whether a layout in the line is always broken. */
  readonly broken: boolean;
}

export function flattenCode(code: Code, spell: (name: CodeName) => string): FlatLine {
  const line = { text: "", breakable: false, broken: false };
  appendFlat(code, line, spell);
  return line;
}

export function shorthandText({ key, value }: Shorthand, spell: (name: CodeName) => string): string {
  const spelling = spell(value);
  return key === spelling ? key : `${key}: ${spelling}`;
}

interface FlatLineBuilder {
  text: string;
  breakable: boolean;
  broken: boolean;
}

// This function runs for every piece of every generated line. It uses plain loops and allocates nothing temporary.
function appendFlat(code: Code, line: FlatLineBuilder, spell: (name: CodeName) => string): void {
  if (typeof code === "string") {
    line.text += code;
  } else if (isSequence(code)) {
    for (let i = 0; i < code.length; i++) appendFlat(code[i] as Code, line, spell);
  } else if (code.kind === "local") {
    line.text += code.spelling;
  } else if (code.kind === "import" || code.kind === "global") {
    line.text += spell(code);
  } else {
    line.breakable = true;
    appendFlatLayout(code, line, spell);
  }
}

function appendFlatLayout(layout: CodeLayout, line: FlatLineBuilder, spell: (name: CodeName) => string): void {
  switch (layout.kind) {
    case "group":
      if (layout.forced) line.broken = true;
      appendFlat(layout.content, line, spell);
      break;
    case "lazy":
      if (layout.forced) line.broken = true;
      appendFlat(layout.flat, line, spell);
      break;
    case "break":
      if (layout.flat === undefined) line.broken = true;
      else line.text += layout.flat;
      break;
    case "ifBroken":
    case "states":
      appendFlat(layout.flat, line, spell);
      break;
    case "choice":
      appendFlat(layout.first, line, spell);
      break;
    case "fill":
      line.text += layout.items.join(", ");
      break;
    case "property":
      line.text += shorthandText(layout, spell);
      break;
    default:
      appendFlat(layout.content, line, spell);
  }
}
