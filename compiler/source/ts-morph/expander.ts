/**
 * Expands computed types to plain data: the results of `Partial<T>`, `keyof T` or a mapped type. Named types in them
 * stay references. The checker's own order of the members of a union depends on the order of files and is not used.
 */
import type { ts as TypeScript } from "ts-morph";
import type { Keyword, SourceComment, SourceMember, SourceTupleElement, SourceType, Span } from "../type-source.js";
import type { Compiler } from "./load-compiler.js";
import type { NameResolver } from "./name-resolver.js";
import type { SyntaxReader } from "./syntax-reader.js";

/** The maximum nesting of types in a computed type. A deeper type is infinite. */
const deepest = 24;

export class Expander {
  readonly #ts: Compiler;
  readonly #names: NameResolver;
  readonly #checker: TypeScript.TypeChecker;
  readonly #syntax: SyntaxReader;

  constructor(ts: Compiler, names: NameResolver, checker: TypeScript.TypeChecker, syntax: SyntaxReader) {
    this.#ts = ts;
    this.#names = names;
    this.#checker = checker;
    this.#syntax = syntax;
  }

  /** Returns the expanded type, or undefined if it depends on a type parameter. */
  expand(node: TypeScript.TypeNode): SourceType | undefined {
    const type = this.#checker.getTypeFromTypeNode(node);
    try {
      return this.#convert(type, { span: { start: node.getStart(), end: node.end }, node, depth: 0 }, true);
    } catch (error) {
      if (error === unresolved) return undefined;
      throw error;
    }
  }

  /** @param outermost whether the type is the one to expand; it is not replaced by its own name */
  #convert(type: TypeScript.Type, place: SourceSite, outermost = false): SourceType {
    const { TypeFlags } = this.#ts;
    const { span } = place;
    if (place.depth > deepest) throw unresolved;
    const inner = { ...place, depth: place.depth + 1 };
    if (!outermost || this.#isVocabulary(type)) {
      const named = this.#named(type, inner);
      if (named !== undefined) return named;
    }
    if (type.flags & (TypeFlags.Conditional | TypeFlags.Index | TypeFlags.IndexedAccess | TypeFlags.Substitution)) {
      throw unresolved;
    }
    if (type.flags & TypeFlags.TypeParameter) {
      if (outermost) throw unresolved;
      return { ...span, kind: "parameter", name: type.symbol.name };
    }
    if (type.flags & TypeFlags.Boolean) return { ...span, kind: "keyword", name: "boolean" };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { ...span, kind: "literal", value: type.value };
    if (type.flags & TypeFlags.BooleanLiteral) {
      return { ...span, kind: "literal", value: this.#checker.typeToString(type) === "true" };
    }
    if (type.isUnion()) return this.#union(type.types, inner);
    if (type.isIntersection() && !this.#isObject(type)) {
      const scalar = this.#scalar(type);
      if (scalar !== undefined) {
        return {
          ...span,
          kind: "reference",
          origin: "vocabulary",
          name: scalar,
          key: undefined,
          args: [],
          handle: undefined,
        };
      }
      const types = type.types.map((part) => this.#convert(part, inner));
      return { ...span, kind: "intersection", types };
    }
    if (type.flags & (TypeFlags.Object | TypeFlags.Intersection)) return this.#object(type, inner);
    return { ...span, kind: "keyword", name: this.#keyword(type) };
  }

  /** Returns whether a type is an interface of the vocabulary. Such interfaces are not expanded. */
  #isVocabulary({ aliasSymbol, flags, symbol }: TypeScript.Type): boolean {
    if (aliasSymbol !== undefined || !(flags & this.#ts.TypeFlags.Object) || symbol === undefined) return false;
    return this.#names.ofSymbol(symbol).kind === "vocabulary";
  }

  /** Returns a reference to a type that has a name to which a schema can refer, otherwise undefined. */
  #named(type: TypeScript.Type, place: SourceSite): SourceType | undefined {
    const { TypeFlags, ObjectFlags } = this.#ts;
    if (type.aliasSymbol !== undefined) {
      const named = this.#reference(type.aliasSymbol, type.aliasTypeArguments ?? [], place);
      if (named !== undefined) return named;
    }
    if (
      type.flags & TypeFlags.EnumLike &&
      type.symbol !== undefined &&
      !(type.flags & TypeFlags.Literal && !type.isUnion())
    ) {
      return this.#reference(type.symbol, [], place);
    }
    if (!(type.flags & TypeFlags.Object) || type.symbol === undefined) return undefined;
    const { objectFlags } = type as TypeScript.ObjectType;
    if (objectFlags & ObjectFlags.Reference) {
      const reference = type as TypeScript.TypeReference;
      if (this.#checker.isArrayType(type) || this.#checker.isTupleType(type)) return undefined;
      const own = reference.target.typeParameters?.length ?? 0;
      return this.#reference(type.symbol, this.#checker.getTypeArguments(reference).slice(0, own), place);
    }
    return objectFlags & ObjectFlags.ClassOrInterface ? this.#reference(type.symbol, [], place) : undefined;
  }

  #reference(symbol: TypeScript.Symbol, types: readonly TypeScript.Type[], place: SourceSite): SourceType | undefined {
    const found = this.#names.ofSymbol(symbol);
    if (found.kind === "parameter" || found.kind === "member" || found.kind === "unresolved") return undefined;
    // The checker has already expanded utility types.
    if (found.kind === "global" && symbol.flags & this.#ts.SymbolFlags.TypeAlias) return undefined;
    const args = types.map((type) => this.#convert(type, place));
    const { kind: origin, name, key } = found;
    return { ...place.span, kind: "reference", origin, name, key, args, handle: undefined };
  }

  #isObject(type: TypeScript.IntersectionType): boolean {
    return type.types.every((part) => (part.flags & this.#ts.TypeFlags.Object) !== 0);
  }

  /** Returns the name of a sized number whose alias the checker has dropped. The type of its mark contains the name. */
  #scalar(type: TypeScript.Type): string | undefined {
    const mark = this.#checker.getPropertiesOfType(type).find(({ name }) => name.startsWith("__@scalar@"));
    const marked = mark && this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(mark));
    return marked?.isStringLiteral() ? marked.value.charAt(0).toUpperCase() + marked.value.slice(1) : undefined;
  }

  /** Returns a union whose variants are sorted by name, because the checker's order is not stable. */
  #union(types: readonly TypeScript.Type[], place: SourceSite): SourceType {
    const { TypeFlags } = this.#ts;
    const booleans = types.filter((type) => type.flags & TypeFlags.BooleanLiteral);
    const others = types.filter((type) => !booleans.includes(type) || booleans.length < 2);
    const { NoTruncation } = this.#ts.TypeFormatFlags;
    const named = others.map((type) => ({ text: this.#checker.typeToString(type, undefined, NoTruncation), type }));
    named.sort((a, b) => compare(a.text, b.text));
    const variants = named.map(({ type }) => this.#convert(type, place));
    if (booleans.length === 2) variants.push({ ...place.span, kind: "keyword", name: "boolean" });
    const [only] = variants;
    return variants.length === 1 && only !== undefined ? only : { ...place.span, kind: "union", types: variants };
  }

  #object(type: TypeScript.Type, place: SourceSite): SourceType {
    const checker = this.#checker;
    const { span } = place;
    if (checker.isTupleType(type)) return this.#tuple(type as TypeScript.TupleTypeReference, place);
    if (checker.isArrayType(type)) {
      const [element] = checker.getTypeArguments(type as TypeScript.TypeReference);
      const readonly = type.symbol.name === "ReadonlyArray";
      return { ...span, kind: "array", element: this.#convert(element as TypeScript.Type, place), readonly };
    }
    if (type.getCallSignatures().length + type.getConstructSignatures().length > 0)
      return { ...span, kind: "function" };
    this.#refuseOpenMapping(type);
    const indexes = checker.getIndexInfosOfType(type).map((info) => this.#index(info, place));
    const members = this.#properties(type).map((property) => this.#member(property, place));
    return { ...span, kind: "object", members: [...members, ...indexes] };
  }

  /**
   * Returns the properties of a type. Those of a mapped type are sorted by their declarations, because the checker
   * determines the order of its keys.
   */
  #properties(type: TypeScript.Type): readonly TypeScript.Symbol[] {
    const { TypeFlags, ObjectFlags } = this.#ts;
    const properties = this.#checker.getPropertiesOfType(type);
    const isMapped = ((type as TypeScript.ObjectType).objectFlags & ObjectFlags.Mapped) !== 0;
    if (!isMapped && !(type.flags & TypeFlags.Intersection)) return properties;
    const places = new Map(properties.map((property) => [property, declaredAt(property)]));
    return [...properties].sort((a, b) => {
      const [first, second] = [places.get(a) as DeclaredAt, places.get(b) as DeclaredAt];
      return compare(first.file, second.file) || first.start - second.start || compare(a.name, b.name);
    });
  }

  /** Rejects `{ [K in keyof T]: … }` if `T` is a type parameter. */
  #refuseOpenMapping(type: TypeScript.Type): void {
    const { TypeFlags, ObjectFlags } = this.#ts;
    if (!(type.flags & TypeFlags.Object) || !((type as TypeScript.ObjectType).objectFlags & ObjectFlags.Mapped)) return;
    const { constraintType } = type as TypeScript.Type & { readonly constraintType?: TypeScript.Type };
    const open = TypeFlags.Index | TypeFlags.TypeParameter | TypeFlags.IndexedAccess | TypeFlags.Conditional;
    if (constraintType !== undefined && constraintType.flags & open) throw unresolved;
  }

  #index({ keyType, type, isReadonly }: TypeScript.IndexInfo, place: SourceSite): SourceMember {
    const key = { ...place.span, name: "key", optional: false, rest: false, type: this.#convert(keyType, place) };
    return {
      ...place.span,
      kind: "index",
      name: undefined,
      optional: false,
      readonly: isReadonly,
      comment: undefined,
      type: this.#convert(type, place),
      params: [key],
      generic: false,
    };
  }

  #member(property: TypeScript.Symbol, place: SourceSite): SourceMember {
    const ts = this.#ts;
    const type = this.#checker.getTypeOfSymbolAtLocation(property, place.node);
    const declaration = property.declarations?.[0];
    const method = (property.flags & ts.SymbolFlags.Method) !== 0;
    const optional = (property.flags & ts.SymbolFlags.Optional) !== 0;
    return {
      ...place.span,
      kind: method ? "method" : "property",
      name: property.name.startsWith("__@") ? undefined : ts.unescapeLeadingUnderscores(property.escapedName),
      optional,
      readonly: this.#isReadonly(property),
      comment: declaration && this.#comment(declaration),
      type: method ? { ...place.span, kind: "function" } : this.#memberType(type, declaration, optional, place),
      params: [],
      generic: false,
    };
  }

  /**
   * Returns the declared type of a member if it has the same meaning here. The declaration preserves the order of
   * unions.
   */
  #memberType(
    type: TypeScript.Type,
    declaration: TypeScript.Declaration | undefined,
    optional: boolean,
    place: SourceSite,
  ): SourceType {
    const checker = this.#checker;
    const wanted = optional ? checker.getNonNullableType(type) : type;
    if (declaration !== undefined && this.#ts.isPropertySignature(declaration) && declaration.type !== undefined) {
      const written = checker.getTypeFromTypeNode(declaration.type);
      const same =
        written === type || (optional && checker.getNonNullableType(written) === wanted && !this.#isNullable(type));
      const node = declaration.type;
      if (same) {
        return withSpan(
          this.#syntax.within(declaration.getSourceFile(), () => this.#syntax.type(node)),
          place.span,
        );
      }
    }
    return this.#convert(type, place);
  }

  #isNullable(type: TypeScript.Type): boolean {
    const { TypeFlags } = this.#ts;
    return type.isUnion() && type.types.some(({ flags }) => flags & TypeFlags.Null);
  }

  #comment(declaration: TypeScript.Declaration): SourceComment | undefined {
    if (!this.#ts.isPropertySignature(declaration)) return undefined;
    const members = this.#syntax.within(declaration.getSourceFile(), () => this.#syntax.members([declaration]));
    return members[0]?.comment;
  }

  #isReadonly(property: TypeScript.Symbol): boolean {
    const ts = this.#ts;
    const { checkFlags } = (property as TypeScript.Symbol & { links?: { checkFlags?: number } }).links ?? {};
    // The flags of a mapped property contain its optionality. 8 is the checker's flag for a readonly property.
    if (checkFlags !== undefined) return (checkFlags & 8) !== 0;
    const [declaration] = property.declarations ?? [];
    return declaration !== undefined && (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Readonly) !== 0;
  }

  #tuple(type: TypeScript.TupleTypeReference, place: SourceSite): SourceType {
    const { ElementFlags } = this.#ts;
    const { elementFlags, labeledElementDeclarations, readonly } = type.target;
    const elements = this.#checker.getTypeArguments(type).map((element, i): SourceTupleElement => {
      const flags = elementFlags[i] ?? ElementFlags.Required;
      const label = labeledElementDeclarations?.[i]?.name;
      const rest = (flags & ElementFlags.Variable) !== 0;
      const converted = this.#convert(element, place);
      const array: SourceType = { ...place.span, kind: "array", element: converted, readonly: false };
      return {
        ...(label !== undefined && this.#ts.isIdentifier(label) && { name: label.text }),
        type: rest && flags & ElementFlags.Rest ? array : converted,
        optional: (flags & ElementFlags.Optional) !== 0,
        rest,
      };
    });
    return { ...place.span, kind: "tuple", elements, readonly };
  }

  #keyword({ flags }: TypeScript.Type): Keyword {
    const { TypeFlags } = this.#ts;
    const known: readonly (readonly [number, Keyword])[] = [
      [TypeFlags.String, "string"],
      [TypeFlags.Number, "number"],
      [TypeFlags.BigInt, "bigint"],
      [TypeFlags.BigIntLiteral, "bigint"],
      [TypeFlags.Null, "null"],
      [TypeFlags.Undefined, "undefined"],
      [TypeFlags.Void, "void"],
      [TypeFlags.Never, "never"],
      [TypeFlags.ESSymbolLike, "symbol"],
      [TypeFlags.NonPrimitive, "object"],
      [TypeFlags.Any, "any"],
    ];
    return known.find(([flag]) => flags & flag)?.[1] ?? "unknown";
  }
}

interface SourceSite {
  /** The span of the expanded type. All parts of the result get this span. */
  readonly span: Span;
  readonly node: TypeScript.TypeNode;
  readonly depth: number;
}

/** Thrown and caught in this file: a part of the type depends on a type parameter. */
const unresolved = new Error("cannot expand a type: it depends on a type parameter");

interface DeclaredAt {
  readonly file: string;
  readonly start: number;
}

function declaredAt({ declarations }: TypeScript.Symbol): DeclaredAt {
  const [first] = declarations ?? [];
  return first === undefined
    ? { file: "", start: 0 }
    : { file: first.getSourceFile().fileName, start: first.getStart() };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns `type` with all its spans set to `span`. */
function withSpan(type: SourceType, span: Span): SourceType {
  return JSON.parse(JSON.stringify(type), (key, value: unknown) =>
    key === "start" ? span.start : key === "end" ? span.end : value,
  ) as SourceType;
}
