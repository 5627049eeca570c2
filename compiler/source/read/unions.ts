/**
 * Reads unions: with `null`, of literals, and of object types with a discriminant property. The kind of a union is
 * determined from its syntax, before any variant is read, because variants may refer back to the union.
 */
import type { Shape, Type, Variant } from "../../model/index.js";
import type { SourceMember, SourceType } from "../type-source.js";
import type { FileScope } from "./context.js";
import { enumOf, inline, readType, type TypeContext, unsupported } from "./types.js";

type Union = SourceType & { readonly kind: "union" };

/** A type and the file that contains it. */
interface ScopedType {
  readonly type: SourceType;
  readonly scope: FileScope;
}

export function readUnion(union: Union, scope: FileScope, owner: string, context: TypeContext): Type {
  const written = mergeBooleans(flatten(union).map((type) => ({ type, scope })));
  const plain = written.filter(({ type }) => !isKeyword(type, "null", "undefined"));
  if (written.some(({ type }) => isKeyword(type, "undefined"))) {
    return unsupported(union, scope, "VC1106", { type: scope.text(union) });
  }
  const [only] = plain;
  if (only === undefined) return readType({ ...union, kind: "keyword", name: "null" }, scope, owner, context);
  if (plain.length === 1) {
    const inner = readType(only.type, scope, owner, context);
    return plain.length === written.length || inner.kind === "nullable" ? inner : { kind: "nullable", inner };
  }
  const variants = mergeBooleans(written.flatMap((placed) => resolveUnion(placed, new Set())));
  const nullable = variants.some(({ type }) => isKeyword(type, "null"));
  const inner = choice(
    union,
    variants.filter(({ type }) => !isKeyword(type, "null")),
    scope,
    owner,
    context,
  );
  return nullable && inner.kind !== "unsupported" ? { kind: "nullable", inner } : inner;
}

/** Flattens unions that are written inside other unions. */
function flatten(type: SourceType): readonly SourceType[] {
  return type.kind === "union" ? type.types.flatMap(flatten) : [type];
}

export function isKeyword(type: SourceType, ...names: readonly string[]): boolean {
  return type.kind === "keyword" && names.includes(type.name);
}

/** Replaces `true | false` by `boolean`. */
function mergeBooleans(types: readonly ScopedType[]): readonly ScopedType[] {
  const has = (value: boolean) => types.find(({ type }) => type.kind === "literal" && type.value === value);
  const first = has(true);
  if (first === undefined || has(false) === undefined) return types;
  const others = types.filter(({ type }) => !(type.kind === "literal" && typeof type.value === "boolean"));
  return [...others, { ...first, type: { ...first.type, kind: "keyword", name: "boolean" } }];
}

/** Returns the variants of a type, through aliases of unions. */
function resolveUnion({ type, scope }: ScopedType, seen: Set<string>): readonly ScopedType[] {
  if (type.kind === "union") return type.types.flatMap((part) => resolveUnion({ type: part, scope }, seen));
  if (type.kind !== "reference" || type.key === undefined || type.args.length > 0) return [{ type, scope }];
  const declaration = scope.context.source.declaration(type.key);
  const target = declaration?.kind === "alias" ? declaration.type : undefined;
  if (declaration === undefined || target === undefined || seen.has(type.key)) return [{ type, scope }];
  seen.add(type.key);
  const inside = resolveUnion({ type: target, scope: scope.context.scope(declaration.file) }, seen);
  // An alias of a single type keeps the type's name: `type A = B` is a B, and `type A = { … }` is an A.
  return inside.length === 1 ? [{ type, scope }] : inside;
}

function choice(
  union: Union,
  variants: readonly ScopedType[],
  scope: FileScope,
  owner: string,
  context: TypeContext,
): Type {
  const literals = variants.map(({ type, scope: place }) => context.literals(type, place));
  if (literals.every((values) => values !== undefined)) return inline(enumOf(literals.flat(), union, scope));
  const objects = variants.map(({ type, scope: place }) => literalMembers(type, place, new Set()));
  if (!objects.every((members) => members !== undefined)) {
    return unsupported(union, scope, "VC1107", { type: scope.text(union), cases: suggestCases(variants) });
  }
  const found = findDiscriminant(objects);
  if (typeof found === "string") {
    return unsupported(union, scope, "VC1108", { type: scope.text(union), why: found });
  }
  const { name, tags } = found;
  const shape: Shape = {
    kind: "union",
    discriminant: name,
    variants: variants.map((variant, i) => readVariant(variant, name, tags[i] as string, owner, context)),
  };
  const unreadable = shape.variants.find(({ type }) => type.kind === "unsupported");
  return unreadable?.type ?? inline(shape);
}

function readVariant(
  { type, scope }: ScopedType,
  discriminant: string,
  tag: string,
  owner: string,
  context: TypeContext,
): Variant {
  const at = scope.at(type);
  const inside = `${owner}|${tag}`;
  if (type.kind === "object") {
    const members = type.members.filter(({ name }) => name !== discriminant);
    return { tag, id: 0, type: inline(context.object(members, scope, inside)), at };
  }
  const read = readType(type, scope, inside, context);
  if (read.kind !== "inline" || read.shape.kind !== "message") return { tag, id: 0, type: read, at };
  const fields = read.shape.fields.filter(({ name }) => name !== discriminant);
  return { tag, id: 0, type: { kind: "inline", shape: { kind: "message", fields } }, at };
}

/** The required members of an object type that have a literal type, with their values. */
type Literals = ReadonlyMap<string, string | number | boolean>;

/** Returns the literal members of an object type, or undefined for any other type. */
function literalMembers(type: SourceType, scope: FileScope, seen: Set<string>): Literals | undefined {
  switch (type.kind) {
    case "object":
      return literalsIn(type.members, scope);
    case "intersection": {
      const parts = type.types.map((part) => literalMembers(part, scope, seen));
      return parts.every((part) => part !== undefined) ? new Map(parts.flatMap((part) => [...part])) : undefined;
    }
    case "computed":
      return literalsOfComputed(type.handle, scope, seen);
    case "reference":
      if (type.origin === "global" && type.handle !== undefined && !isContainer(type.name)) {
        return literalsOfComputed(type.handle, scope, seen);
      }
      return type.key === undefined ? undefined : literalsOfDeclaration(type.key, type.handle, scope, seen);
    default:
      return undefined;
  }
}

function isContainer(name: string): boolean {
  return /^(Readonly)?(Array|Map|Set)$/.test(name);
}

function literalsOfComputed(handle: number, scope: FileScope, seen: Set<string>): Literals | undefined {
  const expanded = scope.context.source.expand(handle);
  return expanded === undefined || expanded.kind === "computed" ? undefined : literalMembers(expanded, scope, seen);
}

function literalsOfDeclaration(
  key: string,
  handle: number | undefined,
  scope: FileScope,
  seen: Set<string>,
): Literals | undefined {
  const declaration = scope.context.source.declaration(key);
  if (declaration === undefined || seen.has(key)) return undefined;
  seen.add(key);
  const inside = scope.context.scope(declaration.file);
  if (declaration.kind === "interface") {
    const inherited = declaration.heritage.map((base) => literalMembers(base, inside, seen));
    if (declaration.members.some(({ kind }) => kind === "index")) return undefined;
    return new Map([...inherited.flatMap((part) => [...(part ?? [])]), ...literalsIn(declaration.members, inside)]);
  }
  if (declaration.type === undefined) return undefined;
  return (
    literalMembers(declaration.type, inside, seen) ??
    (handle === undefined || declaration.type.kind === "union" ? undefined : literalsOfComputed(handle, scope, seen))
  );
}

function literalsIn(members: readonly SourceMember[], scope: FileScope): Literals {
  const found = new Map<string, string | number | boolean>();
  for (const { kind, name, optional, type } of members) {
    if (kind !== "property" || name === undefined || optional || type === undefined) continue;
    const value = literalValue(type, scope);
    if (value !== undefined) found.set(name, value);
  }
  return found;
}

/** Returns the value of a literal type, through aliases. */
function literalValue(type: SourceType, scope: FileScope): string | number | boolean | undefined {
  for (let current: SourceType | undefined = type, i = 0; current !== undefined && i < 32; i++) {
    if (current.kind === "literal") return current.value;
    if (current.kind !== "reference" || current.key === undefined) return undefined;
    current = scope.context.source.declaration(current.key)?.type;
  }
  return undefined;
}

/** Returns the first property that has a different string in every object, or the reason why there is none. */
function findDiscriminant(
  objects: readonly Literals[],
): { readonly name: string; readonly tags: readonly string[] } | string {
  const [first = new Map<string, string>()] = objects;
  let why = "they have no common property of a literal type";
  for (const name of first.keys()) {
    const tags = objects.map((literals) => literals.get(name));
    if (tags.includes(undefined)) continue;
    if (!tags.every((tag) => typeof tag === "string")) why = `the values of ${name} are not strings`;
    else if (new Set(tags).size < tags.length) why = `two of them have the same ${name}`;
    else return { name, tags };
  }
  return why;
}

/** Returns cases for the diagnostic's advice: `a: Uint32; b: string`. */
function suggestCases(variants: readonly ScopedType[]): string {
  const names = new Set<string>();
  return variants
    .map(({ type, scope }) => {
      const text = scope.text(type);
      const word = /^[A-Za-z]\w*/.exec(text)?.[0] ?? "value";
      let name = word.charAt(0).toLowerCase() + word.slice(1);
      for (let i = 2; names.has(name); i++) name = `${name.replace(/\d+$/, "")}${i}`;
      names.add(name);
      return `${name}: ${text}`;
    })
    .join("; ");
}
