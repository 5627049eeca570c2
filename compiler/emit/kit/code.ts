/**
 * Code as a tree that still has to be broken into lines: text, names, and where a line may end. printer.ts breaks it;
 * syntax.ts builds the layouts of our language from these.
 */
import type { CodeName } from "./name.js";

/** A piece of code: text without line ends, a name, a layout, or any sequence of them. */
export type Code = string | CodeName | CodeLayout | readonly Code[];

export type CodeLayout =
  | GroupLayout
  | { readonly kind: "indent"; readonly content: Code }
  /** Where a line may end. `flat` is what stands there otherwise; `undefined`: it always ends. */
  | { readonly kind: "break"; readonly flat: string | undefined }
  | { readonly kind: "ifBroken"; readonly broken: Code; readonly flat: Code }
  | { readonly kind: "indentIf"; readonly group: CodeLayout; readonly content: Code }
  /** `first`, unless `rejects` says no to how it would be printed; then `second`. */
  | {
      readonly kind: "choice";
      readonly first: Code;
      readonly second: Code;
      readonly rejects: (printed: string) => boolean;
    }
  | {
      readonly kind: "states";
      readonly flat: Code;
      readonly hugged: Code;
      readonly broken: Code;
      /** What of `hugged` must fit on the line without any break. */
      readonly lead: Code;
    }
  | { readonly kind: "fill"; readonly items: readonly string[] }
  | LazyLayout
  /** `key: value`, or `key` alone where the value is spelt like it. */
  | { readonly kind: "property"; readonly key: string; readonly value: CodeName };

/** Most lines fit: whether something inside is always broken is found out where one does not. */
class GroupLayout {
  readonly kind = "group";
  readonly content: Code;
  /** Always broken, whatever is inside. */
  readonly forced: boolean;
  readonly syntax: ArgumentSyntax | undefined;
  #broken: boolean | undefined;

  constructor(content: Code, forced: boolean, syntax: ArgumentSyntax | undefined) {
    this.content = content;
    this.forced = forced;
    this.syntax = syntax;
  }

  get broken(): boolean {
    this.#broken ??= this.forced || mustBreak(this.content);
    return this.#broken;
  }
}

/** What is rarely broken: its layout is made when it is. */
class LazyLayout {
  readonly kind = "lazy";
  readonly flat: Code;
  readonly forced: boolean;
  readonly syntax: ArgumentSyntax | undefined;
  readonly #make: () => CodeLayout;
  #broken: boolean | undefined;
  #made: CodeLayout | undefined;

  constructor(flat: Code, forced: boolean, make: () => CodeLayout, syntax: ArgumentSyntax | undefined) {
    this.flat = flat;
    this.forced = forced;
    this.syntax = syntax;
    this.#make = make;
  }

  get broken(): boolean {
    this.#broken ??= this.forced || mustBreak(this.flat);
    return this.#broken;
  }

  layout(): CodeLayout {
    this.#made ??= this.#make();
    return this.#made;
  }
}

/** What calls must know of their arguments to be broken as the formatter breaks them. */
export interface ArgumentSyntax {
  /** How it is printed as the last argument of a call that does not fit on its line. */
  readonly hugged?: () => Code;
  readonly literal?: "object" | "array";
  readonly role?: "function" | "call" | "call with a function";
}

/** Printed on one line if it fits, else with all of its own breaks taken. */
export function group(content: Code, syntax?: ArgumentSyntax): CodeLayout {
  return new GroupLayout(content, false, syntax);
}

/** A group whose breaks are always taken. */
export function broken(content: Code, syntax?: ArgumentSyntax): CodeLayout {
  return new GroupLayout(content, true, syntax);
}

/** One step deeper, from the next line on. */
export function indent(content: Code): CodeLayout {
  return { kind: "indent", content };
}

/** `broken` where the enclosing group is broken, else `flat`. */
export function ifBroken(broken: Code, flat: Code = ""): CodeLayout {
  return { kind: "ifBroken", broken, flat };
}

/** `content`, one step deeper if `group`, printed before it, is broken. */
export function indentIf(group: CodeLayout, content: Code): CodeLayout {
  return { kind: "indentIf", group, content };
}

/** `first`, unless `rejects` says no to how it would be printed; then `second`. */
export function choice(first: Code, second: Code, rejects: (printed: string) => boolean): CodeLayout {
  return { kind: "choice", first, second, rejects };
}

/** `flat` if it fits on one line, else `hugged` if its first line fits, else `broken`. */
export function huggedOrBroken(flat: Code, hugged: Code, broken: Code, lead: Code = ""): CodeLayout {
  return { kind: "states", flat, hugged, broken, lead };
}

/** As many items on each line as fit, commas between them. */
export function fill(items: readonly string[]): CodeLayout {
  return { kind: "fill", items };
}

/** `flat`, or where that does not fit, and if it is `forced`, what `make` makes of it. */
export function lazy(flat: Code, forced: boolean, make: () => CodeLayout, syntax?: ArgumentSyntax): CodeLayout {
  return new LazyLayout(flat, forced, make, syntax);
}

/** What is in a group, to become part of another one. */
export function ungrouped(code: Code): Code {
  return typeof code !== "string" && !isSequence(code) && code.kind === "group" ? code.content : code;
}

/** A space, or a line end. */
export const line: CodeLayout = { kind: "break", flat: " " };
/** Nothing, or a line end. */
export const softline: CodeLayout = { kind: "break", flat: "" };
/** Always a line end; breaks all groups around it. */
export const hardline: CodeLayout = { kind: "break", flat: undefined };

/** `items` with `separator` between them. */
export function join(separator: Code, items: readonly Code[]): Code {
  return items.map((item, i) => (i === 0 ? item : [separator, item]));
}

/** `key: value` of an object literal or a pattern; `key` alone where the value is spelt like it. */
export function shorthand(key: string, value: CodeName): CodeLayout {
  return { kind: "property", key, value };
}

/** Code with names and layouts in it: ``code`const ${name}: ${type} = 1;` ``. */
export function code(strings: TemplateStringsArray, ...values: readonly Code[]): Code {
  const parts: Code[] = [];
  for (let i = 0; i < strings.length; i++) {
    const text = strings[i] as string;
    if (text !== "") parts.push(text);
    if (i < values.length) parts.push(values[i] as Code);
  }
  return parts;
}

export function isSequence(code: Code): code is readonly Code[] {
  return Array.isArray(code);
}

/** Whether `code` cannot be printed on one line. */
export function mustBreak(code: Code): boolean {
  if (typeof code === "string") return false;
  if (isSequence(code)) return code.some(mustBreak);
  if (code.kind === "group" || code.kind === "lazy") return code.broken;
  if (code.kind === "states") return mustBreak(code.flat);
  if (code.kind === "indent" || code.kind === "indentIf") return mustBreak(code.content);
  return code.kind === "break" && code.flat === undefined;
}
