/**
 * The interface to a TypeScript compiler. The schema reader uses these methods and gets plain data. The results do not
 * refer to objects of the compiler, so another compiler can implement this interface.
 */
import type { ModuleOutline } from "../actors/module-outline.js";
import type { DeclarationKey } from "../model/index.js";

export interface TypeSource {
  /**
   * Replaces the schema files. Unchanged files are not parsed again.
   * @param imports the meaning of the imports of packages
   */
  update(files: readonly SourceText[], imports?: readonly PackageImport[]): void;
  /** Returns the paths of the schema files, sorted. */
  files(): readonly string[];
  text(file: string): string;
  /**
   * Returns a text that stays the same while the file and all files that it imports are unchanged. The file need not be
   * read again then.
   */
  signature(file: string): string;
  /** Returns the declarations at the top level of a file and in its namespaces, in source order. */
  declarations(file: string): readonly SourceDeclaration[];
  /** Returns the declaration with a key. */
  declaration(key: DeclarationKey): SourceDeclaration | undefined;
  /** Returns the errors that the compiler itself finds. */
  problems(): readonly SourceProblem[];
  /**
   * Returns the result of a computed type: a mapped type, a utility type or `keyof`. Returns undefined if the type
   * depends on a type parameter. All spans of the result are that of the computed type.
   */
  expand(handle: number): SourceType | undefined;
  /** Returns the classes, imports and exports of any source file, from its syntax only. */
  outline(path: string, text: string): ModuleOutline;
  /**
   * Converts a TypeScript or JavaScript module to CommonJS. Types are removed, but not checked.
   * @throws SyntaxError with the position and the compiler's message if the module cannot be parsed
   */
  transpile(path: string, text: string): string;
}

export interface SourceText {
  /** The path relative to the folder of the config, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** An import of a package in schema files, and the schema files that it stands for. */
export interface PackageImport {
  /** The package whose schema files contain the import. An empty text stands for the project. */
  readonly owner: string;
  readonly specifier: string;
  /** The paths of schema files of the package. Several files are imported together, as if re-exported by one module. */
  readonly files: readonly string[];
}

/** Offsets in the text of a file, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface SourceProblem extends Span {
  readonly kind: "syntax" | "type" | "import";
  readonly file: string;
  /** The compiler's message. For `import`, the specifier. */
  readonly message: string;
  /** The compiler's error number. */
  readonly number: number;
  /** For `import`: the file to which the specifier resolves, if that file exists but is not a schema file. */
  readonly target?: string;
}

/** The comment before a declaration. */
export interface SourceComment {
  /** The text from the opening to the closing comment marker. */
  readonly text: string;
  readonly start: number;
}

export interface SourceDeclaration extends Span {
  /** The kind of the declaration. `other` is a value, which a schema cannot contain. */
  readonly kind: "interface" | "alias" | "enum" | "class" | "other";
  /**
   * The kind of an `other` declaration: "function", "variable", or "namespace" for `declare global` and `module
   * "name"`.
   */
  readonly what?: string;
  readonly key: DeclarationKey;
  /** The name, qualified in a namespace: `Order.Line`. */
  readonly name: string;
  readonly file: string;
  /** Whether the declaration is exported. A declaration in a namespace is exported only if the namespace is, too. */
  readonly exported: boolean;
  readonly comment: SourceComment | undefined;
  readonly typeParameters: readonly SourceTypeParameter[];
  /** The bases of an interface. */
  readonly heritage: readonly SourceType[];
  /** The members of an interface. */
  readonly members: readonly SourceMember[];
  /** The target of an alias. */
  readonly type?: SourceType;
  /** The values of an enum. */
  readonly values: readonly SourceEnumValue[];
}

export interface SourceTypeParameter {
  readonly name: string;
  readonly defaultType?: SourceType;
}

export interface SourceEnumValue extends Span {
  readonly name: string;
  /** The constant value, or undefined if it is not a constant. */
  readonly value: string | number | undefined;
  readonly comment: SourceComment | undefined;
  /** The comment at the end of the line. */
  readonly trailingComment?: SourceComment | undefined;
}

/** A member of an object type. The span is that of its name. */
export interface SourceMember extends Span {
  readonly kind: "property" | "method" | "accessor" | "index" | "call";
  /** The name, or undefined if it is computed or missing. */
  readonly name: string | undefined;
  readonly optional: boolean;
  readonly readonly: boolean;
  readonly comment: SourceComment | undefined;
  /** The comment at the end of the line. */
  readonly trailingComment?: SourceComment | undefined;
  /**
   * The type of a property, the result of a method, or the value type of an index signature. Undefined if it is not
   * declared.
   */
  readonly type: SourceType | undefined;
  /** The parameters of a method, or the key of an index signature. */
  readonly params: readonly SourceParameter[];
  /** Whether a method has type parameters. */
  readonly generic: boolean;
}

export interface SourceParameter extends Span {
  /** The name, or undefined for a destructuring pattern. */
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
    /** A type parameter in scope. */
    | { readonly kind: "parameter"; readonly name: string }
    | { readonly kind: "array"; readonly element: SourceType; readonly readonly: boolean }
    | { readonly kind: "tuple"; readonly elements: readonly SourceTupleElement[]; readonly readonly: boolean }
    | { readonly kind: "union"; readonly types: readonly SourceType[] }
    | { readonly kind: "intersection"; readonly types: readonly SourceType[] }
    | { readonly kind: "object"; readonly members: readonly SourceMember[] }
    | { readonly kind: "function" }
    /** A type that only the compiler can resolve with `TypeSource.expand`. */
    | { readonly kind: "computed"; readonly handle: number }
  );

export interface SourceReference extends Span {
  readonly kind: "reference";
  /**
   * The place of the declaration. `schema`: a schema file. `vocabulary`: `viceroy/schema`. `global`: TypeScript's
   * library. `foreign`: any other place, such as `declare global`. `unresolved`: there is none, and the compiler has
   * reported it.
   */
  readonly origin: "schema" | "vocabulary" | "global" | "foreign" | "unresolved";
  /** The declared name, which can differ from the name at the reference. It is qualified in a namespace. */
  readonly name: string;
  /** The key of a declaration whose origin is `schema`. */
  readonly key: DeclarationKey | undefined;
  readonly args: readonly SourceType[];
  /** The handle for `expand`, if the reference has type arguments. */
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
