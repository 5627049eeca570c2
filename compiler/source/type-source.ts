/**
 * The port to a TypeScript compiler: what the schema reader asks of one, and plain data that it answers with. Nothing in
 * an answer refers to the compiler, so that another one can stand behind this port.
 */
import type { ModuleOutline } from "../actors/module-outline.js";
import type { DeclarationKey } from "../model/index.js";

export interface TypeSource {
  /** Replaces the schema files that are read; what has not changed is not parsed again. */
  update(files: readonly SourceText[]): void;
  /** Paths of the schema files, sorted. */
  files(): readonly string[];
  text(file: string): string;
  /** The same text means that a file, and all it imports, is as it was: nothing of it needs to be read again. */
  signature(file: string): string;
  /** What stands at the top level of a file, and in its namespaces, in source order. */
  declarations(file: string): readonly SourceDeclaration[];
  /** The declaration behind a reference. */
  declaration(key: DeclarationKey): SourceDeclaration | undefined;
  /** What the compiler itself finds wrong. */
  problems(): readonly SourceProblem[];
  /**
   * What a type comes to that is computed: a mapped type, a utility type, `keyof`. Undefined when it depends on a type
   * parameter. All its spans are that of the computed type.
   */
  expand(handle: number): SourceType | undefined;
  /** Classes, imports and exports of any source file, from its syntax alone. */
  outline(path: string, text: string): ModuleOutline;
  /**
   * A module in TypeScript or not, as CommonJS. Its types are removed, not checked.
   * @throws SyntaxError with the place and the compiler's words, if it cannot be parsed
   */
  transpile(path: string, text: string): string;
}

export interface SourceText {
  /** Relative to the config's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Offsets into the text of a file, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface SourceProblem extends Span {
  readonly kind: "syntax" | "type" | "import";
  readonly file: string;
  /** The compiler's own words; for `import` the specifier. */
  readonly message: string;
  /** The compiler's own number. */
  readonly number: number;
  /** For `import`: the file it means, where that exists but is no schema file. */
  readonly target?: string;
}

/** The comment before a declaration, as it stands in the file. */
export interface SourceComment {
  /** From the opening to the closing mark. */
  readonly text: string;
  readonly start: number;
}

export interface SourceDeclaration extends Span {
  /** `other`: a value, which a schema does not hold: see `what`. */
  readonly kind: "interface" | "alias" | "enum" | "class" | "other";
  /** For `other`: "function", "variable"; "namespace" for `declare global` and `module "name"`. */
  readonly what?: string;
  readonly key: DeclarationKey;
  /** Qualified in a namespace: `Order.Line`. */
  readonly name: string;
  readonly file: string;
  /** A declaration in a namespace is exported only if the namespace is, too. */
  readonly exported: boolean;
  readonly comment: SourceComment | undefined;
  readonly typeParameters: readonly SourceTypeParameter[];
  /** Of an interface. */
  readonly heritage: readonly SourceType[];
  /** Of an interface. */
  readonly members: readonly SourceMember[];
  /** Of an alias. */
  readonly type?: SourceType;
  /** Of an enum. */
  readonly values: readonly SourceEnumValue[];
}

export interface SourceTypeParameter {
  readonly name: string;
  readonly defaultType?: SourceType;
}

export interface SourceEnumValue extends Span {
  readonly name: string;
  /** Undefined: not a constant. */
  readonly value: string | number | undefined;
  readonly comment: SourceComment | undefined;
  /** The comment that ends its line. */
  readonly trailingComment?: SourceComment | undefined;
}

/** A member of an object type. Spans are those of names. */
export interface SourceMember extends Span {
  readonly kind: "property" | "method" | "accessor" | "index" | "call";
  /** Undefined: computed, or no name at all. */
  readonly name: string | undefined;
  readonly optional: boolean;
  readonly readonly: boolean;
  readonly comment: SourceComment | undefined;
  /** The comment that ends its line. */
  readonly trailingComment?: SourceComment | undefined;
  /** Of a property its type, of a method its result, of an index signature that of its values. Undefined: not given. */
  readonly type: SourceType | undefined;
  /** Of a method; of an index signature its key. */
  readonly params: readonly SourceParameter[];
  /** Of a method: it has type parameters. */
  readonly generic: boolean;
}

export interface SourceParameter extends Span {
  /** Undefined: a pattern. */
  readonly name: string | undefined;
  readonly optional: boolean;
  readonly rest: boolean;
  readonly type: SourceType | undefined;
}

export type SourceType = Span &
  (
    | { readonly kind: "keyword"; readonly name: Keyword }
    | { readonly kind: "literal"; readonly value: string | number | boolean }
    | SourceReference
    /** A type parameter that is in scope. */
    | { readonly kind: "parameter"; readonly name: string }
    | { readonly kind: "array"; readonly element: SourceType; readonly readonly: boolean }
    | { readonly kind: "tuple"; readonly elements: readonly SourceTupleElement[]; readonly readonly: boolean }
    | { readonly kind: "union"; readonly types: readonly SourceType[] }
    | { readonly kind: "intersection"; readonly types: readonly SourceType[] }
    | { readonly kind: "object"; readonly members: readonly SourceMember[] }
    | { readonly kind: "function" }
    /** What only a compiler can resolve: see `TypeSource.expand`. */
    | { readonly kind: "computed"; readonly handle: number }
  );

export interface SourceReference extends Span {
  readonly kind: "reference";
  /**
   * `schema`: a declaration of a schema file. `vocabulary`: of `viceroy/schema`. `global`: of TypeScript's library.
   * `foreign`: of something else, such as `declare global`. `unresolved`: the compiler has reported it.
   */
  readonly origin: "schema" | "vocabulary" | "global" | "foreign" | "unresolved";
  /** As it was declared, whatever it is called here; qualified in a namespace. */
  readonly name: string;
  /** Of `schema`. */
  readonly key: DeclarationKey | undefined;
  readonly args: readonly SourceType[];
  /** For `expand`: where it has type arguments. */
  readonly handle: number | undefined;
}

export interface SourceTupleElement {
  readonly name?: string;
  readonly type: SourceType;
  readonly optional: boolean;
  readonly rest: boolean;
}

export type Keyword =
  | "any"
  | "bigint"
  | "boolean"
  | "never"
  | "null"
  | "number"
  | "object"
  | "string"
  | "symbol"
  | "this"
  | "undefined"
  | "unknown"
  | "void";
