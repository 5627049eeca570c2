/**
 * Code as a tree that is not yet divided into lines: texts, names and possible line breaks. `print-code.ts` divides it
 * into lines. `syntax.ts` builds the layouts of TypeScript from these elements.
 */
import type { CodeName } from "./name.js";

/** A piece of code: text without line ends, a name, a layout, or any sequence of them. */
export type Code = string | CodeName | CodeLayout | readonly Code[];

export type CodeLayout =
  | GroupLayout
  | { readonly kind: "indent"; readonly content: Code }
  /**
   * A possible line break. `flat` is the text that replaces it on one line. `undefined` means that the line always ends
   * here.
   */
  | { readonly kind: "break"; readonly flat: string | undefined }
  | { readonly kind: "ifBroken"; readonly broken: Code; readonly flat: Code }
  | { readonly kind: "indentIf"; readonly group: CodeLayout; readonly content: Code }
  /** `first`, or `second` if `rejects` returns true for the printed form of `first`. */
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
      /** The part of `hugged` that must fit on the line without any break. */
      readonly lead: Code;
    }
  | { readonly kind: "fill"; readonly items: readonly string[] }
  | LazyLayout
  /** `key: value`, or the shorthand `key` if the value has the same spelling. */
  | { readonly kind: "property"; readonly key: string; readonly value: CodeName };

/**
 * A group of code. Most groups fit on their lines, so whether the group contains a forced break is computed only on
 * demand.
 */
class GroupLayout {
  readonly kind = "group";
  readonly content: Code;
  /** Whether the group is always broken, regardless of its content. */
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

/** A layout that is rarely broken. It is created only when it is broken. */
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

/** The properties of arguments that decide how the formatter breaks a call. */
export interface ArgumentSyntax {
  /** The form of the argument as the last argument of a call that does not fit on its line. */
  readonly hugged?: () => Code;
  readonly literal?: "object" | "array";
  readonly role?: "function" | "call" | "call with a function";
}

/** A group that is printed on one line if it fits. Otherwise all of its own breaks are taken. */
export function group(content: Code, syntax?: ArgumentSyntax): CodeLayout {
  return new GroupLayout(content, false, syntax);
}

/** A group whose breaks are always taken. */
export function broken(content: Code, syntax?: ArgumentSyntax): CodeLayout {
  return new GroupLayout(content, true, syntax);
}

/** Code that is indented by one step, from its next line on. */
export function indent(content: Code): CodeLayout {
  return { kind: "indent", content };
}

/** `broken` if the enclosing group is broken, otherwise `flat`. */
export function ifBroken(broken: Code, flat: Code = ""): CodeLayout {
  return { kind: "ifBroken", broken, flat };
}

/** `content`, indented by one step if `group`, which is printed before it, is broken. */
export function indentIf(group: CodeLayout, content: Code): CodeLayout {
  return { kind: "indentIf", group, content };
}

/** `first`, or `second` if `rejects` returns true for the printed form of `first`. */
export function choice(first: Code, second: Code, rejects: (printed: string) => boolean): CodeLayout {
  return { kind: "choice", first, second, rejects };
}

/** `flat` if it fits on one line, otherwise `hugged` if its first line fits, otherwise `broken`. */
export function huggedOrBroken(flat: Code, hugged: Code, broken: Code, lead: Code = ""): CodeLayout {
  return { kind: "states", flat, hugged, broken, lead };
}

/** A list with commas, with as many items on each line as fit. */
export function fill(items: readonly string[]): CodeLayout {
  return { kind: "fill", items };
}

/** `flat`, or the layout that `make` returns if `flat` does not fit or `forced` is set. */
export function lazy(flat: Code, forced: boolean, make: () => CodeLayout, syntax?: ArgumentSyntax): CodeLayout {
  return new LazyLayout(flat, forced, make, syntax);
}

/** Returns the content of a group, for use in another group. */
export function ungrouped(code: Code): Code {
  return typeof code !== "string" && !isSequence(code) && code.kind === "group" ? code.content : code;
}

/** A space or a line break. */
export const line: CodeLayout = { kind: "break", flat: " " };
/** Nothing or a line break. */
export const softline: CodeLayout = { kind: "break", flat: "" };
/** A line break that breaks all enclosing groups. */
export const hardline: CodeLayout = { kind: "break", flat: undefined };

/** Returns `items` with `separator` between them. */
export function join(separator: Code, items: readonly Code[]): Code {
  return items.map((item, i) => (i === 0 ? item : [separator, item]));
}

/**
 * An entry `key: value` of an object literal or a pattern, or the shorthand `key` if the value has the same spelling.
 */
export function shorthand(key: string, value: CodeName): CodeLayout {
  return { kind: "property", key, value };
}

/** A template tag for code that contains names and layouts: ``code`const ${name}: ${type} = 1;` ``. */
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

/** Returns whether `code` cannot be printed on one line. */
export function mustBreak(code: Code): boolean {
  if (typeof code === "string") return false;
  if (isSequence(code)) return code.some(mustBreak);
  if (code.kind === "group" || code.kind === "lazy") return code.broken;
  if (code.kind === "states") return mustBreak(code.flat);
  if (code.kind === "indent" || code.kind === "indentIf") return mustBreak(code.content);
  return code.kind === "break" && code.flat === undefined;
}
