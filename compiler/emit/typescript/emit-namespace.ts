/**
 * Types in namespaces, under the names that the schema gives them: `Order.Line`. A generated namespace holds types alone, so that
 * it can be erased; what values there are of enumerations in it is a constant of the same name.
 */
import { isNested, namespaceOf, namespacesOf, rootName } from "../../../shared/names/qualified-name.js";
import type { TypeDeclaration } from "../../model/schema.js";
import type { DeclarationKey } from "../../model/type.js";
import { assignment, type Code, type FileBuilder, generic } from "../kit/index.js";
import type { EmitContext } from "./emit-context.js";
import { constantsIn, type DeclaringScope, emitConstants, emitDeclaration } from "./emit-declaration.js";

/** One name that a file declares at its top level: a type, a namespace, or both. */
export interface RootDeclaration {
  readonly name: string;
  /** Includes everything that stands in the namespace. */
  readonly types: readonly TypeDeclaration[];
}

/** The declarations of a file, by the names at its top level, in their order. */
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

/** A constant is written for it. */
export function isEnumeration({ shape }: TypeDeclaration): boolean {
  return shape.kind === "enum" && shape.origin === "enum";
}

/** Types of a namespace in their order, namespaces in it behind them. */
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
 * Names of other declarations inside of a namespace. Where a type of the namespace hides the name of one outside, that gets a
 * second name at the top level of the file.
 */
class OuterNames {
  readonly #file: FileBuilder;
  readonly #context: EmitContext;
  readonly #names: ReadonlySet<string>;
  readonly #namespaces: ReadonlySet<string>;
  readonly #pendingAliases: (() => void)[] = [];

  /** @param types all of the namespace at the top level that they are in */
  constructor(file: FileBuilder, types: readonly TypeDeclaration[], context: EmitContext) {
    this.#file = file;
    this.#context = context;
    this.#names = new Set(types.map(({ name }) => name));
    this.#namespaces = new Set(types.flatMap(({ name }) => namespacesOf(name)));
  }

  /** @param namespace in which the name is used */
  name(key: DeclarationKey, namespace: string): Code {
    const { index, type, fileOf } = this.#context;
    const { name, typeParameters } = index.type(key);
    // Imports, globals and private names give way to all names of the file.
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

  /** Whether the first part of a name means something else in a namespace, or in one around it. */
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
