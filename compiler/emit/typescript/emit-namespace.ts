/**
 * Emits types in namespaces under the names of the schema: `Order.Line`. A generated namespace contains types only, so
 * that it is erasable. The values of its enumerations are in a constant of the same name.
 */
import { isNested, namespaceOf, namespacesOf, rootName } from "../../../shared/names/qualified-name.js";
import type { TypeDeclaration } from "../../model/schema.js";
import type { DeclarationKey } from "../../model/type.js";
import { assignment, type Code, type FileBuilder, generic } from "../kit/index.js";
import type { EmitContext } from "./emit-context.js";
import { constantsIn, type DeclaringScope, emitConstants, emitDeclaration } from "./emit-declaration.js";

/** A name at the top level of a file: a type, a namespace, or both. */
export interface RootDeclaration {
  readonly name: string;
  /** The type and all types in the namespace. */
  readonly types: readonly TypeDeclaration[];
}

/** Returns the declarations of a file, grouped by the names at its top level, in their order. */
export function rootsOf(types: readonly TypeDeclaration[]): readonly RootDeclaration[] {
  const roots = new Map<string, TypeDeclaration[]>();
  for (const type of types) {
    const name = rootName(type.name);
    const known = roots.get(name);
    if (known === undefined) roots.set(name, [type]);
    else known.push(type);
  }
  return [...roots].map(([name, members]) => ({ name, types: members }));
}

/** Writes the types of a root. */
export function emitRoot(file: FileBuilder, { name, types }: RootDeclaration, context: EmitContext): void {
  const namesake = types.find((type) => type.name === name);
  const nested = types.filter((type) => isNested(type.name));
  if (nested.length === 0) {
    if (namesake !== undefined) emitDeclaration(file, namesake, context);
    return;
  }
  const enums = new Map(types.filter(isEnumeration).map((type) => [type.name, type]));
  const exported = types.some(({ key }) => context.isExported(key)) ? "export " : "";
  const othersIn = (path: string) => constantsIn(path, enums);
  const top: DeclaringScope = { referTo: context.type, othersIn, isNamespace: false };
  if (namesake !== undefined) emitDeclaration(file, namesake, context, top);
  file.blank();
  const aliases = new OuterNames(file, types, context);
  emitNamespace(file, [exported, "declare namespace "], name, nested, (type) => {
    const scope = { referTo: (key: DeclarationKey) => aliases.name(key, namespaceOf(type.name)), othersIn };
    emitDeclaration(file, type, context, { ...scope, isNamespace: true });
  });
  aliases.emit();
  if (enums.size > 0) {
    file.blank();
    emitConstants(file, exported, name, enums);
  }
}

/** Returns whether a declaration is an enumeration that has a constant. */
export function isEnumeration({ shape }: TypeDeclaration): boolean {
  return shape.kind === "enum" && shape.origin === "enum";
}

/** Writes the types of a namespace in their order, followed by the nested namespaces. */
function emitNamespace(
  file: FileBuilder,
  head: Code,
  namespace: string,
  types: readonly TypeDeclaration[],
  emit: (type: TypeDeclaration) => void,
): void {
  const own = types.filter((type) => namespaceOf(type.name) === namespace);
  const others = types.filter((type) => !own.includes(type));
  const inner = new Set(others.map(({ name }) => `${namespace}.${rootName(name.slice(namespace.length + 1))}`));
  file.block([head, namespace.slice(namespace.lastIndexOf(".") + 1)], () => {
    own.forEach(emit);
    for (const name of inner) {
      const inside = others.filter((type) => type.name.startsWith(`${name}.`));
      file.blank();
      emitNamespace(file, "export namespace ", name, inside, emit);
    }
  });
}

/**
 * The names of other declarations inside a namespace. If a type of the namespace hides the name of an outer type, the
 * outer type gets a second name at the top level of the file.
 */
class OuterNames {
  readonly #file: FileBuilder;
  readonly #context: EmitContext;
  readonly #names: ReadonlySet<string>;
  readonly #namespaces: ReadonlySet<string>;
  readonly #pendingAliases: (() => void)[] = [];

  /** @param types all types of the top-level namespace */
  constructor(file: FileBuilder, types: readonly TypeDeclaration[], context: EmitContext) {
    this.#file = file;
    this.#context = context;
    this.#names = new Set(types.map(({ name }) => name));
    this.#namespaces = new Set(types.flatMap(({ name }) => namespacesOf(name)));
  }

  /** @param namespace the namespace in which the name is used */
  name(key: DeclarationKey, namespace: string): Code {
    const { index, type, fileOf } = this.#context;
    const { name, typeParameters } = index.type(key);
    // Imports, globals and private names are spelt so that they clash with no name of the file.
    const isHere = fileOf(index.moduleOf(key)) === this.#file.path;
    if (!isHere || !this.#isHidden(name, namespace)) return type(key);
    const known = this.#file.sharedName("outer", key);
    if (known !== undefined) return known;
    const outer = this.#file.local(`Outer${name.replaceAll(".", "")}`);
    this.#file.shareName("outer", key, outer);
    this.#pendingAliases.push(() => {
      const scope = this.#file.scope();
      const parameters = typeParameters.map((parameter) => scope.name(parameter));
      this.#file.blank();
      const head = ["type ", generic(outer, parameters, true)];
      this.#file.line(assignment(head, generic(type(key), parameters, true)), ";");
    });
    return outer;
  }

  /** Returns whether the first part of a name has another meaning in a namespace or in one around it. */
  #isHidden(name: string, namespace: string): boolean {
    const first = rootName(name);
    const hiding = isNested(name) ? this.#namespaces : this.#names;
    return [...namespacesOf(namespace), namespace].some((around) => hiding.has(`${around}.${first}`));
  }

  /** Writes the second names that have been used. */
  emit(): void {
    for (const write of this.#pendingAliases) write();
  }
}
