/**
 * The outline of a source file: its classes and the names that it imports and exports, which suffice to follow a class
 * to its base. The outline is read from the syntax, without types, so that it is available before code is generated.
 */

export interface ModuleOutline {
  /** The names that imports declare. */
  readonly imports: readonly ImportBinding[];
  /** Class declarations at the top level, and classes bound to a name by `const X = class …`. */
  readonly classes: readonly ClassOutline[];
  /** `export { local as exported }`, `export class local`, `export default local`. */
  readonly exports: readonly ExportBinding[];
  /** `export { imported as exported } from "…"`. The name `*` stands for `export * from "…"`. */
  readonly reexports: readonly ReexportBinding[];
}

export interface ImportBinding {
  readonly local: string;
  /** The imported name: `default`, `*` for a namespace, or a name. */
  readonly imported: string;
  readonly from: string;
}

export interface ClassOutline {
  /** The name of the class, or undefined for `export default class extends …`. */
  readonly local: string | undefined;
  /** The expression that the class extends, or undefined if it extends nothing. */
  readonly base: BaseOutline | undefined;
  readonly abstract: boolean;
  /** Whether the class is the result of a function call, bound to a name: `const Base = Logged(CounterActor)`. */
  readonly isCall?: boolean;
  /** The position of the name of the class, from 1. */
  readonly line: number;
  readonly column: number;
}

/** `Base`, `ns.Base`, a call of a mixin such as `Logged(Base)`, or another expression. */
export type BaseOutline =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "member"; readonly namespace: string; readonly name: string }
  | { readonly kind: "call"; readonly args: readonly BaseOutline[] }
  | { readonly kind: "other" };

export interface ExportBinding {
  /** The local name, or undefined for an unnamed default export. */
  readonly local: string | undefined;
  readonly exported: string;
}

export interface ReexportBinding {
  readonly imported: string;
  readonly exported: string;
  readonly from: string;
}
