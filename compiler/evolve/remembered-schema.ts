/**
 * Rebuilds an older schema from the lines of a lock. Facts that the lock does not contain (aliases, tags, the
 * discriminant of a union) come from the present schema. They are therefore equal on both sides and never reported as a
 * difference.
 */
import type { BlockKind, Lock, LockBlock, LockEntry, LockParam } from "../lock/index.js";
import { DeclaredBlocks, moduleName, printName } from "../lock/index.js";
import { typeText } from "../lock/type-text.js";
import type {
  ActorDeclaration,
  Endpoint,
  EnumValue,
  Field,
  Module,
  Parameter,
  Position,
  Schema,
  Shape,
  TaskDeclaration,
  Type,
  TypeDeclaration,
} from "../model/index.js";
import { positionIn } from "./lock-pairs.js";
import { parseLockType } from "./parse-lock-type.js";

/**
 * Rebuilds the schema that a lock describes.
 * @param schema the present schema, whose ids continue those of `lock`
 * @param lockFile the path of the lock
 */
export function rememberedSchema(schema: Schema, lock: Lock, lockFile: string): Schema {
  return new SchemaRebuilder(schema, lock, lockFile).schema();
}

/** The kinds to look for, because a declaration that has moved may have changed its kind. */
const kindsOfTypes: readonly BlockKind[] = ["message", "oneof", "union", "enum"];

interface ShapePath {
  /** The module's name in the lock. */
  readonly module: string;
  /** The name of this shape's block in the lock: `Entry.meta`. */
  readonly path: string;
  readonly typeParameters: readonly string[];
}

class SchemaRebuilder {
  readonly #now: Schema;
  readonly #lock: Lock;
  readonly #file: string;
  readonly #keys = new Map<string, { readonly module: string; readonly type: Type }[]>();
  readonly #declared: DeclaredBlocks;
  /** The names in the lock of declarations that have since moved to another namespace, by their keys. */
  readonly #before = new Map<string, string>();

  constructor(schema: Schema, lock: Lock, lockFile: string) {
    this.#now = schema;
    this.#lock = lock;
    this.#file = lockFile;
    this.#declared = new DeclaredBlocks(lock.blocks);
    for (const { path, types } of schema.modules) {
      const module = moduleName(path);
      const here = new Set(types.map(({ name }) => name));
      const known = new Set(lock.blocks.filter((block) => block.module === module).map(({ name }) => name));
      for (const { key, name, shape } of types) {
        if (known.has(name)) continue;
        const isGone = (block: LockBlock) => !here.has(block.name);
        const moved = ["alias", shape.kind, ...kindsOfTypes]
          .map((kind) => this.#declared.moved(kind as BlockKind, name, module, isGone))
          .find((block) => block !== undefined);
        if (moved !== undefined) this.#before.set(key, moved.name);
      }
    }
  }

  schema(): Schema {
    const modules = this.#now.modules.map((module) => ({ ...module, types: [...module.types, ...this.#gone(module)] }));
    for (const { path, types, actors } of modules) {
      const module = moduleName(path);
      for (const { name, key } of types) {
        this.#know(name, module, { kind: "ref", target: key, args: [] });
        const before = this.#before.get(key);
        if (before !== undefined) this.#know(before, module, { kind: "ref", target: key, args: [] });
      }
      for (const { name, key } of actors) this.#know(name, module, { kind: "mesh", actor: key });
    }
    // The lock has no blocks for the types of other packages, but its texts name them.
    for (const { path, types, actors } of this.#now.imported ?? []) {
      for (const { name, key } of types) this.#know(name, path, { kind: "ref", target: key, args: [] });
      for (const { name, key } of actors) this.#know(name, path, { kind: "mesh", actor: key });
    }
    return { ...this.#now, modules: modules.map((module) => this.#module(module)) };
  }

  #know(name: string, module: string, type: Type): void {
    this.#keys.set(name, [...(this.#keys.get(name) ?? []), { module, type }]);
  }

  /**
   * Returns the declarations that the lock has in a file but the file no longer has. Other types may still refer to
   * them.
   */
  #gone({ path, types }: Module): readonly TypeDeclaration[] {
    const module = moduleName(path);
    const names = new Set(types.flatMap(({ name, key }) => [name, this.#before.get(key) ?? name]));
    return this.#lock.blocks
      .filter((block) => block.module === module && !block.retired && !isFunction(block))
      .filter((block) => this.#declared.has(block) && !names.has(block.name))
      .map(({ name, line }) => ({
        ...{ key: `${path}#${name}`, name, exported: true, doc: "", typeParameters: [] },
        shape: { kind: "message", fields: [] },
        at: positionIn(this.#file, line),
      }));
  }

  #module(module: Module): Module {
    const name = moduleName(module.path);
    return {
      ...module,
      types: module.types.map((type) => this.#declaration(type, name)),
      actors: module.actors.map((actor) => this.#actor(actor, name)),
      tasks: module.tasks.map((task) => this.#task(task, name)),
    };
  }

  #declaration(declaration: TypeDeclaration, module: string): TypeDeclaration {
    const { key, name, shape, typeParameters } = declaration;
    const where = { module, path: this.#before.get(key) ?? name, typeParameters };
    // An alias of an inline shape has a block for the alias and one for the shape.
    const block = this.#block("alias", where) ?? this.#block(shape.kind, where) ?? this.#anyBlock(where);
    return {
      ...declaration,
      shape: block === undefined ? this.#shape(shape, where) : this.#ofBlock(block, shape, where),
    };
  }

  #block(kind: string, { module, path }: ShapePath): LockBlock | undefined {
    const same = this.#lock.blocks.filter((block) => block.kind === kind && block.name === path && !block.retired);
    return same.find((block) => block.module === module) ?? (same.length === 1 ? same[0] : undefined);
  }

  /** Returns the block of a declaration that had another kind. */
  #anyBlock({ module, path }: ShapePath): LockBlock | undefined {
    return this.#lock.blocks.find(
      (block) => block.name === path && block.module === module && !block.retired && !isFunction(block),
    );
  }

  /** Rebuilds a shape that has no block in the lock, because it is new or an alias. */
  #shape(shape: Shape, where: ShapePath): Shape {
    return shape.kind === "alias" ? { ...shape, type: this.#type(shape.type, where) } : shape;
  }

  #ofBlock(block: LockBlock, shape: Shape, where: ShapePath): Shape {
    const live = block.entries.filter(({ retired }) => !retired);
    switch (block.kind) {
      case "message":
        return { kind: "message", fields: this.#fields(live, shape.kind === "message" ? shape.fields : [], where) };
      case "oneof":
        return { kind: "oneof", cases: this.#fields(live, shape.kind === "oneof" ? shape.cases : [], where) };
      case "union": {
        const known = shape.kind === "union" ? shape.variants : [];
        const variants = live.flatMap(({ id, name, type: text, line }) => {
          const now = known.find((variant) => variant.id === id);
          const type = this.#typeThen(text, now?.type, shapePathBelow(where, `|${printName(name)}`));
          return type === undefined ? [] : [{ tag: name, id, type, at: now?.at ?? positionIn(this.#file, line) }];
        });
        return { kind: "union", discriminant: shape.kind === "union" ? shape.discriminant : "kind", variants };
      }
      case "alias": {
        const now = shape.kind === "alias" ? shape.type : undefined;
        const type = this.#typeThen(live[0]?.type ?? "", now, where);
        return type === undefined ? shape : { kind: "alias", type };
      }
      default:
        return { kind: "enum", origin: "enum", values: this.#values(live, shape.kind === "enum" ? shape : undefined) };
    }
  }

  #values(live: readonly LockEntry[], now: EnumShape | undefined): readonly EnumValue[] {
    const isNumeric = wasNumeric(live, now);
    return live.map(({ id, name, line }) => {
      const known = now?.values.find((value) => value.id === id);
      if (known === undefined) {
        return { name, value: isNumeric ? id : name, id, doc: "", at: positionIn(this.#file, line) };
      }
      return { ...known, name, value: isNumeric ? id : known.name === name ? known.value : name };
    });
  }

  #fields(live: readonly LockEntry[], known: readonly Field[], where: ShapePath): readonly Field[] {
    const areNumbered = known.length > 0 && known.every(({ tags }) => tags.id !== undefined);
    return live.flatMap(({ id, name, type: text, line }) => {
      const now = known.find((field) => field.id === id);
      const optional = text.endsWith("?");
      const type = this.#typeThen(
        optional ? text.slice(0, -1) : text,
        now?.type,
        shapePathBelow(where, `.${printName(name)}`),
      );
      if (type === undefined) return [];
      if (now !== undefined) return [{ ...now, name, type, optional }];
      const tags = areNumbered ? { id } : {};
      return [{ name, id, type, optional, readonly: false, doc: "", tags, at: positionIn(this.#file, line) }];
    });
  }

  /** Returns a type as it was. Returns undefined if neither the lock nor the present schema knows it. */
  #typeThen(text: string, now: Type | undefined, where: ShapePath): Type | undefined {
    if (now !== undefined && typeText(now) === text) return this.#type(now, where);
    const then = parseLockType(text, {
      named: (name, args) => this.#named(name, args, where),
      inline: (kind, step) => this.#inline(kind, shapePathBelow(where, step)),
    });
    return then ?? now;
  }

  #named(name: string, args: readonly Type[], { module, typeParameters }: ShapePath): Type | undefined {
    if (typeParameters.includes(name)) return { kind: "parameter", name };
    const found = this.#keys.get(name) ?? [];
    const type = (found.find((known) => known.module === module) ?? (found.length === 1 ? found[0] : undefined))?.type;
    return type?.kind === "ref" ? { ...type, args } : type;
  }

  #inline(kind: string, where: ShapePath): Type | undefined {
    const block = this.#block(kind, where);
    if (block === undefined) return undefined;
    return { kind: "inline", shape: this.#ofBlock(block, { kind: "message", fields: [] }, where) };
  }

  /** Rebuilds a type whose text has not changed. Inline types in it may have changed nevertheless. */
  #type(type: Type, where: ShapePath): Type {
    switch (type.kind) {
      case "inline": {
        const block = this.#block(type.shape.kind, where);
        const shape = block === undefined ? this.#shape(type.shape, where) : this.#ofBlock(block, type.shape, where);
        return { ...type, shape };
      }
      case "array":
      case "set":
        return { ...type, element: this.#type(type.element, shapePathBelow(where, "[]")) };
      case "map": {
        const key = this.#type(type.key, shapePathBelow(where, "{key}"));
        return { ...type, key, value: this.#type(type.value, shapePathBelow(where, "{}")) };
      }
      case "record":
        return { ...type, value: this.#type(type.value, shapePathBelow(where, "{}")) };
      case "nullable":
        return { ...type, inner: this.#type(type.inner, where) };
      case "port":
        return { ...type, element: this.#type(type.element, shapePathBelow(where, "(port)")) };
      case "objectRef":
        return { ...type, element: this.#type(type.element, shapePathBelow(where, "(value)")) };
      case "ref":
        return { ...type, args: type.args.map((arg, i) => this.#type(arg, shapePathBelow(where, `<${i}>`))) };
      case "tuple": {
        const elements = type.elements.map((element, i) => {
          return { ...element, type: this.#type(element.type, shapePathBelow(where, `[${i}]`)) };
        });
        const rest = type.rest && this.#type(type.rest, shapePathBelow(where, "[...]"));
        return { ...type, elements, ...(rest !== undefined && { rest }) };
      }
      default:
        return type;
    }
  }

  #actor(actor: ActorDeclaration, module: string): ActorDeclaration {
    const where = { module, path: actor.name, typeParameters: [] };
    const block = this.#block("actor", where);
    // A new actor is the same on both sides, like a new type, which may refer to it.
    if (block === undefined) return actor;
    const endpoints = block.entries
      .filter(({ id, retired }) => id !== 0 && !retired)
      .map((entry) => this.#endpoint(entry, actor, where));
    const args = block.entries.find(({ id }) => id === 0)?.params?.entries ?? [];
    return {
      ...actor,
      id: block.id,
      args: this.#params(args, actor.args, shapePathBelow(where, "()"), actor.at),
      endpoints,
    };
  }

  #task(task: TaskDeclaration, module: string): TaskDeclaration {
    const where = { module, path: task.name, typeParameters: [] };
    const [entry] = this.#block("task", where)?.entries ?? [];
    if (entry === undefined) return task;
    const inside = shapePathBelow(where, "()");
    const { result: now, ...others } = task;
    const result = entry.type === "void" ? undefined : this.#typeThen(entry.type, now, shapePathBelow(inside, "->"));
    return {
      ...others,
      args: this.#params(entry.params?.entries ?? [], task.args, inside, task.at),
      ...(result !== undefined && { result }),
    };
  }

  #endpoint({ id, name, type: text, params, line }: LockEntry, actor: ActorDeclaration, where: ShapePath): Endpoint {
    const now = actor.endpoints.find((endpoint) => endpoint.id === id);
    const at = now?.at ?? positionIn(this.#file, line);
    const inside = shapePathBelow(where, `.${printName(name)}`);
    const streamed = /^stream<(.*)>$/.exec(text)?.[1];
    const result =
      text === "void" ? undefined : this.#typeThen(streamed ?? text, now?.result, shapePathBelow(inside, "->"));
    const { options, doc, tags }: Pick<Endpoint, "options" | "doc" | "tags"> = now ?? defaultEndpoint;
    return {
      ...{ options, doc, tags },
      ...{ name, id, at, stream: streamed !== undefined },
      params: this.#params(params?.entries ?? [], now?.params ?? [], inside, at),
      ...(result !== undefined && { result }),
    };
  }

  #params(
    entries: readonly LockParam[],
    known: readonly Parameter[],
    where: ShapePath,
    at: Position,
  ): readonly Parameter[] {
    return entries
      .filter(({ retired }) => !retired)
      .flatMap(({ id, name, type: text }) => {
        const now = known.find((param) => param.id === id);
        const optional = text.endsWith("?");
        const type = this.#typeThen(
          optional ? text.slice(0, -1) : text,
          now?.type,
          shapePathBelow(where, `.${printName(name)}`),
        );
        return type === undefined ? [] : [{ name, id, type, optional, at: now?.at ?? at }];
      });
  }
}

/** Returns whether a block belongs to an actor or a task, and not to a type. */
function isFunction({ kind }: LockBlock): boolean {
  return kind === "actor" || kind === "task";
}

type EnumShape = Extract<Shape, { kind: "enum" }>;

/**
 * Returns whether the values of an enum were integers, which are their own ids. The lock contains only ids and names.
 * Enums of literals are named by their values; for a TypeScript enum, the values that still exist decide.
 */
function wasNumeric(live: readonly LockEntry[], now: EnumShape | undefined): boolean {
  const kept = live.flatMap(
    ({ id, name }) => now?.values.filter((value) => value.id === id && value.name === name) ?? [],
  );
  if (live.every(({ id, name }) => name === String(id))) return kept.every(({ value }) => typeof value === "number");
  if (now === undefined || now.origin === "literals") return false;
  const telling = kept.length > 0 ? kept : now.values;
  return telling.every(({ id, value }) => value === id);
}

/** The lock does not record the options of an endpoint. */
const defaultEndpoint = { options: { concurrent: false, idempotent: false, respond: false }, doc: "", tags: {} };

function shapePathBelow(where: ShapePath, step: string): ShapePath {
  return { ...where, path: where.path + step };
}
