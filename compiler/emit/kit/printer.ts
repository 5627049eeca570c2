/**
 * Breaks code into lines: after Philip Wadler, "A prettier printer" (2003), with the rules of the formatter we use, so
 * that what we print is what it would print.
 */
import { shorthandText } from "./flat.js";
import { type Code, isSequence, type Layout, mustBreak } from "./layout.js";
import type { Name } from "./name.js";
import { textWidth } from "./width.js";

export interface PrintOptions {
  readonly spell: (name: Name) => string;
  /** Columns a line may have. */
  readonly width: number;
  /** Steps of two spaces that every line is indented by. */
  readonly depth: number;
  /** What stands on the first line already, indentation included. */
  readonly start?: string;
}

/** Prints `code` as lines, without a line end after the last one. */
export function print(code: Code, options: PrintOptions): string {
  return new Printer(options).print(code);
}

interface Item {
  readonly code: Code;
  readonly depth: number;
  readonly flat: boolean;
}

class Printer {
  readonly #options: PrintOptions;
  readonly #lines: string[] = [];
  readonly #stack: Item[] = [];
  readonly #broken = new Set<Layout>();
  #text: string;

  constructor(options: PrintOptions) {
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
    if (typeof code === "string") this.#text += code;
    else if (isSequence(code)) pushAll(this.#stack, code, depth, flat);
    else if (code.kind === "import" || code.kind === "global" || code.kind === "local") {
      this.#text += this.#options.spell(code);
    } else this.#printLayout(code, depth, flat);
  }

  #printLayout(layout: Layout, depth: number, flat: boolean): void {
    switch (layout.kind) {
      case "group":
        this.#stack.push(this.#group(layout, depth, flat));
        break;
      case "lazy":
        this.#stack.push(this.#lazy(layout, depth, flat));
        break;
      case "indent":
        this.#stack.push({ code: layout.content, depth: depth + 1, flat });
        break;
      case "indentIf":
        this.#stack.push({ code: layout.content, depth: this.#broken.has(layout.group) ? depth + 1 : depth, flat });
        break;
      case "ifBroken":
        this.#stack.push({ code: flat ? layout.flat : layout.broken, depth, flat });
        break;
      case "break":
        if (flat && layout.flat !== undefined) this.#text += layout.flat;
        else this.#newLine(depth);
        break;
      case "choice":
        this.#stack.push({ code: this.#choose(layout, depth, flat), depth, flat });
        break;
      case "states":
        this.#stack.push(this.#state(layout, depth, flat));
        break;
      case "fill":
        this.#fill(layout.items, depth, flat);
        break;
      case "property":
        this.#stack.push({ code: shorthandText(layout, this.#options.spell), depth, flat });
        break;
    }
  }

  #newLine(depth: number): void {
    this.#lines.push(this.#text.trimEnd());
    this.#text = "  ".repeat(depth);
  }

  #group(layout: Extract<Layout, { kind: "group" }>, depth: number, flat: boolean): Item {
    const whole: Item = { code: layout.content, depth, flat: true };
    if (flat || (!layout.broken && this.#fits(whole))) return whole;
    this.#broken.add(layout);
    return { ...whole, flat: false };
  }

  #lazy(layout: Extract<Layout, { kind: "lazy" }>, depth: number, flat: boolean): Item {
    const whole: Item = { code: layout.flat, depth, flat: true };
    return flat || (!layout.broken && this.#fits(whole)) ? whole : { code: layout.layout(), depth, flat: false };
  }

  #choose({ first, second, rejects }: Extract<Layout, { kind: "choice" }>, depth: number, flat: boolean): Code {
    if (flat) return first;
    return rejects(print(first, { ...this.#options, depth, start: this.#text })) ? second : first;
  }

  #state({ flat, hugged, broken }: Extract<Layout, { kind: "states" }>, depth: number, inFlat: boolean): Item {
    const onOneLine: Item = { code: flat, depth, flat: true };
    if (inFlat || (!mustBreak(flat) && this.#fits(onOneLine))) return onOneLine;
    const hugging: Item = { code: hugged, depth, flat: false };
    return this.#fits(hugging) ? hugging : { code: broken, depth, flat: false };
  }

  #fill(items: readonly string[], depth: number, flat: boolean): void {
    for (const [i, item] of items.entries()) {
      const last = i === items.length - 1;
      const room = this.#options.width - textWidth(this.#text);
      if (i > 0 && !flat && textWidth(item) + " ,".length > room) this.#newLine(depth);
      else if (i > 0) this.#text += " ";
      this.#text += last ? item : `${item},`;
    }
  }

  /** Whether `first`, and what follows it up to the next possible line end, fits on the line. */
  #fits(first: Item): boolean {
    const { spell, width } = this.#options;
    const stack: Item[] = [first];
    let next = this.#stack.length;
    let room = width - textWidth(this.#text);
    while (room >= 0) {
      const item = stack.pop() ?? this.#stack[--next];
      if (item === undefined) return true;
      const { code, depth, flat } = item;
      if (typeof code === "string") room -= textWidth(code);
      else if (isSequence(code)) pushAll(stack, code, depth, flat);
      else if (code.kind === "import" || code.kind === "global" || code.kind === "local") {
        room -= textWidth(spell(code));
      } else if (code.kind === "break") {
        if (!flat || code.flat === undefined) return true;
        room -= code.flat.length;
      } else if (code.kind === "property") room -= textWidth(shorthandText(code, spell));
      else stack.push({ code: contentOf(code, flat), depth, flat: flat && !isBroken(code) });
    }
    return false;
  }
}

function isBroken(layout: Layout): boolean {
  return (layout.kind === "group" || layout.kind === "lazy") && layout.broken;
}

function pushAll(stack: Item[], codes: readonly Code[], depth: number, flat: boolean): void {
  for (let i = codes.length - 1; i >= 0; i--) stack.push({ code: codes[i] as Code, depth, flat });
}

/** What of a layout is measured. */
function contentOf(layout: Exclude<Layout, { kind: "break" | "property" }>, flat: boolean): Code {
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
