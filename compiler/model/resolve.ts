/**
 * Answers questions about a schema: finds the declaration for a key, replaces type parameters by type arguments, lists
 * the parts of a type and the instantiations that a module needs. All functions are pure; all emitters use them.
 */
import type {
  ActorDeclaration,
  Endpoint,
  Module,
  Parameter,
  Schema,
  TaskDeclaration,
  TypeDeclaration,
} from "./schema.js";
import type { DeclarationKey, Field, Shape, Type } from "./type.js";

/**
 * The declarations of a schema by key. In all methods, `key` identifies a declaration. A lookup throws if the schema
 * does not have the key.
 */
export interface SchemaIndex {
  /** The schema. */
  readonly schema: Schema;
  /** Returns whether the schema has the type, actor or task. */
  has(key: DeclarationKey): boolean;
  /** Returns a type. */
  type(key: DeclarationKey): TypeDeclaration;
  /** Returns an actor. */
  actor(key: DeclarationKey): ActorDeclaration;
  /** Returns a task. */
  task(key: DeclarationKey): TaskDeclaration;
  /** Returns the module that declares a type, an actor or a task. */
  moduleOf(key: DeclarationKey): Module;
}

/** A generic declaration with type arguments: `Page<Item>`. */
export interface Instantiation {
  /** The generic declaration. */
  readonly target: TypeDeclaration;
  /** The type arguments. */
  readonly args: readonly Type[];
  /** The shape of the declaration, in which the arguments replace the type parameters. */
  readonly shape: Shape;
}

/** Returns the index of a schema. The result is the same object for the same schema. */
export function indexSchema(schema: Schema): SchemaIndex {
  const known = indexes.get(schema) ?? newIndex(schema);
  indexes.set(schema, known);
  return known;
}

const indexes = new WeakMap<Schema, SchemaIndex>();

function newIndex(schema: Schema): SchemaIndex {
  const types = new Map<DeclarationKey, TypeDeclaration>();
  const actors = new Map<DeclarationKey, ActorDeclaration>();
  const tasks = new Map<DeclarationKey, TaskDeclaration>();
  const modules = new Map<DeclarationKey, Module>();
  for (const module of [...schema.modules, ...(schema.imported ?? [])]) {
    for (const type of module.types) types.set(type.key, type);
    for (const actor of module.actors) actors.set(actor.key, actor);
    for (const task of module.tasks) tasks.set(task.key, task);
    for (const { key } of [...module.types, ...module.actors, ...module.tasks]) modules.set(key, module);
  }
  return {
    schema,
    has: (key) => modules.has(key),
    type: (key) => found(types, key),
    actor: (key) => found(actors, key),
    task: (key) => found(tasks, key),
    moduleOf: (key) => found(modules, key),
  };
}

function found<T>(map: ReadonlyMap<DeclarationKey, T>, key: DeclarationKey): T {
  const value = map.get(key);
  if (value === undefined) throw new Error(`cannot resolve ${key}: the schema does not declare it`);
  return value;
}

/** The type arguments of a reference, by the names of the type parameters. */
export type Bindings = ReadonlyMap<string, Type>;

/** Returns the type arguments of a reference to a declaration, by the names of its type parameters. */
export function bind(declaration: TypeDeclaration, args: readonly Type[]): Bindings {
  return new Map(
    declaration.typeParameters.flatMap((name, i): [string, Type][] => {
      const type = args[i];
      return type === undefined ? [] : [[name, type]];
    }),
  );
}

/** Returns the shape of a declaration, in which the arguments replace the type parameters. */
export function instantiate(declaration: TypeDeclaration, args: readonly Type[]): Shape {
  if (declaration.typeParameters.length === 0) return declaration.shape;
  return substituteShape(declaration.shape, bind(declaration, args));
}

/** Returns a type in which the arguments replace the type parameters. */
export function substitute(type: Type, bindings: Bindings): Type {
  if (bindings.size === 0) return type;
  if (type.kind === "parameter") return bindings.get(type.name) ?? type;
  return mapParts(type, (part) => substitute(part, bindings));
}

/** Returns a shape in which the arguments replace the type parameters. */
export function substituteShape(shape: Shape, bindings: Bindings): Shape {
  return mapShape(shape, (type) => substitute(type, bindings));
}

/** Returns `type` with `change` applied to each of its direct parts. */
function mapParts(type: Type, change: (part: Type) => Type): Type {
  switch (type.kind) {
    case "array":
    case "set":
    case "port":
    case "objectRef":
      return { ...type, element: change(type.element) };
    case "tuple": {
      const elements = type.elements.map((element) => ({ ...element, type: change(element.type) }));
      return { ...type, elements, ...(type.rest && { rest: change(type.rest) }) };
    }
    case "map":
      return { ...type, key: change(type.key), value: change(type.value) };
    case "record":
      return { ...type, value: change(type.value) };
    case "nullable":
      return { ...type, inner: change(type.inner) };
    case "ref":
      return type.args.length === 0 ? type : { ...type, args: type.args.map(change) };
    case "inline":
      return { ...type, shape: mapShape(type.shape, change) };
    default:
      return type;
  }
}

function mapShape(shape: Shape, change: (part: Type) => Type): Shape {
  const mapFields = (fields: readonly Field[]) => fields.map((field) => ({ ...field, type: change(field.type) }));
  switch (shape.kind) {
    case "message":
      return { ...shape, fields: mapFields(shape.fields) };
    case "oneof":
      return { ...shape, cases: mapFields(shape.cases) };
    case "union":
      return { ...shape, variants: shape.variants.map((variant) => ({ ...variant, type: change(variant.type) })) };
    case "alias":
      return { ...shape, type: change(shape.type) };
    case "enum":
      return shape;
  }
}

/** Returns the types that a type directly consists of; for a reference, its type arguments. */
export function partsOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case "array":
    case "set":
    case "port":
    case "objectRef":
      return [type.element];
    case "tuple":
      return [...type.elements.map((element) => element.type), ...(type.rest ? [type.rest] : [])];
    case "map":
      return [type.key, type.value];
    case "record":
      return [type.value];
    case "nullable":
      return [type.inner];
    case "ref":
      return type.args;
    case "inline":
      return partsOfShape(type.shape);
    default:
      return [];
  }
}

/** Returns the types that a shape directly consists of. */
export function partsOfShape(shape: Shape): readonly Type[] {
  switch (shape.kind) {
    case "message":
      return shape.fields.map((field) => field.type);
    case "oneof":
      return shape.cases.map((field) => field.type);
    case "union":
      return shape.variants.map((variant) => variant.type);
    case "alias":
      return [shape.type];
    case "enum":
      return [];
  }
}

/**
 * Returns the declarations that a shape refers to. The result is cached, since shapes never change and watch mode asks
 * for them after every edit.
 */
export function targetsOf(shape: Shape): readonly DeclarationKey[] {
  let targets = targetsByShape.get(shape);
  if (targets === undefined) {
    targets = [...new Set(partsOfShape(shape).flatMap(targetsIn))];
    targetsByShape.set(shape, targets);
  }
  return targets;
}

const targetsByShape = new WeakMap<Shape, readonly DeclarationKey[]>();

function targetsIn(type: Type): readonly DeclarationKey[] {
  const inside = partsOf(type).flatMap(targetsIn);
  return type.kind === "ref" ? [type.target, ...inside] : inside;
}

/** Returns the types in the signature of an endpoint or a constructor. */
export function partsOfEndpoint(endpoint: Endpoint): readonly Type[] {
  return [...partsOfParameters(endpoint.params), ...(endpoint.result ? [endpoint.result] : [])];
}

/** Returns the types of parameters. */
export function partsOfParameters(params: readonly Parameter[]): readonly Type[] {
  return params.map((param) => param.type);
}

/** The declarations of a schema file, or some of them. */
export type DeclarationGroup = Pick<Module, "types" | "actors" | "tasks">;

/** Returns the types that a module contains, generic declarations included, but not the parts of these types. */
export function typesOf(module: DeclarationGroup): readonly Type[] {
  return [
    ...module.types.flatMap((declaration) => partsOfShape(declaration.shape)),
    ...typesOfActors(module.actors),
    ...typesOfTasks(module.tasks),
  ];
}

/**
 * The largest depth of nested type arguments. A deeper type comes from a declaration that instantiates itself without
 * end.
 */
const deepest = 12;

/** The instantiations that a module needs. */
export interface Instantiations {
  /** The instantiations, in the order in which the module reaches them. */
  readonly found: readonly Instantiation[];
  /**
   * Generic declarations with an infinite number of instantiations, such as `interface Nest<T> { inner?: Nest<T[]> }`.
   */
  readonly endless: readonly DeclarationKey[];
}

/**
 * Returns the instantiations of generic declarations that the declarations of a module reach, directly or through
 * others.
 */
export function instantiationsOf(module: Module, index: SchemaIndex): Instantiations {
  const found = new Map<string, Instantiation>();
  const endless = new Set<DeclarationKey>();
  const visit = (type: Type): void => {
    for (const part of partsOf(type)) visit(part);
    if (type.kind !== "ref" || type.args.length === 0) return;
    const key = typeKey(type);
    if (found.has(key) || endless.has(type.target)) return;
    if (argumentDepth(type) > deepest) {
      endless.add(type.target);
      return;
    }
    const target = index.type(type.target);
    const shape = instantiate(target, type.args);
    found.set(key, { target, args: type.args, shape });
    for (const part of partsOfShape(shape)) visit(part);
  };
  for (const declaration of module.types) {
    if (declaration.typeParameters.length === 0) partsOfShape(declaration.shape).forEach(visit);
  }
  typesOfActors(module.actors).forEach(visit);
  typesOfTasks(module.tasks).forEach(visit);
  return { found: [...found.values()].filter(({ target }) => !endless.has(target.key)), endless: [...endless] };
}

/** Returns the types of the arguments, the results and the states of actors. */
export function typesOfActors(actors: readonly ActorDeclaration[]): readonly Type[] {
  return actors.flatMap((actor) => [
    ...partsOfParameters(actor.args),
    ...(actor.state === undefined ? [] : [actor.state]),
    ...actor.endpoints.flatMap((endpoint) => partsOfEndpoint(endpoint)),
  ]);
}

/** Returns the types of the arguments and the results of tasks. */
export function typesOfTasks(tasks: readonly TaskDeclaration[]): readonly Type[] {
  return tasks.flatMap(({ args, result }) => [...partsOfParameters(args), ...(result === undefined ? [] : [result])]);
}

function argumentDepth(type: Type): number {
  return Math.max(0, ...partsOf(type).map((part) => argumentDepth(part) + 1));
}

/** Caches the keys of types. Types never change, and the same types are looked up many times. */
const typeKeys = new WeakMap<Type, string>();

/**
 * Returns a text that is equal for equal types, independent of positions and documentation. It is used as a key of
 * maps.
 */
export function typeKey(type: Type): string {
  if (type.kind === "ref" && type.args.length === 0) return type.target;
  const known = typeKeys.get(type);
  if (known !== undefined) return known;
  const key = textOf(type);
  typeKeys.set(type, key);
  return key;
}

/** Returns a text that is equal for models that differ only in positions and documentation. */
export function textOf(model: Type | Shape | TypeDeclaration | ActorDeclaration | TaskDeclaration): string {
  return dataText(model);
}

/**
 * Returns data as JSON without positions and documentation. This is several times faster than `JSON.stringify` with a
 * replacer.
 */
function dataText(data: unknown): string {
  if (typeof data !== "object" || data === null) return JSON.stringify(data);
  if (Array.isArray(data)) return `[${data.map(dataText).join(",")}]`;
  let text = "";
  // `for…in` creates no list of the names. It is safe here because plain data inherits nothing.
  for (const name in data) {
    const value = (data as Record<string, unknown>)[name];
    if (name === "at" || name === "doc" || value === undefined) continue;
    text += `${text === "" ? "" : ","}"${name}":${dataText(value)}`;
  }
  return `{${text}}`;
}
