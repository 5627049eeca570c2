/**
 * Recognizes plain files, in which the checker cannot find an error: interfaces and aliases of scalars, containers,
 * literals and declared names, each declared once. Most schema files are plain, and checking them takes longer than
 * reading them. Any file that is not obviously correct is checked. A test compares the results with the checker's.
 */
import type { ts as TypeScript } from "ts-morph";
import { isWellKnown } from "../../model/index.js";
import type { SourceDeclaration, SourceMember, SourceReference, SourceType } from "../type-source.js";
import type { Compiler } from "./load-compiler.js";

export interface Plainness {
  /** Whether the checker cannot find an error in the file. */
  readonly isPlain: boolean;
  /** Whether the model of the file depends only on the file, and on the kinds of the declarations in other files. */
  readonly isLocal: boolean;
}

const neither: Plainness = { isPlain: false, isLocal: false };

/** The properties of a referenced declaration that the check needs. */
export interface ReferredDeclaration {
  readonly kind: SourceDeclaration["kind"];
  readonly isGeneric: boolean;
  readonly isActor: boolean;
}

/** @param referred returns the declaration of a key, or undefined if its file does not export one */
export function plainness(
  ts: Compiler,
  file: TypeScript.SourceFile,
  declarations: readonly SourceDeclaration[],
  referred: (key: string) => ReferredDeclaration | undefined,
): Plainness {
  const { bindDiagnostics = [] } = file as { readonly bindDiagnostics?: readonly unknown[] };
  const names = topLevelNames(ts, file);
  if (bindDiagnostics.length > 0 || names === undefined || new Set(names).size < names.length) return neither;
  const path = declarations[0]?.file ?? "";
  const check = new PlainCheck(path, referred);
  const isPlain = declarations.every((declaration) => check.declaration(declaration));
  return { isPlain, isLocal: isPlain && check.isLocal };
}

const primitives = new Set(
  "any unknown never number bigint boolean string symbol void object undefined null".split(" "),
);

/** Returns the names that the statements of a file declare, or undefined if a statement is not plain. */
function topLevelNames(ts: Compiler, file: TypeScript.SourceFile): readonly string[] | undefined {
  const names: string[] = [];
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) {
      const { importClause, attributes, modifiers } = statement;
      const bindings = importClause?.namedBindings;
      if (attributes !== undefined || modifiers !== undefined || importClause?.name !== undefined) return undefined;
      if (bindings === undefined || !ts.isNamedImports(bindings)) return undefined;
      for (const { name } of bindings.elements) names.push(name.text);
    } else if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
      if (!hasOnly(statement.modifiers, ts.SyntaxKind.ExportKeyword) || primitives.has(statement.name.text))
        return undefined;
      if (ts.isInterfaceDeclaration(statement) && !statement.members.every((member) => isPlainMember(ts, member))) {
        return undefined;
      }
      names.push(statement.name.text);
    } else return undefined;
  }
  return names;
}

function hasOnly(modifiers: readonly TypeScript.ModifierLike[] | undefined, kind: TypeScript.SyntaxKind): boolean {
  return modifiers === undefined || (modifiers.length === 1 && modifiers[0]?.kind === kind);
}

function isPlainMember(ts: Compiler, member: TypeScript.TypeElement): boolean {
  if (ts.isPropertySignature(member)) {
    const { initializer } = member as { readonly initializer?: unknown };
    return hasOnly(member.modifiers, ts.SyntaxKind.ReadonlyKeyword) && initializer === undefined;
  }
  if (!ts.isMethodSignature(member)) return false;
  const { modifiers, parameters } = member;
  return (
    modifiers === undefined &&
    parameters.every((parameter) => parameter.modifiers === undefined && parameter.initializer === undefined)
  );
}

/** The number of type arguments of plain names. */
const globals: Readonly<Record<string, number>> = {
  Array: 1,
  ReadonlyArray: 1,
  Set: 1,
  ReadonlySet: 1,
  Map: 2,
  ReadonlyMap: 2,
  Date: 0,
};
const isTypedArray = /^(Ui|I)nt(8|16|32)Array$|^Float(32|64)Array$|^Uint8ClampedArray$|^Big(Ui|I)nt64Array$/;
const isScalar = /^(Int|Uint|Sint|Fixed|Sfixed)(32|64)$|^Float32$|^RdmaBuffer$|^Tensor$/;
const plainKeywords: ReadonlySet<string> = new Set(["string", "number", "boolean", "null", "undefined", "void"]);

class PlainCheck {
  readonly #file: string;
  readonly #referred: (key: string) => ReferredDeclaration | undefined;
  isLocal = true;

  constructor(file: string, referred: (key: string) => ReferredDeclaration | undefined) {
    this.#file = file;
    this.#referred = referred;
  }

  declaration({ kind, typeParameters, heritage, members, type }: SourceDeclaration): boolean {
    if (typeParameters.length > 0) return false;
    if (kind === "interface") return heritage.every((base) => this.#isActor(base)) && this.#members(members);
    return kind === "alias" && type !== undefined && this.#isGround(type) && this.#type(type);
  }

  /** Returns whether a base is `Actor`, `Actor<[…]>` or `Actor<[…], State>`. */
  #isActor(base: SourceType): boolean {
    if (base.kind !== "reference" || base.origin !== "vocabulary" || base.name !== "Actor") return false;
    const [args, state, ...others] = base.args;
    if (others.length > 0) return false;
    if (state !== undefined && (state.kind !== "reference" || !this.#type(state))) return false;
    return args === undefined || (args.kind === "tuple" && this.#type(args));
  }

  /**
   * Returns whether the target of an alias is not another alias. Aliases of aliases can form cycles and refer to other
   * files.
   */
  #isGround(type: SourceType): boolean {
    if (type.kind === "union") return type.types.every((part) => this.#isGround(part));
    if (type.kind !== "reference" || type.key === undefined) return true;
    if (this.#isForeign(type.key)) this.isLocal = false;
    return this.#referred(type.key)?.kind === "interface";
  }

  #isForeign(key: string): boolean {
    return !key.startsWith(`${this.#file}#`);
  }

  #members(members: readonly SourceMember[]): boolean {
    const names = new Set<string>();
    return members.every(({ kind, name, type, params, generic }) => {
      if (kind !== "property" && (kind !== "method" || generic)) return false;
      if (name === undefined || type === undefined || names.has(name)) return false;
      names.add(name);
      const own = new Set(params.map((param) => param.name));
      return (
        own.size === params.length &&
        !own.has(undefined) &&
        !own.has("this") &&
        params.every((param) => !param.rest && param.type !== undefined && this.#type(param.type)) &&
        isOptionalLast(params) &&
        this.#type(type)
      );
    });
  }

  #type(type: SourceType): boolean {
    switch (type.kind) {
      case "keyword":
        return plainKeywords.has(type.name);
      case "literal":
        return true;
      case "array":
        return this.#type(type.element);
      case "tuple": {
        const rest = type.elements.findIndex((element) => element.rest);
        const isRestLast =
          rest < 0 || (rest === type.elements.length - 1 && type.elements[rest]?.type.kind === "array");
        const fixed = rest < 0 ? type.elements : type.elements.slice(0, rest);
        return isRestLast && isOptionalLast(fixed) && type.elements.every((element) => this.#type(element.type));
      }
      case "union":
        this.#note(type.types);
        return type.types.every((part) => this.#type(part));
      case "object":
        return this.#members(type.members) && type.members.every(({ kind }) => kind === "property");
      case "reference":
        return this.#reference(type);
      default:
        return false;
    }
  }

  /**
   * Notes whether a union contains variants of other files. The discriminant of such a union depends on the content of
   * those files.
   */
  #note(variants: readonly SourceType[]): void {
    const isForeign = (type: SourceType) =>
      type.kind === "reference" && type.key !== undefined && this.#isForeign(type.key);
    const real = variants.filter(
      (type) => type.kind !== "keyword" || (type.name !== "null" && type.name !== "undefined"),
    );
    if (real.length > 1 && real.some(isForeign)) this.isLocal = false;
  }

  #reference(type: SourceReference): boolean {
    const { origin, name, key, args } = type;
    if (origin === "schema" && key !== undefined) {
      const target = this.#referred(key);
      const isType = target?.kind === "interface" || target?.kind === "alias" || target?.kind === "enum";
      return isType && !target.isGeneric && args.length === 0;
    }
    if (origin === "vocabulary") return this.#vocabulary(type);
    if (origin !== "global") return false;
    if (name === "Record") {
      const [key, value] = args;
      return (
        args.length === 2 &&
        key?.kind === "keyword" &&
        key.name === "string" &&
        value !== undefined &&
        this.#type(value)
      );
    }
    const count = Object.hasOwn(globals, name) ? globals[name] : isTypedArray.test(name) ? 0 : undefined;
    return count === args.length && args.every((arg) => this.#type(arg));
  }

  #vocabulary({ name, args }: SourceReference): boolean {
    const [first, second] = args;
    if (isScalar.test(name) || isWellKnown(name)) return args.length === 0;
    if (first === undefined) return false;
    if (name === "Port" || name === "Stream" || name === "ObjectRef") return args.length === 1 && this.#type(first);
    if (name === "Oneof") return args.length === 1 && first.kind === "object" && this.#type(first);
    if (name !== "Mesh" || args.length > 2 || first.kind !== "reference" || first.key === undefined) return false;
    const isNames = second === undefined || isLiterals(second);
    return isNames && this.#referred(first.key)?.isActor === true && this.#reference(first);
  }
}

function isLiterals(type: SourceType): boolean {
  if (type.kind === "union") return type.types.every(isLiterals);
  return type.kind === "literal" && typeof type.value === "string";
}

function isOptionalLast(items: readonly { readonly optional: boolean }[]): boolean {
  const first = items.findIndex(({ optional }) => optional);
  return first < 0 || items.slice(first).every(({ optional }) => optional);
}
