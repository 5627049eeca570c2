/**
 * Divides code into lines. The algorithm is that of Philip Wadler, "A prettier printer" (2003), with the rules of the
 * project's formatter, so that the formatter does not change the output.
 */

import { type Code, type CodeLayout, isSequence, mustBreak } from "./code.js";
import { shorthandText } from "./flat-line.js";
import type { CodeName } from "./name.js";
import { textWidth } from "./text-width.js";

export interface CodePrintOptions {
  readonly spell: (name: CodeName) => string;
  /** The maximum number of columns of a line. */
  readonly width: number;
  /** The indentation of every line, in steps of two spaces. */
  readonly depth: number;
  /** The text that already precedes the code on the first line, including indentation. */
  readonly start?: string;
}

/** Prints `code` as lines, without a line break after the last line. */
export function printCode(code: Code, options: CodePrintOptions): string {
  return new CodePrinter(options).print(code);
}

interface Item {
  readonly code: Code;
  readonly depth: number;
  readonly flat: boolean;
}

class CodePrinter {
  readonly #options: CodePrintOptions;
  readonly #lines: string[] = [];
  readonly #stack: Item[] = [];
  readonly #broken = new Set<CodeLayout>();
  #text: string;
  /** The number of remaining columns during a measurement. */
  #room = 0;

  constructor(options: CodePrintOptions) {
    this.#options = options;
    this.#text = options.start ?? "  ".repeat(options.depth);
  }

  print(code: Code): string {
    this.#stack.push({ code, depth: this.#options.depth, flat: false });
    for (let item = this.#stack.pop(); item !== undefined; item = this.#stack.pop()) this.#printItem(item);
    this.#lines.push(this.#text.trimEnd());
    return this.#lines.join("\n");
  }

  #printItem({ code, depth, flat }: Item): void {
    if (flat) this.#printFlat(code, depth);
    else if (typeof code === "string") this.#text += code;
    else if (isSequence(code)) pushAll(this.#stack, code, depth);
    else if (code.kind === "import" || code.kind === "global" || code.kind === "local") {
      this.#text += this.#options.spell(code);
    } else this.#printLayout(code, depth);
  }

  /** Prints code that is known to fit on one line, regardless of the code after it. */
  #printFlat(code: Code, depth: number): void {
    if (typeof code === "string") this.#text += code;
    else if (isSequence(code)) {
      for (let i = 0; i < code.length; i++) this.#printFlat(code[i] as Code, depth);
    } else if (code.kind === "import" || code.kind === "global" || code.kind === "local") {
      this.#text += this.#options.spell(code);
    } else if (code.kind === "break") {
      if (code.flat !== undefined) this.#text += code.flat;
      else this.#newLine(depth);
    } else if (code.kind === "property") this.#text += shorthandText(code, this.#options.spell);
    else if (code.kind === "indent") this.#printFlat(code.content, depth + 1);
    else this.#printFlat(contentOf(code, true), depth);
  }

  #printLayout(layout: CodeLayout, depth: number): void {
    switch (layout.kind) {
      case "group":
        this.#stack.push(this.#group(layout, depth));
        break;
      case "lazy":
        this.#stack.push(this.#lazy(layout, depth));
        break;
      case "indent":
        this.#stack.push({ code: layout.content, depth: depth + 1, flat: false });
        break;
      case "indentIf": {
        const deeper = this.#broken.has(layout.group) ? depth + 1 : depth;
        this.#stack.push({ code: layout.content, depth: deeper, flat: false });
        break;
      }
      case "ifBroken":
        this.#stack.push({ code: layout.broken, depth, flat: false });
        break;
      case "break":
        this.#newLine(depth);
        break;
      case "choice":
        this.#stack.push({ code: this.#choose(layout, depth), depth, flat: false });
        break;
      case "states":
        this.#stack.push(this.#state(layout, depth));
        break;
      case "fill":
        this.#fill(layout.items, depth);
        break;
      case "property":
        this.#text += shorthandText(layout, this.#options.spell);
        break;
    }
  }

  #newLine(depth: number): void {
    this.#lines.push(this.#text.trimEnd());
    this.#text = "  ".repeat(depth);
  }

  #group(layout: Extract<CodeLayout, { kind: "group" }>, depth: number): Item {
    const { content } = layout;
    if (!layout.broken && this.#fits(content, true)) return { code: content, depth, flat: true };
    this.#broken.add(layout);
    return { code: content, depth, flat: false };
  }

  #lazy(layout: Extract<CodeLayout, { kind: "lazy" }>, depth: number): Item {
    const flat = !layout.broken && this.#fits(layout.flat, true);
    return { code: flat ? layout.flat : layout.layout(), depth, flat };
  }

  #choose({ first, second, rejects }: Extract<CodeLayout, { kind: "choice" }>, depth: number): Code {
    return rejects(printCode(first, { ...this.#options, depth, start: this.#text })) ? second : first;
  }

  #state({ flat, hugged, broken, lead }: Extract<CodeLayout, { kind: "states" }>, depth: number): Item {
    if (!mustBreak(flat) && this.#fits(flat, true)) return { code: flat, depth, flat: true };
    const isHugged = this.#fitsAlone(lead) && this.#fits(hugged, false);
    return { code: isHugged ? hugged : broken, depth, flat: false };
  }

  /** Returns whether `code` fits on the rest of the line without a break, regardless of the code after it. */
  #fitsAlone(code: Code): boolean {
    this.#room = this.#options.width - textWidth(this.#text);
    this.#measure(code, true);
    return this.#room >= 0;
  }

  #fill(items: readonly string[], depth: number): void {
    for (const [i, item] of items.entries()) {
      const last = i === items.length - 1;
      const room = this.#options.width - textWidth(this.#text);
      if (i > 0 && textWidth(item) + " ,".length > room) this.#newLine(depth);
      else if (i > 0) this.#text += " ";
      this.#text += last ? item : `${item},`;
    }
  }

  /** Returns whether `code`, and the code after it up to the next possible line break, fit on the rest of the line. */
  #fits(code: Code, flat: boolean): boolean {
    this.#room = this.#options.width - textWidth(this.#text);
    let ended = this.#measure(code, flat);
    for (let next = this.#stack.length - 1; !ended && next >= 0; next--) {
      const item = this.#stack[next] as Item;
      ended = this.#measure(item.code, item.flat);
    }
    return this.#room >= 0;
  }

  /**
   * Subtracts the width of `code` from the remaining columns. Returns true when the line has ended or no columns are
   * left, since the measurement can stop then.
   */
  #measure(code: Code, flat: boolean): boolean {
    if (typeof code === "string") return this.#take(textWidth(code));
    if (isSequence(code)) {
      for (let i = 0; i < code.length; i++) if (this.#measure(code[i] as Code, flat)) return true;
      return false;
    }
    if (code.kind === "import" || code.kind === "global" || code.kind === "local") {
      return this.#take(textWidth(this.#options.spell(code)));
    }
    if (code.kind === "break") return !flat || code.flat === undefined || this.#take(code.flat.length);
    if (code.kind === "property") return this.#take(textWidth(shorthandText(code, this.#options.spell)));
    return this.#measure(contentOf(code, flat), flat && !isBroken(code));
  }

  #take(columns: number): boolean {
    this.#room -= columns;
    return this.#room < 0;
  }
}

function isBroken(layout: CodeLayout): boolean {
  return (layout.kind === "group" || layout.kind === "lazy") && layout.broken;
}

function pushAll(stack: Item[], codes: readonly Code[], depth: number): void {
  for (let i = codes.length - 1; i >= 0; i--) stack.push({ code: codes[i] as Code, depth, flat: false });
}

/** Returns the part of a layout that is measured, or printed on one line. */
function contentOf(layout: Exclude<CodeLayout, { kind: "break" | "property" }>, flat: boolean): Code {
  switch (layout.kind) {
    case "lazy":
      return flat ? layout.flat : layout.layout();
    case "ifBroken":
    case "states":
      return flat ? layout.flat : layout.broken;
    case "choice":
      return layout.first;
    case "fill":
      return flat ? layout.items.join(", ") : (layout.items[0] ?? "");
    default:
      return layout.content;
  }
}
