/**
 * What a source file says of classes and of the names it exports and imports: as much as it takes to follow a class to
 * its base. Read from syntax alone; no type is looked at, so it works before anything was generated.
 */

export interface ModuleOutline {
  /** Names bound by imports. */
  readonly imports: readonly ImportBinding[];
  /** Class declarations at the top level, and classes bound to a name by `const X = class …`. */
  readonly classes: readonly ClassOutline[];
  /** `export { local as exported }`, `export class local`, `export default local`. */
  readonly exports: readonly ExportBinding[];
  /** `export { imported as exported } from "…"`; `*` for `export * from "…"`. */
  readonly reexports: readonly ReexportBinding[];
}

export interface ImportBinding {
  readonly local: string;
  /** `default`, `*` for a namespace, or a name. */
  readonly imported: string;
  readonly from: string;
}

export interface ClassOutline {
  /** Undefined for `export default class extends …`. */
  readonly local: string | undefined;
  /** The expression that the class extends; undefined if it extends nothing. */
  readonly base: BaseOutline | undefined;
  readonly abstract: boolean;
  /** Whether the class is the result of a function call, bound to a name: `const Base = Logged(CounterActor)`. */
  readonly isCall?: boolean;
  /** The position of the class's name, 1-based. */
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
  /** Undefined for an unnamed default export. */
  readonly local: string | undefined;
  readonly exported: string;
}

export interface ReexportBinding {
  readonly imported: string;
  readonly exported: string;
  readonly from: string;
}
