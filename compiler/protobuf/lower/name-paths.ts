/**
 * Finds the name paths of types while a schema is lowered: those of declarations and of instances of generic types, and
 * those of the types behind aliases.
 */

import { flatName, isNested, namespacesOf } from "../../../shared/names/qualified-name.js";
import { pascalCase } from "../../../shared/protobuf/names.js";
import { instantiate, partsOf, type SchemaIndex, typeKey } from "../../model/resolve.js";
import type { Module, TypeDeclaration } from "../../model/schema.js";
import type { Type } from "../../model/type.js";
import { canHoldTypes, protoDeclarationName } from "../declared-names.js";
import { valueForm } from "../form/form.js";
import { argumentName, type PackageNames } from "./message-names.js";
import type { ModuleOrigins } from "./module-origins.js";
import { type NamePath, namePathBelow, steps } from "./name-path.js";

type Reference = Extract<Type, { kind: "ref" }>;

export interface TypeAtPath {
  readonly type: Type;
  readonly place: NamePath;
}

export class NamePaths {
  readonly #index: SchemaIndex;
  readonly #names: PackageNames;
  readonly #origins: ModuleOrigins;
  /** The paths of declarations without type parameters, and of instances of those with type parameters. */
  readonly #places = new Map<string, NamePath>();

  constructor(index: SchemaIndex, names: PackageNames, origins: ModuleOrigins) {
    this.#index = index;
    this.#names = names;
    this.#origins = origins;
  }

  /** Takes the name of a declaration. All declarations come before other types, so that they keep their names. */
  claim(declaration: TypeDeclaration, module: Module): void {
    const { key, name, doc, at, typeParameters } = declaration;
    if (typeParameters.length > 0) return;
    const isClaimed = this.isOwnMessage(declaration);
    const wanted = protoDeclarationName(name, module);
    const own = isClaimed ? this.#names.of(module.path).claim(wanted, `${name} of ${module.path}`, at) : wanted;
    this.#places.set(key, {
      name: own,
      enumName: own,
      isClaimed,
      path: name,
      lockModule: module.path,
      module: module.path,
      doc,
      at,
      args: new Map(),
    });
  }

  /** Takes the names of messages that only contain types: those of namespaces without a message of the same name. */
  claimScopes(module: Module): void {
    const { path, types } = module;
    if (!types.some(({ name }) => isNested(name))) return;
    const messages = types.filter((type) => type.typeParameters.length === 0 && this.isOwnMessage(type));
    const known = new Set(messages.map(({ name }) => name));
    for (const { name, at } of types) {
      for (const namespace of namespacesOf(name)) {
        if (known.has(namespace) || !canHoldTypes(namespace, module)) continue;
        known.add(namespace);
        this.#names.of(path).claim(protoDeclarationName(namespace, module), `namespace ${namespace} of ${path}`, at);
      }
    }
  }

  /**
   * Returns whether a declaration becomes a message or an enum with its own name. Aliases of types that already have
   * one do not, and neither do aliases that are not exported, which become messages only where they are needed.
   */
  isOwnMessage({ key, shape, exported }: TypeDeclaration): boolean {
    if (shape.kind !== "alias") return true;
    if (!exported) return false;
    const type: Type = { kind: "ref", target: key, args: [] };
    const form = valueForm(type, this.#index);
    if (form.kind !== "message") return form.kind === "scalar";
    if (form.message.kind !== "standIn" && form.message.kind !== "tuple") return false;
    return this.#namedBy(type)?.target === key;
  }

  /** Returns the reference whose name the message for `type` gets, or undefined if the type is inline. */
  #namedBy(type: Type): Reference | undefined {
    let named: Reference | undefined;
    for (let inside = type; ; ) {
      if (inside.kind === "ref") {
        named = inside;
        const shape = instantiate(this.#index.type(inside.target), inside.args);
        if (shape.kind !== "alias") return named;
        inside = shape.type;
      } else if (inside.kind === "inline" && inside.shape.kind === "alias") inside = inside.shape.type;
      else return named;
    }
  }

  /** Returns the alias whose name a nullable type gets, or undefined if the type is inline. */
  nullableAlias(type: Type): Reference | undefined {
    if (type.kind === "inline" && type.shape.kind === "alias") return this.nullableAlias(type.shape.type);
    if (type.kind !== "ref") return undefined;
    const shape = instantiate(this.#index.type(type.target), type.args);
    if (shape.kind !== "alias") return undefined;
    return isNullable(shape.type) ? type : this.nullableAlias(shape.type);
  }

  /** Returns `type` without null and without the aliases around it, and the path of the result. */
  unwrap({ type, place }: TypeAtPath): TypeAtPath {
    switch (type.kind) {
      case "nullable":
        return this.unwrap({ type: type.inner, place: namePathBelow(place, { name: "", path: "" }) });
      case "inline":
        return type.shape.kind === "alias" ? this.unwrap({ type: type.shape.type, place }) : this.#inPlace(type, place);
      case "ref": {
        const shape = instantiate(this.#index.type(type.target), type.args);
        const own = this.pathOf(type, place);
        if (shape.kind !== "alias") return { type, place: own };
        // The alias names the nullable type; the type without null needs another name.
        const isOther = isNullable(shape.type);
        return this.unwrap({ type: shape.type, place: isOther ? namePathBelow(own, steps.notNull) : own });
      }
      default:
        return { type, place };
    }
  }

  /** Returns the own path of an inline type that is an argument of a generic type, or else `place`. */
  #inPlace(type: Type, place: NamePath): TypeAtPath {
    const own = place.args.size === 0 ? undefined : place.args.get(typeKey(type));
    return { type, place: own ?? place };
  }

  /** Returns the path of a declaration without type parameters. */
  declaredPath({ key }: TypeDeclaration): NamePath {
    return this.#declared(key);
  }

  /** Returns the path of a generic declaration, below which its enums are named. */
  genericPath({ key, name, doc, at }: TypeDeclaration): NamePath {
    const module = this.#index.moduleOf(key);
    const declared = protoDeclarationName(name, module);
    return {
      ...{ name: declared, enumName: declared, isClaimed: false, path: name },
      ...{ lockModule: module.path, module: module.path, doc, at, args: new Map() },
    };
  }

  #declared(key: string): NamePath {
    const place = this.#places.get(key);
    if (place === undefined) throw new Error(`cannot place ${key}: the schema does not declare it`);
    return place;
  }

  /** Returns the path of a declaration, or of an instance of a generic one. Each list of arguments has its own path. */
  pathOf(type: Reference, from: NamePath): NamePath {
    if (type.args.length === 0) return this.#declared(type.target);
    const key = typeKey(type);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const target = this.#index.type(type.target);
    const args = new Map(from.args);
    const names = type.args.map((arg, i) => {
      const place = namePathBelow(from, { name: `Arg${i === 0 ? "" : i + 1}`, path: `<${i}>` });
      for (const inside of inlineParts(arg)) if (!args.has(typeKey(inside))) args.set(typeKey(inside), place);
      return argumentName(arg, (part) => this.#argumentName(part, args, place));
    });
    const declaring = this.#index.moduleOf(type.target);
    const declared = protoDeclarationName(target.name, declaring);
    const module = this.#moduleOfInstance(type, from);
    // Another file has no message for the namespace.
    const generic = module === declaring.path ? declared : flatName(declared);
    const own: NamePath = {
      name: `${generic}Of${names.join("And")}`,
      enumName: declared,
      isClaimed: false,
      path: target.name,
      lockModule: declaring.path,
      module,
      doc: target.doc,
      at: target.at,
      args,
    };
    this.#places.set(key, own);
    return own;
  }

  #argumentName(type: Type, args: ReadonlyMap<string, NamePath>, from: NamePath): string {
    switch (type.kind) {
      case "ref":
        return flatName(this.pathOf(type, from).name);
      case "inline":
        return flatName(args.get(typeKey(type))?.name ?? from.name);
      case "mesh":
        return `${pascalCase(this.#index.actor(type.actor).name)}Mesh`;
      default:
        return pascalCase(type.kind);
    }
  }

  /**
   * Returns the schema file of an instance. It is that of a type argument, because the generic declaration does not
   * know its instances. If another package declares the argument, it does not know the instance either: the file is that
   * which needs the instance.
   */
  #moduleOfInstance(type: Reference, from: NamePath): string {
    const own = this.#index.moduleOf(type.target).path;
    const modules = type.args.flatMap((arg) => this.#modulesIn(arg, from));
    const found = modules.find((module) => module !== own) ?? own;
    return this.#origins.areTogether(found, from.module) ? found : from.module;
  }

  #modulesIn(type: Type, from: NamePath): readonly string[] {
    const inside = partsOf(type).flatMap((part) => this.#modulesIn(part, from));
    if (type.kind === "ref") return [this.#index.moduleOf(type.target).path, ...inside];
    return type.kind === "inline" ? [from.module, ...inside] : inside;
  }
}

function isNullable(type: Type): boolean {
  return (
    type.kind === "nullable" || (type.kind === "inline" && type.shape.kind === "alias" && isNullable(type.shape.type))
  );
}

/** Returns the inline shapes of a type at any depth, but not those inside each other. */
function inlineParts(type: Type): readonly Type[] {
  return type.kind === "inline" ? [type] : partsOf(type).flatMap(inlineParts);
}
