/**
 * Code as a tree that still has to be broken into lines, and the printer that breaks it: after Philip Wadler, "A
 * prettier printer" (2003), with the rules of the formatter we use, so that what we print is what it would print.
 * Knows text, names and where a line may end; knows no syntax: that is syntax.ts.
 */
import type { Name } from "./name.js";
import { textWidth } from "./width.js";

/** A piece of code: text without line ends, a name, a layout, or any sequence of them. */
export type Code = string | Name | Layout | readonly Code[];

export type Layout =
  | { readonly kind: "group"; readonly content: Code; readonly broken: boolean }
  | { readonly kind: "indent"; readonly content: Code }
  /** Where a line may end. `flat` is what stands there otherwise; `undefined`: it always ends. */
  | { readonly kind: "break"; readonly flat: string | undefined }
  | { readonly kind: "ifBroken"; readonly broken: Code; readonly flat: Code }
  | { readonly kind: "indentIf"; readonly group: Layout; readonly content: Code }
  /** `first`, unless `rejects` says no to how it would be printed; then `second`. */
  | {
      readonly kind: "choice";
      readonly first: Code;
      readonly second: Code;
      readonly rejects: (printed: string) => boolean;
    };

/** Printed on one line if it fits, else with all of its own breaks taken. */
export function group(content: Code): Layout {
  return { kind: "group", content, broken: mustBreak(content) };
}

/** A group whose breaks are always taken. */
export function broken(content: Code): Layout {
  return { kind: "group", content, broken: true };
}

/** One step deeper, from the next line on. */
export function indent(content: Code): Layout {
  return { kind: "indent", content };
}

/** `broken` where the enclosing group is broken, else `flat`. */
export function ifBroken(broken: Code, flat: Code = ""): Layout {
  return { kind: "ifBroken", broken, flat };
}

/** `content`, one step deeper if `group`, printed before it, is broken. */
export function indentIf(group: Layout, content: Code): Layout {
  return { kind: "indentIf", group, content };
}

/** `first`, unless `rejects` says no to how it would be printed; then `second`. */
export function choice(first: Code, second: Code, rejects: (printed: string) => boolean): Layout {
  return { kind: "choice", first, second, rejects };
}

/** What is in a group, to become part of another one. */
export function ungrouped(code: Code): Code {
  return typeof code !== "string" && !isSequence(code) && code.kind === "group" ? code.content : code;
}

/** A space, or a line end. */
export const line: Layout = { kind: "break", flat: " " };
/** Nothing, or a line end. */
export const softline: Layout = { kind: "break", flat: "" };
/** Always a line end; breaks all groups around it. */
export const hardline: Layout = { kind: "break", flat: undefined };

/** `items` with `separator` between them. */
export function join(separator: Code, items: readonly Code[]): Code {
  return items.map((item, i) => (i === 0 ? item : [separator, item]));
}

/** Code with names and layouts in it: ``code`const ${name}: ${type} = 1;` ``. */
export function code(strings: TemplateStringsArray, ...values: readonly Code[]): Code {
  return strings.map((text, i) => (i < values.length ? [text, values[i] as Code] : text));
}

export function isSequence(code: Code): code is readonly Code[] {
  return Array.isArray(code);
}

function mustBreak(code: Code): boolean {
  if (typeof code === "string") return false;
  if (isSequence(code)) return code.some(mustBreak);
  if (code.kind === "group") return code.broken;
  if (code.kind === "indent" || code.kind === "indentIf") return mustBreak(code.content);
  return code.kind === "break" && code.flat === undefined;
}

interface Item {
  readonly code: Code;
  readonly depth: number;
  readonly flat: boolean;
}

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
  const { spell, width } = options;
  const lines: string[] = [];
  const brokenGroups = new Set<Layout>();
  let text = options.start ?? "  ".repeat(options.depth);
  const stack: Item[] = [{ code, depth: options.depth, flat: false }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { code, depth, flat } = item;
    if (typeof code === "string") {
      text += code;
    } else if (isSequence(code)) {
      pushAll(stack, code, depth, flat);
    } else if (code.kind === "indent") {
      stack.push({ code: code.content, depth: depth + 1, flat });
    } else if (code.kind === "indentIf") {
      stack.push({ code: code.content, depth: brokenGroups.has(code.group) ? depth + 1 : depth, flat });
    } else if (code.kind === "ifBroken") {
      stack.push({ code: flat ? code.flat : code.broken, depth, flat });
    } else if (code.kind === "group") {
      const whole: Item = { code: code.content, depth, flat: true };
      const fitting = flat || (!code.broken && fits(whole, stack, width - textWidth(text), spell));
      if (!fitting) brokenGroups.add(code);
      stack.push(fitting ? whole : { code: code.content, depth, flat: false });
    } else if (code.kind === "choice") {
      const rejected = !flat && code.rejects(print(code.first, { spell, width, depth, start: text }));
      stack.push({ code: rejected ? code.second : code.first, depth, flat });
    } else if (code.kind === "break") {
      if (flat && code.flat !== undefined) {
        text += code.flat;
      } else {
        lines.push(text.trimEnd());
        text = "  ".repeat(depth);
      }
    } else {
      text += spell(code);
    }
  }
  lines.push(text.trimEnd());
  return lines.join("\n");
}

function pushAll(stack: Item[], codes: readonly Code[], depth: number, flat: boolean): void {
  for (let i = codes.length - 1; i >= 0; i--) stack.push({ code: codes[i] as Code, depth, flat });
}

/** Whether `first`, and what follows it up to the next possible line end, fits into `room` columns. */
function fits(first: Item, rest: readonly Item[], room: number, spell: (name: Name) => string): boolean {
  const stack: Item[] = [first];
  let next = rest.length;
  let left = room;
  while (left >= 0) {
    const item = stack.pop() ?? rest[--next];
    if (item === undefined) return true;
    const { code, depth, flat } = item;
    if (typeof code === "string") {
      left -= textWidth(code);
    } else if (isSequence(code)) {
      pushAll(stack, code, depth, flat);
    } else if (code.kind === "indent" || code.kind === "indentIf") {
      stack.push({ code: code.content, depth, flat });
    } else if (code.kind === "ifBroken") {
      stack.push({ code: flat ? code.flat : code.broken, depth, flat });
    } else if (code.kind === "group") {
      stack.push({ code: code.content, depth, flat: flat && !code.broken });
    } else if (code.kind === "choice") {
      stack.push({ code: code.first, depth, flat });
    } else if (code.kind === "break") {
      if (!flat || code.flat === undefined) return true;
      left -= code.flat.length;
    } else {
      left -= textWidth(spell(code));
    }
  }
  return false;
}
