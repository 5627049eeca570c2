/**
 * Computes fingerprints: 64-bit values that are equal if two sides use the same layout for a type or for the messages
 * of an actor or of a task. A fingerprint depends on the names, the order and the types of fields. It does not depend on
 * documentation, positions, files, namespaces or the order of declarations.
 *
 * The fingerprint of a type is the first 8 bytes of the SHA-256 hash of a short text. The text contains the
 * fingerprints of the type's parts, each as 16 hexadecimal digits: `int32`, `array(<element>)`,
 * `tuple(<a>,<b>?,...<rest>)`, `map(<key>,<value>)`, `set(<element>)`, `record(<value>)`, `nullable(<inner>)`,
 * `port(<element>)`, `message Tree{left:<type>,right?:<type>}`, `apply(<generic>,<argument>,…)`. The runtime's
 * combinators can therefore compute the same fingerprints. An alias has the fingerprint of the aliased type.
 * Declarations that refer to each other in a cycle are hashed together; a reference inside the cycle is written as the
 * number of the declaration in the cycle.
 */
import { createHash } from "node:crypto";
import { simpleName } from "../../shared/names/qualified-name.js";
import { components } from "./connected-components.js";
import { type SchemaIndex, substitute, targetsOf } from "./resolve.js";
import type { ActorDeclaration, Module, Parameter, TaskDeclaration, TypeDeclaration } from "./schema.js";
import type { DeclarationKey, Field, Shape, TupleElement, Type } from "./type.js";

/**
 * The fingerprints of a schema: hashes of 64 bits of structure and names. In all methods, `key` identifies a
 * declaration.
 */
export interface Fingerprints {
  /** Returns the fingerprint of a type without type parameters. */
  type(type: Type): bigint;
  /** Returns the fingerprint of a declaration. The type parameters of a generic declaration stay open. */
  declaration(key: DeclarationKey): bigint;
  /** Returns whether a declaration is only a name for another type: an alias that does not refer to itself. */
  transparent(key: DeclarationKey): boolean;
  /** Returns whether a declaration refers to itself, directly or through others. */
  circular(key: DeclarationKey): boolean;
  /** Yields all declarations, each after those that it refers to, except within a cycle. */
  inOrder(): Iterable<DeclarationKey>;
  /** Returns the fingerprint of an actor: its constructor, its endpoints and their ids. */
  actor(key: DeclarationKey): bigint;
  /** Returns the fingerprint of a task: its name, its arguments and its result. */
  task(key: DeclarationKey): bigint;
  /** Returns the fingerprint of everything that a schema file declares. */
  module(module: Module): bigint;
}

/** Computes all fingerprints of a schema, in time linear in its size. */
export function fingerprint(index: SchemaIndex): Fingerprints {
  const hashes = hashDeclarations(index);
  const plain = new FingerprintTexts(index, hashes, new Map(), []);
  const actor = (declaration: ActorDeclaration): bigint => BigInt(`0x${sha64(actorText(declaration, plain))}`);
  const task = (declaration: TaskDeclaration): bigint => BigInt(`0x${sha64(taskText(declaration, plain))}`);
  return {
    type: (type) => BigInt(`0x${plain.closed(type)}`),
    declaration: (key) => BigInt(`0x${hashes.get(key)}`),
    transparent: (key) => hashes.transparent.has(key),
    circular: (key) => hashes.circular.has(key),
    inOrder: () => hashes.keys(),
    actor: (key) => actor(index.actor(key)),
    task: (key) => task(index.task(key)),
    module(module) {
      const types = module.types.map(({ key, name }) => `${name}:${hashes.get(key)}`);
      const actors = module.actors.map((declaration) => `${declaration.name}:${actor(declaration)}`);
      const tasks = module.tasks.map((declaration) => `${declaration.name}:${task(declaration)}`);
      return BigInt(`0x${sha64([...types, ...actors, ...tasks].sort().join(","))}`);
    },
  };
}

// Marks for references and parameters without a hash. Names and literals cannot contain these marks, because control
// characters in them are escaped.
const circleMark = "\u0001";
const parameterMark = "\u0002";
const open = new RegExp(`[${circleMark}${parameterMark}]`);

/** Returns the first 64 bits of the SHA-256 hash of a text, as 16 hexadecimal digits. */
function sha64(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Hashes by declaration key. A declaration comes after the declarations that it refers to, except within a cycle. */
class DeclarationHashes extends Map<DeclarationKey, string> {
  /** Aliases that do not refer to themselves. Their hash is the hash of the aliased type. */
  readonly transparent = new Set<DeclarationKey>();
  readonly circular = new Set<DeclarationKey>();
}

function hashDeclarations(index: SchemaIndex): DeclarationHashes {
  const hashes = new DeclarationHashes();
  const { modules, imported = [] } = index.schema;
  const keys = [...modules, ...imported].flatMap((module) => module.types.map(({ key }) => key)).sort();
  const references = (key: DeclarationKey) => targetsOf(index.type(key).shape);
  for (const circle of components(keys, references)) {
    const [first] = circle;
    if (first !== undefined && circle.length === 1 && !references(first).includes(first)) {
      hashes.set(first, knownHash(index, hashes, first, references(first)));
      if (index.type(first).shape.kind === "alias") hashes.transparent.add(first);
    } else {
      for (const [key, hash] of hashCircle(index, hashes, circle)) {
        hashes.set(key, hash);
        hashes.circular.add(key);
      }
    }
  }
  return hashes;
}

/** The hash of a declaration, with the hashes of the referenced declarations from which it was computed. */
interface KnownHash {
  readonly hash: string;
  readonly targets: readonly (string | undefined)[];
}

const hashesByDeclaration = new WeakMap<TypeDeclaration, KnownHash>();

function knownHash(
  index: SchemaIndex,
  hashes: DeclarationHashes,
  key: DeclarationKey,
  references: readonly DeclarationKey[],
): string {
  const declaration = index.type(key);
  const targets = references.map((target) => hashes.get(target));
  const known = hashesByDeclaration.get(declaration);
  if (known?.targets.every((hash, i) => hash === targets[i])) return known.hash;
  const hash = hashOne(index, hashes, key);
  hashesByDeclaration.set(declaration, { hash, targets });
  return hash;
}

function hashOne(index: SchemaIndex, hashes: DeclarationHashes, key: DeclarationKey): string {
  const { name, shape, typeParameters } = index.type(key);
  const texts = new FingerprintTexts(index, hashes, new Map(), typeParameters);
  if (shape.kind === "alias" && typeParameters.length === 0) return texts.closed(shape.type);
  return sha64(texts.shape(shape, simpleName(name)));
}

function hashCircle(
  index: SchemaIndex,
  hashes: DeclarationHashes,
  circle: readonly DeclarationKey[],
): readonly (readonly [DeclarationKey, string])[] {
  const numbers = new Map(circle.map((key, i) => [key, i]));
  const text = circle.map((key) => {
    const { name, shape, typeParameters } = index.type(key);
    return new FingerprintTexts(index, hashes, numbers, typeParameters).shape(shape, simpleName(name));
  });
  const whole = sha64(text.join("\n"));
  return circle.map((key, i) => [key, sha64(`${whole}#${i}`)]);
}

/** Caches the hashes of types without references. Watch mode asks for them after every edit, and they never change. */
const hashesByType = new WeakMap<Type, string>();

const scalarHashes = new Map<string, string>();

function scalarHash(name: string): string {
  let hash = scalarHashes.get(name);
  if (hash === undefined) {
    hash = sha64(name);
    scalarHashes.set(name, hash);
  }
  return hash;
}

/**
 * Builds the texts that are hashed. `circle` has the declarations that have no hash yet, with their numbers;
 * `parameters` has the names of the generic declaration's type parameters.
 */
class FingerprintTexts {
  readonly #index: SchemaIndex;
  readonly #hashes: DeclarationHashes;
  readonly #circle: ReadonlyMap<DeclarationKey, number>;
  readonly #parameters: readonly string[];
  /** The number of references, parameters and meshes written so far. A type that contains one of them is not cached. */
  #referred = 0;

  constructor(
    index: SchemaIndex,
    hashes: DeclarationHashes,
    circle: ReadonlyMap<DeclarationKey, number>,
    parameters: readonly string[],
  ) {
    this.#index = index;
    this.#hashes = hashes;
    this.#circle = circle;
    this.#parameters = parameters;
  }

  /**
   * Returns the hash of a type. If the type refers to a declaration of the cycle or to a type parameter, returns its
   * text.
   */
  closed(type: Type): string {
    if (type.kind === "scalar") return scalarHash(type.scalar);
    if (type.kind === "parameter") {
      this.#referred++;
      return `${parameterMark}${this.#parameters.indexOf(type.name)}`;
    }
    if (type.kind === "ref") {
      this.#referred++;
      return this.#reference(type.target, type.args);
    }
    const known = hashesByType.get(type);
    if (known !== undefined) return known;
    const before = this.#referred;
    const text = this.#composite(type);
    const hash = open.test(text) ? text : sha64(text);
    if (this.#referred === before) hashesByType.set(type, hash);
    return hash;
  }

  shape(shape: Shape, name: string): string {
    switch (shape.kind) {
      case "message":
        return `message ${name}{${shape.fields.map((field) => this.#field(field)).join(",")}}`;
      case "oneof":
        return `oneof ${name}{${shape.cases.map((field) => this.#field(field)).join(",")}}`;
      case "enum":
        return `enum ${name}{${shape.values.map(({ value }) => JSON.stringify(value)).join(",")}}`;
      case "union": {
        const variants = shape.variants.map(({ tag, type }) => `${JSON.stringify(tag)}:${this.closed(type)}`);
        return `union ${name}(${shape.discriminant}){${variants.join(",")}}`;
      }
      case "alias":
        return `alias ${name}(${this.closed(shape.type)})`;
    }
  }

  #field({ name, optional, type }: Field): string {
    return `${JSON.stringify(name).slice(1, -1)}${optional ? "?" : ""}:${this.closed(type)}`;
  }

  #reference(target: DeclarationKey, args: readonly Type[]): string {
    const own = this.#circle.get(target);
    const declaration = this.#index.type(target);
    if (this.#hashes.transparent.has(target) && declaration.shape.kind === "alias" && args.length > 0) {
      const bindings = new Map(declaration.typeParameters.map((name, i) => [name, args[i] as Type]));
      return this.closed(substitute(declaration.shape.type, bindings));
    }
    const head = own === undefined ? (this.#hashes.get(target) ?? "") : `${circleMark}${own}`;
    if (args.length === 0) return head;
    const text = `apply(${[head, ...args.map((arg) => this.closed(arg))].join(",")})`;
    return open.test(text) ? text : sha64(text);
  }

  #composite(type: Exclude<Type, { kind: "scalar" | "parameter" | "ref" }>): string {
    switch (type.kind) {
      case "typedArray":
        return `${type.element}array`;
      case "array":
      case "set":
      case "port":
        return `${type.kind}(${this.closed(type.element)})`;
      case "tuple":
        return this.tuple(type.elements, type.rest);
      case "map":
        return `map(${this.closed(type.key)},${this.closed(type.value)})`;
      case "record":
        return `record(${this.closed(type.value)})`;
      case "nullable":
        return `nullable(${this.closed(type.inner)})`;
      case "inline":
        return this.shape(type.shape, "");
      case "mesh":
        this.#referred++;
        return `mesh(${[this.#index.actor(type.actor).name, ...(type.dimensions ?? ["*"])].join(",")})`;
      case "wellKnown":
        return `google.protobuf.${type.name}`;
      case "rdmaBuffer":
      case "tensor":
      case "objectRef":
      case "unsupported":
        return type.kind;
    }
  }

  tuple(elements: readonly TupleElement[], rest?: Type): string {
    const parts = elements.map(({ type, optional }) => this.closed(type) + (optional ? "?" : ""));
    return `tuple(${[...parts, ...(rest ? [`...${this.closed(rest)}`] : [])].join(",")})`;
  }
}

function actorText(actor: ActorDeclaration, texts: FingerprintTexts): string {
  const endpoints = actor.endpoints.map(({ name, id, params, result, stream, options }) => {
    const returned = result === undefined ? "void" : texts.closed(result);
    const kind = `${stream ? "*" : ""}${options.respond ? "!" : ""}${options.propagate === undefined ? "" : "^"}`;
    return `${name}#${id}${kind}:${parametersText(params, texts)}:${returned}`;
  });
  return `actor ${actor.name}(${parametersText(actor.args, texts)}){${endpoints.sort().join(",")}}`;
}

function taskText({ name, args, result }: TaskDeclaration, texts: FingerprintTexts): string {
  return `task ${name}:${parametersText(args, texts)}:${result === undefined ? "void" : texts.closed(result)}`;
}

function parametersText(params: readonly Parameter[], texts: FingerprintTexts): string {
  return texts.tuple(params.map(({ type, optional }) => ({ type, optional })));
}
